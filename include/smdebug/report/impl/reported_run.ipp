// The bodies of <smdebug/report/reported_run.hpp>.
#pragma once

#include <smdebug/report/reported_run.hpp>

#include <algorithm>

namespace smdebug {
inline namespace v1 {
namespace report {
namespace detail {

SMDEBUG_INLINE room_of_run room_for(std::size_t steps, std::size_t tensors_of_modes, std::size_t tensors,
                                    std::size_t workers, std::size_t bytes) {
    constexpr std::size_t row = 44;             // bytes of a bucket of a series, most often
    constexpr std::size_t spread = 54;          // of a distribution
    constexpr std::size_t most_buckets = 2048;  // no screen has more to show
    constexpr std::size_t most_distributions = 64;
    constexpr std::size_t least_buckets = 24;
    room_of_run room{.buckets = std::max<std::size_t>(std::min(steps, most_buckets), 1), .tensors = tensors};
    const std::size_t for_rows = bytes - bytes / 5;
    std::size_t series = std::max<std::size_t>(tensors_of_modes, 1) * workers;
    const std::size_t least = std::min(least_buckets, room.buckets) * row;
    if (workers > 1 && series * least > for_rows) {
        room.merge_workers = true;
        series /= workers;
    }
    if (series * least > for_rows) {
        room.tensors = std::max<std::size_t>(tensors * (for_rows / least) / series, 1);
        series = for_rows / least;
    }
    room.buckets = std::clamp<std::size_t>(for_rows / (series * row), 1, room.buckets);
    room.distributions = std::clamp<std::size_t>(bytes / 5 / (series * spread), 2, most_distributions);
    return room;
}

SMDEBUG_INLINE std::vector<axis_step> steps_of(const smdebug::detail::catalog& from, const tensor_selection& which) {
    std::vector<axis_step> steps;
    for (const auto& entry : from.steps) {
        if (which.range.contains(entry.step) && (which.mode == mode::global || which.mode == entry.mode)) {
            steps.push_back({.step = entry.step,
                             .mode_step = entry.mode_step,
                             .mode = entry.mode,
                             .shown = from.shown_step(entry)});
        }
    }
    return steps;
}

SMDEBUG_INLINE void note_tensor(seen_tensor& seen, const reduced_tensor& tensor, const tensor_view* values,
                                std::vector<std::byte>& buffer) {
    seen.step = tensor.step;
    seen.worker = tensor.worker;
    seen.name = tensor.name;
    seen.type = tensor.type;
    seen.has_shape = tensor.shape != nullptr;
    if (tensor.shape != nullptr) {
        seen.shape = *tensor.shape;
    }
    seen.elements = tensor.type != dtype::invalid || tensor.shape == nullptr ? tensor.reductions.count
                                                                             : element_count(*tensor.shape).value_or(0);
    seen.unreadable = tensor.failure != nullptr;
    seen.file_failed = tensor.file_failed;
    seen.failures.clear();
    const auto say = [&](const lookup_error& why) {
        if (tensor.file_failed) {
            const bool missing = why.why == absence::event_file_missing;
            seen.failures.push_back(why.where + (missing ? " is missing" : " cannot be read: " + why.note));
            return;
        }
        seen.failures.push_back(
            smdebug::detail::words_of(why, std::string{tensor.name}, tensor.shown_step, tensor.shown_mode()));
    };
    if (tensor.failure != nullptr) {
        say(*tensor.failure);
    }
    for (const smdebug::detail::scan_failure& bad : tensor.saved_failures) {
        say(bad.why);
    }
    seen.row = row_of(tensor.reductions);
    seen.spread.reset();
    if (values != nullptr) {
        seen.spread = distribution_of(*values, buffer);
        seen.sampled = seen.spread && values->count() > elements_looked_at;
    }
}

SMDEBUG_INLINE void take_tensor(reported_run& to, const seen_tensor& seen, std::size_t most_damage) {
    if (!seen.failures.empty()) {
        const std::string& last = to.damage.empty() ? std::string{} : to.damage.back();
        const bool same = seen.file_failed && seen.failures.front() == last;
        to.damaged += same ? 0 : seen.failures.size();
        for (const std::string& each : seen.failures) {
            if (to.damage.size() < most_damage && !same) {
                to.damage.push_back(each);
            }
        }
    }
    if (seen.unreadable) {
        return;
    }
    const auto where = to.axes.place_of(seen.step);
    tensor_series* series = where ? to.series.add(seen.name, seen.worker, *where, seen.row, seen.elements) : nullptr;
    ++to.values;
    to.bytes += seen.elements * size_of(seen.type);
    if (series == nullptr) {
        return;
    }
    to.facts.resize(to.series.tensors().size());
    tensor_facts& facts = to.facts[series->tensor];
    if (facts.type == dtype::invalid && facts.shape.empty()) {
        facts.type = seen.type;
        facts.shape = seen.shape;
    } else if (facts.type != seen.type || (seen.has_shape && facts.shape != seen.shape)) {
        facts.changes = true;
    }
    if (seen.spread) {
        series->distributions.emplace_back(where->bucket, *seen.spread);
        to.sampled = to.sampled || seen.sampled;
    }
}

}  // namespace detail
}  // namespace report
}  // namespace v1
}  // namespace smdebug
