// Prefetching for a walk over the steps of a run whose storage is far away: the event files of the next steps are
// fetched before they are needed, each once, and kept until the walk has gone on.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/storage/any_storage.hpp>
#include <smdebug/trial/catalog/catalog.hpp>
#include <smdebug/trial/selection.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace detail {

class trial_state;

/// The event files that one walk keeps: whole ones, or the wanted records of those of which little is wanted.
/// Memory: `most_bytes`, of which the steps ahead take half; the last steps, which rules compare with, a quarter.
/// Threads: one at a time; any thread may read what is kept.
class step_prefetch {
public:
    step_prefetch(std::shared_ptr<const trial_state> state, std::uint64_t most_bytes);

    /// Whether event files are prefetched here: where the storage can hold parts of its objects.  A second prefetch beside
    /// this one would fetch them twice.
    [[nodiscard]] bool fetches() const noexcept { return objects_ != nullptr; }

    /// Goes on to a step: begins to fetch its event files, and those of the steps after it that are there, below `end`, as
    /// far as these tensors are in them and there is room.  Returns at once.
    void begin_step(step_number step, std::optional<step_number> end, std::vector<std::string> names);

    /// Fetches a tensor that is asked for unexpectedly at this step: of files up to 16 MiB all, as others will follow it.
    void fetch(const std::string& name);

    /// The next complete steps after `step`, below `end`; where event files are prefetched, those that were begun.
    [[nodiscard]] std::vector<step_number> steps_after(step_number step, std::optional<step_number> end,
                                                       std::size_t most) const;

private:
    static constexpr std::size_t most_files_ahead = 256;  // as many as are worth naming to a storage at once
    static constexpr std::uint64_t most_gap = std::uint64_t{1} << 20U;     // between two records that are near
    static constexpr std::uint64_t small = std::uint64_t{1} << 20U;        // a file up to this is fetched whole
    static constexpr std::uint64_t unexpected = std::uint64_t{16} << 20U;  // the same where more will be asked for

    struct file_plan {
        std::string key;
        std::uint64_t bytes = 0;
        std::vector<byte_range> parts = {};
    };
    struct kept_step {
        std::uint64_t bytes = 0;
        std::set<std::string, std::less<>> keys;
    };
    struct kept_files {
        std::uint64_t bytes = 0;
        std::size_t files = 0;
    };

    /// The files, or parts of them, that are wanted of a step and not kept yet; those up to `whole_up_to` bytes whole.
    [[nodiscard]] std::vector<file_plan> planned(const catalog& from, step_number step, const selected_tensors& which,
                                                 std::uint64_t whole_up_to) const;
    /// Begins to fetch what is wanted of this step, as far as there is room.
    void fetch_step(const catalog& from, const selected_tensors& which, std::uint64_t whole_up_to);
    /// Plans to fetch what is wanted of a later step, all of it or nothing.  False: there is no room yet.
    [[nodiscard]] bool plan_ahead(const catalog& from, step_number step, const selected_tensors& which);
    void fetch_planned();

    [[nodiscard]] kept_files ahead() const noexcept;
    /// Whether half of the room for steps ahead is free: fetching many files together costs less.
    [[nodiscard]] bool wants_more() const noexcept;
    /// Drops the steps behind, the oldest first, until so many bytes more can be kept.
    [[nodiscard]] bool make_room(std::uint64_t bytes);
    void drop_oldest();
    void keep(step_number step, const file_plan& file);

    std::shared_ptr<const trial_state> state_;
    std::unique_ptr<held_objects> objects_;
    std::uint64_t most_;
    step_number at_ = -1;
    std::map<step_number, kept_step> steps_;
    std::uint64_t kept_bytes_ = 0;       // of all steps_
    std::vector<object_range> planned_;  // borrows its keys from steps_
    step_number begun_ = 0;              // the event files of steps before this one were asked for
    step_number begun_for_fewer_ = 0;    // of those before this one when fewer tensors were wanted
};

}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/trial/read/impl/step_prefetch.ipp>
#endif
