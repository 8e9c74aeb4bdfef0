// The event files of the steps of a run, held near while somebody walks over them: where they lie far away, each is
// fetched once, ahead of who looks at it, whatever is then asked of it how often.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/storage/concepts.hpp>
#include <smdebug/trial/catalog/catalog.hpp>
#include <smdebug/trial/catalog/layout.hpp>
#include <smdebug/trial/read/reading_plan.hpp>
#include <smdebug/trial/selection.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// What is held for one walk over the steps of a run.  Whole files; of those of which little is wanted, that.
/// Memory: `most_bytes`, of which the steps ahead take half, and steps behind, for who compares with them, a quarter.
/// Threads: one at a time; what is held is read by any.
template <class State>
class held_steps {
public:
    held_steps(std::shared_ptr<const State> state, std::uint64_t most_bytes);

    /// Whether the run lies far enough away to be held.  Else nothing below does anything, and there is always room.
    [[nodiscard]] bool holds() const noexcept { return objects_ != nullptr; }

    /// Says which step is looked at from now on.
    void go_to(step_number step);

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
    [[nodiscard]] bool plan_ahead(const catalog& from, step_number step, const selected_tensors& which);
    /// Begins what is planned.
    void bring_planned();

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
        held_files& operator+=(const held_files& other) noexcept;
    };
    struct held_step : held_files {
        std::set<std::string, std::less<>> keys;
    };

    [[nodiscard]] static std::uint64_t sum(std::uint64_t a, std::uint64_t b) noexcept {
        return a + std::min(b, std::numeric_limits<std::uint64_t>::max() - a);
    }

    /// What of a step is wanted and not held.
    [[nodiscard]] std::vector<file_plan> planned(const catalog& from, step_number step, const selected_tensors& which,
                                                 bool wholes) const;

    [[nodiscard]] static std::vector<byte_range> wanted_records(const layout& entries, const selected_tensors& which);

    void bring_files(const std::vector<file_plan>& plan);

    /// Lets go of the steps behind, the oldest first, until so many bytes more can be held.
    [[nodiscard]] bool make_room(std::uint64_t bytes);
    void let_go_of_oldest();

    void hold(step_number step, const file_plan& file);

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

}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/trial/read/impl/held_steps.tpp>
#endif
