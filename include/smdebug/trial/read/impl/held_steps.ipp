// The bodies of <smdebug/trial/read/held_steps.hpp>.
#pragma once

#include <smdebug/core/places_in_order.hpp>
#include <smdebug/trial/read/held_steps.hpp>
#include <smdebug/trial/read/trial_state.hpp>

#include <utility>

namespace smdebug {
inline namespace v1 {
namespace detail {

SMDEBUG_INLINE held_steps::held_steps(std::shared_ptr<const trial_state> state, std::uint64_t most_bytes)
    : state_(std::move(state)), most_(most_bytes) {
    objects_ = state_->store().hold();
}

SMDEBUG_INLINE void held_steps::go_to(step_number step) {
    at_ = step;
    ahead_ = {};
    for (auto each = steps_.upper_bound(at_); each != steps_.end(); ++each) {
        ahead_ += each->second;
    }
    std::uint64_t behind = 0;
    for (auto each = steps_.begin(); each != steps_.lower_bound(at_); ++each) {
        behind = sum(behind, each->second.bytes);
    }
    while (behind > most_ / 4) {
        behind -= steps_.begin()->second.bytes;
        let_go_of_oldest();
    }
}

SMDEBUG_INLINE bool held_steps::plan_ahead(const catalog& from, step_number step, const selected_tensors& which) {
    const std::vector<file_plan> plan = planned(from, step, which, false);
    held_files wanted;
    for (const file_plan& each : plan) {
        wanted += {each.bytes, 1};
    }
    // The first step ahead may take all of the room, not only half.
    const bool is_next = ahead_.files == 0 && wanted.bytes <= most_;
    const bool is_near =
        ahead_.files + wanted.files <= most_files_ahead && sum(ahead_.bytes, wanted.bytes) <= most_ / 2;
    if (!plan.empty() && ((!is_next && !is_near) || !make_room(wanted.bytes))) {
        return false;
    }
    for (const file_plan& each : plan) {
        hold(step, each);
    }
    return true;
}

SMDEBUG_INLINE void held_steps::bring_planned() {
    if (!asked_.empty()) {
        objects_->bring(asked_);
        asked_.clear();
    }
}

SMDEBUG_INLINE held_steps::held_files& held_steps::held_files::operator+=(const held_files& other) noexcept {
    bytes = sum(bytes, other.bytes);
    files += other.files;
    return *this;
}

SMDEBUG_INLINE std::vector<held_steps::file_plan> held_steps::planned(const catalog& from, step_number step,
                                                                      const selected_tensors& which,
                                                                      bool wholes) const {
    std::vector<file_plan> plan;
    const auto* const entry = holds() ? from.find_step(step) : nullptr;
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
        const bool whole =
            extent.end <= (wholes ? small : worth_a_request) || way_of(extent, limits_, false) == file_way::whole;
        if (whole) {
            one.bytes = extent.end;
            one.parts.push_back({0, sum(extent.end, 1)});  // bounded, in case the file is longer than the index says
        } else {
            // Records near to each other come, and stay, with what lies between them.
            one.bytes = std::min(extent.end, sum(extent.wanted, most_gap * extent.records));
            one.parts = wanted_records(entries, which);
        }
        plan.push_back(std::move(one));
    }
    return plan;
}

SMDEBUG_INLINE std::vector<byte_range> held_steps::wanted_records(const layout& entries,
                                                                  const selected_tensors& which) {
    std::vector<byte_range> records;
    for (std::size_t place = 0; place < entries.size(); ++place) {
        if (const layout::entry each = entries[place]; which.contains(each.what.name)) {
            records.push_back(each.record);
        }
    }
    sort_stably(records, [](const byte_range& a, const byte_range& b) { return a.offset < b.offset; });
    return records;
}

SMDEBUG_INLINE void held_steps::bring_files(const std::vector<file_plan>& plan) {
    for (const file_plan& each : plan) {
        if (make_room(each.bytes)) {
            hold(at_, each);
        }
    }
    bring_planned();
}

SMDEBUG_INLINE bool held_steps::make_room(std::uint64_t bytes) {
    while (sum(held_bytes_, bytes) > most_) {
        if (steps_.empty() || steps_.begin()->first >= at_) {
            return false;
        }
        let_go_of_oldest();
    }
    return true;
}

SMDEBUG_INLINE void held_steps::let_go_of_oldest() {
    const auto oldest = steps_.begin();
    for (const std::string& key : oldest->second.keys) {
        objects_->release(key);
    }
    held_bytes_ -= oldest->second.bytes;
    steps_.erase(oldest);
}

SMDEBUG_INLINE void held_steps::hold(step_number step, const file_plan& file) {
    held_step& of = steps_[step];
    const std::string& key = *of.keys.insert(file.key).first;
    for (const byte_range& each : file.parts) {
        asked_.push_back({key, each});
    }
    of += {file.bytes, 1};
    held_bytes_ += file.bytes;
    if (step > at_) {
        ahead_ += {file.bytes, 1};
    }
}

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
