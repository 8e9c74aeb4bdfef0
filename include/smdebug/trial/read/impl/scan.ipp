// The bodies of <smdebug/trial/read/scan.hpp>.
#pragma once

#include <smdebug/trial/read/reading_plan.hpp>
#include <smdebug/trial/read/scan.hpp>

namespace smdebug::inline v1::detail {

SMDEBUG_INLINE scan_of::scan_of(std::shared_ptr<const trial_state> run, const scan_options& given)
    : from(run->current()),
      state(std::move(run)),
      which(given.which, *from),
      saved(given.saved),
      config(given.reading),
      how(given.how) {
    config.limits = reading_limits{}.within(how.memory / std::max(how.threads, 1U));
    config.ahead = ahead.get();
    if (!given.values_of.empty()) {
        values_of.emplace(tensor_selection{.names = given.values_of}, *from);
        config.values_of = values_of->names();
    }
    files = from->files_in(given.which.range);
    std::erase_if(files, [&](const catalog::file* held) { return !which.contains(*held); });
}

SMDEBUG_INLINE bool scan(std::shared_ptr<const trial_state> run, const scan_options& options, tensor_visit visit) {
    const scan_of all{std::move(run), options};
    return all.reader().read(all.files, visit, [&](std::size_t place) {
        if (options.how.progress) {
            options.how.progress(place + 1, all.files.size());
        }
        return place + 1 == all.files.size() || !options.how.stop.stop_requested();
    });
}

SMDEBUG_INLINE std::optional<file_chunk> chunker::next() {
    // With a storage that reads many ranges together, more may be in flight: each call waits for its last answer.
    const std::size_t most_files = files_.batches() ? 256 : 64;
    const std::uint64_t enough = std::min(most_bytes_, std::uint64_t{files_.batches() ? 32U : 4U} << 20U);
    constexpr std::uint64_t cost_of_record = 1024;  // overhead of a small record, in bytes
    file_chunk chunk{next_, next_};
    for (std::uint64_t cost = 0; chunk.end < all_.size() && chunk.end - chunk.begin < most_files && cost < enough;) {
        const file_extent extent = files_.extent(*all_[chunk.end++]);
        cost += extent.wanted + cost_of_record * extent.records;
    }
    next_ = chunk.end;
    return chunk.begin < chunk.end ? std::optional{chunk} : std::nullopt;
}

}  // namespace smdebug::inline v1::detail
