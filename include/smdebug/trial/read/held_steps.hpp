// Prefetching for a walk over the steps of a run whose storage is far away: the event files of the next steps are
// fetched before they are needed, each once, and kept until the walk has gone on.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/storage/any_storage.hpp>
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

class trial_state;

/// The event files that one walk holds: whole ones, or the wanted records of those of which little is wanted.
/// Memory: `most_bytes`, of which the steps ahead take half; the last steps, which rules compare with, a quarter.
/// Threads: one at a time; what is held may be read by any.
class held_steps {
public:
    held_steps(std::shared_ptr<const trial_state> state, std::uint64_t most_bytes);

    /// Whether the storage can hold parts of its objects.  Where it cannot, as files are near anyway, nothing below
    /// does anything, and there is always room.
    [[nodiscard]] bool holds() const noexcept { return objects_ != nullptr; }

    /// Goes on to a step: lets go of the oldest ones behind it where they take too much.
    void go_to(step_number step);

    /// Begins to fetch what is wanted of the step at hand, as far as there is room; returns at once.
    void bring(const catalog& from, const selected_tensors& which) { bring_files(planned(from, at_, which, false)); }
    /// The same for a tensor that is asked for unexpectedly: of files up to 16 MiB all, as others will follow it.
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
    static constexpr std::uint64_t worth_a_request = std::uint64_t{1} << 20U;  // a file up to this is fetched whole
    static constexpr std::uint64_t small = std::uint64_t{16} << 20U;           // the same where more will be asked for

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

    /// The files, or parts of them, that are wanted of a step and not held yet.
    [[nodiscard]] std::vector<file_plan> planned(const catalog& from, step_number step, const selected_tensors& which,
                                                 bool wholes) const;

    [[nodiscard]] static std::vector<byte_range> wanted_records(const layout& entries, const selected_tensors& which);

    void bring_files(const std::vector<file_plan>& plan);

    /// Lets go of the steps behind, the oldest first, until so many bytes more can be held.
    [[nodiscard]] bool make_room(std::uint64_t bytes);
    void let_go_of_oldest();

    void hold(step_number step, const file_plan& file);

    std::shared_ptr<const trial_state> state_;
    std::unique_ptr<held_objects> objects_;
    std::uint64_t most_;
    reading_limits limits_;
    step_number at_ = -1;
    std::map<step_number, held_step> steps_;
    std::uint64_t held_bytes_ = 0;     // of all steps_
    std::vector<object_range> asked_;  // planned, and not begun; borrows its keys from steps_
    held_files ahead_;                 // sum of the steps after at_
};

}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/trial/read/impl/held_steps.ipp>
#endif
