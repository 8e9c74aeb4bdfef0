// The bodies of <smdebug/trial/read/reading_plan.hpp>.
#pragma once

#include <smdebug/core/sorted_blocks.hpp>
#include <smdebug/trial/catalog/layout.hpp>
#include <smdebug/trial/read/reading_plan.hpp>
#include <smdebug/trial/read/trial_state.hpp>

#include <algorithm>
#include <utility>

namespace smdebug::inline v1::detail {

SMDEBUG_INLINE file_extent extent_of(const layout& entries, const selected_tensors& which) noexcept {
    file_extent extent;
    for (std::size_t place = 0; place < entries.size(); ++place) {
        const layout::entry entry = entries[place];
        if (!entry.is_in_object()) {
            continue;
        }
        extent.end = std::max(extent.end, end_of(entry.record));
        if (which.contains(entry.what.name)) {
            extent.wanted = bounded_sum(extent.wanted, entry.record.length);
            ++extent.records;
            extent.largest = std::max(extent.largest, entry.record.length);
        }
    }
    return extent;
}

SMDEBUG_INLINE std::optional<std::size_t> files_ahead::take(std::size_t begin, std::size_t end) noexcept {
    std::size_t before = end_.load(std::memory_order_relaxed);
    while (true) {
        const std::size_t place = std::max(before, begin);
        if (place >= end) {
            return std::nullopt;
        }
        if (end_.compare_exchange_weak(before, place + 1, std::memory_order_relaxed)) {
            return place;
        }
    }
}

SMDEBUG_INLINE void files_ahead::report(std::size_t place, bool was_there) noexcept {
    if (!was_there) {
        skipped_.store(0, std::memory_order_relaxed);
        return;
    }
    const std::size_t more = std::min(2 * skipped_.load(std::memory_order_relaxed) + 4, most_skipped);
    skipped_.store(more, std::memory_order_relaxed);
    skip_to(place + 1 + more);
}

SMDEBUG_INLINE void files_ahead::skip_to(std::size_t end) noexcept {
    std::size_t before = end_.load(std::memory_order_relaxed);
    while (before < end && !end_.compare_exchange_weak(before, end, std::memory_order_relaxed)) {
    }
}

/// The complete steps from `begin` on, below `end`.
[[nodiscard]] inline std::vector<step_number> complete_steps(const catalog& from, step_number begin,
                                                             std::optional<step_number> end, std::size_t most) {
    std::vector<step_number> steps;
    for (auto next = from.steps.lower_bound(begin);
         next != from.steps.end() && from.complete(*next) && (!end || next->step < *end) && steps.size() < most;
         ++next) {
        steps.push_back(next->step);
    }
    return steps;
}

[[nodiscard]] inline std::vector<byte_range> wanted_records(const layout& entries, const selected_tensors& which) {
    std::vector<byte_range> records;
    for (std::size_t place = 0; place < entries.size(); ++place) {
        if (const layout::entry each = entries[place]; which.contains(each.what.name)) {
            records.push_back(each.record);
        }
    }
    sort_stably(records, [](const byte_range& a, const byte_range& b) { return a.offset < b.offset; });
    return records;
}

SMDEBUG_INLINE step_prefetch::step_prefetch(std::shared_ptr<const trial_state> state, std::uint64_t most_bytes)
    : state_(std::move(state)), objects_(state_->store().hold()), most_(most_bytes) {}

SMDEBUG_INLINE void step_prefetch::begin_step(step_number step, std::optional<step_number> end,
                                              std::vector<std::string> names) {
    if (!fetches()) {
        return;
    }
    at_ = step;
    std::uint64_t behind = 0;
    for (auto each = steps_.begin(); each != steps_.lower_bound(at_); ++each) {
        behind = bounded_sum(behind, each->second.bytes);
    }
    while (behind > most_ / 4) {
        behind -= steps_.begin()->second.bytes;
        drop_oldest();
    }
    const bool is_begun = step >= begun_for_fewer_ && step < begun_;
    if (names.empty() || (is_begun && !wants_more())) {
        return;
    }
    const auto from = state_->current();
    const selected_tensors which{{.names = std::move(names)}, *from};
    fetch_step(*from, which, small);
    begun_ = std::max(begun_, step + 1);
    if (wants_more()) {
        for (const step_number next : complete_steps(*from, begun_, end, most_files_ahead)) {
            if (!plan_ahead(*from, next, which)) {
                break;
            }
            begun_ = next + 1;
        }
        fetch_planned();
    }
}

SMDEBUG_INLINE void step_prefetch::fetch(const std::string& name) {
    if (fetches()) {
        begun_for_fewer_ = begun_;
        const auto from = state_->current();
        fetch_step(*from, selected_tensors{{.names = std::vector{name}}, *from}, unexpected);
    }
}

SMDEBUG_INLINE std::vector<step_number> step_prefetch::steps_after(step_number step, std::optional<step_number> end,
                                                                   std::size_t most) const {
    std::vector<step_number> steps = complete_steps(*state_->current(), step + 1, end, most);
    if (fetches()) {
        std::erase_if(steps, [&](step_number each) { return each >= begun_; });
    }
    return steps;
}

SMDEBUG_INLINE std::vector<step_prefetch::file_plan> step_prefetch::planned(const catalog& from, step_number step,
                                                                            const selected_tensors& which,
                                                                            std::uint64_t whole_up_to) const {
    std::vector<file_plan> plan;
    // In data of a catalog_source many steps may lie in one object, which is released as a whole.
    const auto* const entry = from.has_index ? from.find_step(step) : nullptr;
    if (entry == nullptr) {
        return plan;
    }
    const auto known = steps_.find(step);
    for (const catalog::file& written : entry->files()) {
        file_plan one{.key = trial_state::event_key(from, written)};
        if (one.key.empty() || (known != steps_.end() && known->second.keys.contains(one.key))) {
            continue;
        }
        const layout& entries = from.layout_of(written);
        const file_extent extent = extent_of(entries, which);
        if (extent.records == 0) {
            continue;
        }
        if (extent.end <= whole_up_to || strategy_for(extent, reading_limits{}, false) == read_strategy::whole) {
            one.bytes = extent.end;
            one.parts.push_back({0, bounded_sum(extent.end, 1)});  // in case the file is longer than the index says
        } else {
            // Records close to each other are fetched and kept together with the bytes between them.
            one.bytes = std::min(extent.end, bounded_sum(extent.wanted, most_gap * extent.records));
            one.parts = wanted_records(entries, which);
        }
        plan.push_back(std::move(one));
    }
    return plan;
}

SMDEBUG_INLINE void step_prefetch::fetch_step(const catalog& from, const selected_tensors& which,
                                              std::uint64_t whole_up_to) {
    for (const file_plan& each : planned(from, at_, which, whole_up_to)) {
        if (make_room(each.bytes)) {
            keep(at_, each);
        }
    }
    fetch_planned();
}

SMDEBUG_INLINE bool step_prefetch::plan_ahead(const catalog& from, step_number step, const selected_tensors& which) {
    const std::vector<file_plan> plan = planned(from, step, which, small);
    std::uint64_t bytes = 0;
    for (const file_plan& each : plan) {
        bytes = bounded_sum(bytes, each.bytes);
    }
    const kept_files before = ahead();
    // The first step ahead may take all of the room, not only half.
    const bool is_next = before.files == 0 && bytes <= most_;
    const bool is_near =
        before.files + plan.size() <= most_files_ahead && bounded_sum(before.bytes, bytes) <= most_ / 2;
    if (!plan.empty() && ((!is_next && !is_near) || !make_room(bytes))) {
        return false;
    }
    for (const file_plan& each : plan) {
        keep(step, each);
    }
    return true;
}

SMDEBUG_INLINE void step_prefetch::fetch_planned() {
    if (!planned_.empty()) {
        objects_->prefetch(planned_);
        planned_.clear();
    }
}

SMDEBUG_INLINE step_prefetch::kept_files step_prefetch::ahead() const noexcept {
    kept_files all;
    for (auto each = steps_.upper_bound(at_); each != steps_.end(); ++each) {
        all.bytes = bounded_sum(all.bytes, each->second.bytes);
        all.files += each->second.keys.size();
    }
    return all;
}

SMDEBUG_INLINE bool step_prefetch::wants_more() const noexcept {
    const kept_files now = ahead();
    return now.files <= most_files_ahead / 2 && now.bytes <= most_ / 4;
}

SMDEBUG_INLINE bool step_prefetch::make_room(std::uint64_t bytes) {
    while (bounded_sum(kept_bytes_, bytes) > most_) {
        if (steps_.empty() || steps_.begin()->first >= at_) {
            return false;
        }
        drop_oldest();
    }
    return true;
}

SMDEBUG_INLINE void step_prefetch::drop_oldest() {
    const auto oldest = steps_.begin();
    for (const std::string& key : oldest->second.keys) {
        objects_->release(key);
    }
    kept_bytes_ -= oldest->second.bytes;
    steps_.erase(oldest);
}

SMDEBUG_INLINE void step_prefetch::keep(step_number step, const file_plan& file) {
    kept_step& of = steps_[step];
    const std::string& key = *of.keys.insert(file.key).first;
    for (const byte_range& each : file.parts) {
        planned_.push_back({key, each});
    }
    of.bytes = bounded_sum(of.bytes, file.bytes);
    kept_bytes_ += file.bytes;
}

}  // namespace smdebug::inline v1::detail
