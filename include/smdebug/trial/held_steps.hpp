// The event files of the steps of a run, held near while somebody walks over them: where they lie far away, each is
// fetched once, ahead of who looks at it, whatever is then asked of it how often.
// Used by: rules/steps_ahead.hpp.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/storage/concepts.hpp>
#include <smdebug/trial/catalog.hpp>
#include <smdebug/trial/reading_plan.hpp>
#include <smdebug/trial/selection.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {

/// What is held for one walk over the steps of a run.  Whole files; of those of which little is wanted, that.
/// Memory: `most_bytes`, of which the steps ahead take half, and steps behind, for who compares with them, a quarter.
/// Threads: one at a time; what is held is read by any.
template <class State>
class held_steps {
public:
    held_steps(std::shared_ptr<const State> state, std::uint64_t most_bytes)
        : state_(std::move(state)), most_(most_bytes) {
        if constexpr (holding_storage<typename State::storage_type>) {
            objects_ = state_->store().hold();
        }
    }

    /// Whether the run lies far enough away to be held.  Else nothing below does anything, and there is always room.
    [[nodiscard]] bool holds() const noexcept { return objects_ != nullptr; }

    /// Says which step is looked at from now on.
    void go_to(step_number step) {
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

    /// Brings what is wanted of the step that is looked at, as far as there is room; returns at once.
    void bring(const catalog& from, const selected_tensors& which) { bring_files(planned(from, at_, which, false)); }
    /// The same for who looks at a tensor of which nobody knew that it is wanted: it will not be the last one of its
    /// file.
    void bring_wholes(const catalog& from, const selected_tensors& which) {
        bring_files(planned(from, at_, which, true));
    }

    /// Whether half of the room for steps ahead is free: bringing many files together costs less.
    [[nodiscard]] bool wants_more() const noexcept {
        return ahead_.files <= most_files_ahead / 2 && ahead_.bytes <= most_ / 4;
    }
    /// Plans to bring what is wanted of a later step, all of it or nothing.  False: there is no room yet.
    [[nodiscard]] bool plan_ahead(const catalog& from, step_number step, const selected_tensors& which) {
        const std::vector<file_plan> plan = planned(from, step, which, false);
        held_files wanted;
        for (const file_plan& each : plan) {
            wanted += {each.bytes, 1};
        }
        // One step ahead is to be had whatever its size, if it can be had at all.
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
    /// Begins what is planned.
    void bring_planned() {
        if (!asked_.empty()) {
            objects_->bring(asked_);
            asked_.clear();
        }
    }

private:
    static constexpr std::size_t most_files_ahead = 256;  // as many as are worth naming to a storage at once
    static constexpr std::uint64_t most_gap = std::uint64_t{1}
                                              << 20U;  // what may come between two records that are near
    static constexpr std::uint64_t worth_a_request = std::uint64_t{1} << 20U;  // comes as quickly as a part of it
    static constexpr std::uint64_t small = std::uint64_t{16} << 20U;           // as caches have it

    struct file_plan {
        std::string key;
        std::uint64_t bytes = 0;
        std::vector<byte_range> parts = {};
    };
    struct held_files {
        std::uint64_t bytes = 0;
        std::size_t files = 0;
        held_files& operator+=(const held_files& other) noexcept {
            bytes = sum(bytes, other.bytes);
            files += other.files;
            return *this;
        }
    };
    struct held_step : held_files {
        std::set<std::string, std::less<>> keys;
    };

    [[nodiscard]] static std::uint64_t sum(std::uint64_t a, std::uint64_t b) noexcept {
        return a + std::min(b, std::numeric_limits<std::uint64_t>::max() - a);
    }

    /// What of a step is wanted and not held.
    [[nodiscard]] std::vector<file_plan> planned(const catalog& from, step_number step, const selected_tensors& which,
                                                 bool wholes) const {
        std::vector<file_plan> plan;
        const auto* const entry = holds() ? from.find_step(step) : nullptr;
        if (entry == nullptr) {
            return plan;
        }
        const auto known = steps_.find(step);
        for (const catalog::file& written : entry->files()) {
            file_plan one{.key = State::event_key(from, written)};
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
                one.parts.push_back({0, sum(extent.end, 1)});  // no more than that, should it be longer
            } else {
                // Records near to each other come, and stay, with what lies between them.
                one.bytes = std::min(extent.end, sum(extent.wanted, most_gap * extent.records));
                one.parts = wanted_records(entries, which);
            }
            plan.push_back(std::move(one));
        }
        return plan;
    }

    [[nodiscard]] static std::vector<byte_range> wanted_records(const layout& entries, const selected_tensors& which) {
        std::vector<byte_range> records;
        for (std::size_t place = 0; place < entries.size(); ++place) {
            if (const layout::entry each = entries[place]; which.contains(each.what.name)) {
                records.push_back(each.record);
            }
        }
        std::sort(records.begin(), records.end(),
                  [](const byte_range& a, const byte_range& b) { return a.offset < b.offset; });
        return records;
    }

    void bring_files(const std::vector<file_plan>& plan) {
        for (const file_plan& each : plan) {
            if (make_room(each.bytes)) {
                hold(at_, each);
            }
        }
        bring_planned();
    }

    /// Lets go of the steps behind, the oldest first, until so many bytes more can be held.
    [[nodiscard]] bool make_room(std::uint64_t bytes) {
        while (sum(held_bytes_, bytes) > most_) {
            if (steps_.empty() || steps_.begin()->first >= at_) {
                return false;
            }
            let_go_of_oldest();
        }
        return true;
    }
    void let_go_of_oldest() {
        const auto oldest = steps_.begin();
        for (const std::string& key : oldest->second.keys) {
            objects_->release(key);
        }
        held_bytes_ -= oldest->second.bytes;
        steps_.erase(oldest);
    }

    void hold(step_number step, const file_plan& file) {
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

    std::shared_ptr<const State> state_;
    std::unique_ptr<held_objects> objects_;
    std::uint64_t most_;
    reading_limits limits_;
    step_number at_ = -1;
    std::map<step_number, held_step> steps_;
    std::uint64_t held_bytes_ = 0;     // of all of them
    std::vector<object_range> asked_;  // planned, and not begun: their keys are those of steps_
    held_files ahead_;                 // of those after at_
};

}  // namespace v1
}  // namespace smdebug
