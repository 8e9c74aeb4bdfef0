// The bodies of <smdebug/trial/scan.hpp>.
#pragma once

#include <smdebug/trial/read/reading_plan.hpp>
#include <smdebug/trial/scan.hpp>

namespace smdebug::inline v1::detail {

SMDEBUG_INLINE scan_of::scan_of(std::shared_ptr<const trial_state> run, const scan_options& given)
    : from(run->current()),
      state(std::move(run)),
      which(given.which, *from),
      saved(given.saved),
      config{.in_place = given.in_place,
             .defer_checks = given.defer_checks,
             .keep_repeats = given.keep_repeats,
             .stream = given.stream,
             .ahead = ahead.get(),
             .faster = given.how.threads <= 1 ? given.faster : nullptr} {
    if (!given.values_of.empty()) {
        values_of.emplace(tensor_selection{.names = given.values_of}, *from);
        config.values_of = values_of->names();
    }
    files = from->files_in(given.which.range);
    std::erase_if(files, [&](const catalog::file* held) { return !which.contains(*held); });
    config.in_turn = threads(given.how) <= 1;
}

SMDEBUG_INLINE walk_end scan_of::in_turn(const walk_options& how, tensor_visit visit,
                                         function_ref<void()> file_done) const {
    const bool complete = reader().read(files, visit, [&](std::size_t place) {
        file_done();
        if (how.progress) {
            how.progress(place + 1, files.size());
        }
        return place + 1 == files.size() || !how.stop.stop_requested();
    });
    return complete ? walk_end::complete : walk_end::stopped;
}

SMDEBUG_INLINE std::optional<file_chunk> chunker::next() {
    constexpr std::size_t most_files = 64;
    // With a storage that reads many ranges together, more may be in flight.
    const std::uint64_t enough = std::uint64_t{reader_.batches() ? 32U : 4U} << 20U;
    constexpr std::uint64_t cost_of_record = 1024;  // overhead of a small record, in bytes
    file_chunk chunk{next_, next_};
    for (std::uint64_t cost = 0; chunk.end < files_.size() && chunk.end - chunk.begin < most_files && cost < enough;) {
        const file_extent extent = reader_.extent(*files_[chunk.end++]);
        cost += extent.wanted + cost_of_record * extent.records;
    }
    next_ = chunk.end;
    return chunk.begin < chunk.end ? std::optional{chunk} : std::nullopt;
}

SMDEBUG_INLINE void kept_tensors::keep(const scanned_tensor& tensor, reduction_set wanted, const any_kernel& kernel) {
    if (size_ == kept_.size()) {
        kept_.emplace_back();
    }
    one& kept = kept_[size_++];
    reduce_into(tensor, wanted, kernel, kept.tensor);
    if (kept.tensor.shape != nullptr) {
        kept.shape = *kept.tensor.shape;
    }
    kept.saved_failures.assign(kept.tensor.saved_failures.begin(), kept.tensor.saved_failures.end());
}

}  // namespace smdebug::inline v1::detail
