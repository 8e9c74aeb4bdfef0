// Everything that the index files of a run say, as one immutable snapshot that answers without touching storage.
// Steps, workers and tensors are numbers inside and names outside; files with the same layout share it.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/core/function_ref.hpp>
#include <smdebug/core/sorted_blocks.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/index/collection.hpp>
#include <smdebug/reduce/name.hpp>
#include <smdebug/trial/catalog/layout.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace smdebug::inline v1::detail {

/// A worker's name as a number: its place in the catalog's worker table.
using worker_id = std::uint32_t;

/// A snapshot.  Everything is const for its readers; trial/catalog/catalog_builder.hpp makes the next one from it,
/// which shares what did not change: a copy costs a reference count for some hundred steps or layouts.
/// Memory: 112 bytes a step, and where it has several files 48 more for each of them; 16 an entry of each different
///         layout, 16 more where its names differ, too; for data of a catalog_source 8 more where its forms differ, and
///         16 an entry of each file that has numbers or times.
struct catalog {
    /// One index file that names at least one tensor.  For data of a catalog_source, what one object holds of one step:
    /// a worker may then have several, and each tensor is in one of them.
    struct file {
        step_number step = 0;
        step_number mode_step = 0;
        std::uint32_t layout = 0;  ///< place in `layouts`
        worker_id worker = 0;
        std::uint32_t event_file = usual_event_file;  ///< place in `event_files`, or the usual name for step and worker
        smdebug::mode mode = smdebug::mode::global;
        std::uint64_t first_number = no_numbers;  ///< place in `numbers` of its first item's
        std::uint64_t stamp = no_stamp;           ///< of the index file: another one once that is written again
    };
    static constexpr std::uint64_t no_stamp = std::numeric_limits<std::uint64_t>::max();  ///< unknown
    static constexpr std::uint64_t no_numbers = std::numeric_limits<std::uint64_t>::max();
    static constexpr std::uint32_t usual_event_file = std::numeric_limits<std::uint32_t>::max();

    /// One global step that some worker wrote.
    struct step_entry {
        step_number step = 0;
        step_number mode_step = 0;  ///< of its first index file
        smdebug::mode mode = smdebug::mode::global;
        std::uint32_t load = 0;             ///< the load that last changed it, see catalog::load
        std::uint32_t file_count = 0;       ///< one for each worker; for data of a catalog_source also more
        file one;                           ///< its file, where there is one
        std::shared_ptr<const file[]> all;  ///< its files, where there are several

        /// By worker's name.
        [[nodiscard]] std::span<const file> files() const noexcept {
            return {file_count > 1 ? all.get() : &one, file_count};
        }
        /// How many workers wrote it.
        [[nodiscard]] std::size_t workers() const noexcept {
            std::size_t count = 1;
            for (std::size_t i = 1; i < file_count; ++i) {
                count += files()[i].worker != files()[i - 1].worker ? 1U : 0U;
            }
            return count;
        }
    };
    struct step_of {
        [[nodiscard]] step_number operator()(const step_entry& one) const noexcept { return one.step; }
    };

    /// A mode step and the first global step that has it.
    struct mode_step_entry {
        step_number mode_step = 0;
        step_number step = 0;
    };
    struct mode_step_of {
        [[nodiscard]] step_number operator()(const mode_step_entry& one) const noexcept { return one.mode_step; }
    };

    /// What the collections files say.
    struct job_description {
        std::map<std::string, collection, std::less<>> collections;
        std::vector<std::string> collection_workers;  ///< the workers that wrote collections files, by name
        std::size_t num_workers = 0;
        friend bool operator==(const job_description&, const job_description&) = default;
    };

    std::shared_ptr<const job_description> job = std::make_shared<const job_description>();
    std::shared_ptr<const name_table> names = std::make_shared<const name_table>();  ///< tensors, original names
    std::vector<std::string> workers;      ///< that wrote index files, in the order in which they were first seen
    shared_list<std::string> event_files;  ///< names that are not the usual ones
    shared_list<timed_number> numbers;     ///< for data of a catalog_source: one per item of their files
    shared_list<std::shared_ptr<const layout>> layouts;
    shared_list<std::shared_ptr<const name_list>> name_lists;  ///< those of the layouts, each once
    sorted_blocks<step_entry, step_of> steps;                  ///< by step
    std::size_t file_count = 0;                                ///< of all steps
    /// By mode (global stays empty), by mode step.
    std::array<sorted_blocks<mode_step_entry, mode_step_of>, 4> mode_steps;
    step_number last_complete_step = -1;
    bool loaded_all_steps = false;
    bool steps_are_synthetic = false;  ///< global steps were generated from modes and their steps: users see the latter
    /// Counts the loads that changed anything.  Whoever follows a run compares its number with that of a step to find
    /// the steps that have changed since.
    std::uint32_t load = 0;
    /// The last load that changed anything but the end of `steps`: since then only the end has to be compared.
    std::uint32_t last_disorder = 0;
    bool has_index = true;  ///< it is built from index files; else from what a catalog_source has found

    [[nodiscard]] static constexpr std::size_t place_of(mode which) noexcept {
        return static_cast<std::size_t>(which) - 1;
    }

    // Steps ------------------------------------------------------------------------------------------------------

    /// The step's entry, null if the step was not written.  Cost: a binary search.
    [[nodiscard]] const step_entry* find_step(step_number step) const noexcept { return steps.find(step); }
    [[nodiscard]] bool complete(const step_entry& one) const noexcept {
        return loaded_all_steps || one.step <= last_complete_step || one.workers() >= job->num_workers;
    }

    /// The number by which users know a step: see trial::shown_step().  An unwritten global step stands for
    /// itself.
    [[nodiscard]] step_number shown_step_of(step_number global_step) const noexcept;
    [[nodiscard]] step_number shown_step(const auto& file_or_entry) const noexcept {
        return steps_are_synthetic ? file_or_entry.mode_step : file_or_entry.step;
    }

    /// The global steps whose shown numbers are in a range, from the first of them to the last.  Cost: none where steps
    /// are not synthetic, else a pass over them.
    [[nodiscard]] step_range global_range(const step_range& shown) const noexcept;

    /// The global step that a mode step stands for; a global one stands for itself, seen or not.
    [[nodiscard]] std::optional<step_number> global_step(mode which, step_number mode_step) const noexcept;

    /// The steps of a mode, ascending.  Cost: one pass over the steps; allocates its result.
    [[nodiscard]] std::vector<step_number> steps_of(mode which, bool show_incomplete) const;

    /// The last step of a mode, -1 if there is none.
    [[nodiscard]] step_number last_step_of(mode which) const noexcept;

    /// Whether a step can be read now, may still come, or never will.
    [[nodiscard]] step_state state_of(mode which, step_number step) const noexcept;

    /// The event file that an index file names, or the object that a catalog_source has found.
    [[nodiscard]] std::string event_file_of(const file& one) const;

    // Tensors ----------------------------------------------------------------------------------------------------

    [[nodiscard]] const layout& layout_of(const file& one) const noexcept { return *layouts[one.layout]; }

    /// An entry of a file, with its number.
    [[nodiscard]] layout::entry entry_of(const file& one, std::size_t place) const noexcept {
        return entry_of(one, layout_of(one), place);
    }
    /// An entry of a file, with its number, for a caller that has the layout.
    [[nodiscard]] layout::entry entry_of(const file& one, const layout& entries, std::size_t place) const noexcept {
        layout::entry entry = entries[place];
        entry.number = one.first_number == no_numbers ? nullptr : &numbers[one.first_number + place];
        return entry;
    }
    /// The values' entry, or a saved reduction's; nothing when it was not saved.
    [[nodiscard]] std::optional<layout::entry> values_of(const file& one, name_id name) const noexcept {
        return found(one, layout_of(one).names().find(name, 0));
    }
    [[nodiscard]] std::optional<layout::entry> reduction_of(const file& one, name_id name,
                                                            reduction_key key) const noexcept {
        return found(one, layout_of(one).names().find(name, kind_of(key)));
    }

    /// The tensor's id, if any file has it.  Names that are only original names of others do not count.
    [[nodiscard]] std::optional<name_id> find_tensor(std::string_view name) const noexcept {
        return names->find_tensor(name);
    }

    /// Whether names that begin with "digest/" are those of digests: the run has their collection.
    [[nodiscard]] bool has_digests() const {
        return job->collections.find(digests_collection) != job->collections.end();
    }
    /// The digest of a tensor, which itself need not have been saved, if any file has it.
    [[nodiscard]] std::optional<name_id> find_digest_of(std::string_view tensor) const {
        return has_digests() ? find_tensor(digest_of_tensor(tensor)) : std::nullopt;
    }

    /// The tensors of the whole run, or of the files of a mode, sorted.
    /// Cost: a look at each different list of names; for one mode, a pass over the files.  Allocates its result.
    [[nodiscard]] std::vector<std::string> tensor_names(mode which) const;

    /// The tensors of one step, sorted.  Allocates its result.
    [[nodiscard]] std::vector<std::string> tensor_names_at(const step_entry& entry) const;

    /// The last `n` complete steps of a mode up to `step` that have a tensor, ascending.  If two global steps share a
    /// mode step, the first decides whether it has the tensor.
    /// Cost: grows with the distance to the steps found, not with the run.
    [[nodiscard]] std::vector<step_number> last_steps(name_id name, mode which, step_number step, std::size_t n) const;
    /// Whether no mode step belongs to two global steps, judging by the number of steps.
    [[nodiscard]] bool each_mode_step_once() const noexcept;

    /// A tensor's steps in a mode, ascending, each once.  Cost: one pass over the files.  Allocates its result.
    [[nodiscard]] std::vector<step_number> tensor_steps(name_id name, mode which, bool show_incomplete) const;

    /// The files of some steps, by step, then by worker's name.  Cost: grows with the files given.
    [[nodiscard]] std::vector<const file*> files_in(const step_range& range) const;

    /// The files of a step that hold the tensor, by worker's name.
    [[nodiscard]] std::vector<const file*> files_with(name_id name, step_number step) const;

    /// Heap bytes held, roughly, shared with other snapshots or not; for reports on memory.
    [[nodiscard]] std::size_t memory() const noexcept;

private:
    [[nodiscard]] std::optional<layout::entry> found(const file& one, std::optional<std::size_t> place) const noexcept {
        return place ? std::optional{entry_of(one, *place)} : std::nullopt;
    }

    static constexpr std::uint32_t no_layout = std::numeric_limits<std::uint32_t>::max();
    static constexpr std::size_t control_block = 2 * sizeof(void*);

    /// The first step of a mode at or after `step`, and the global step that it stands for.
    [[nodiscard]] std::optional<mode_step_entry> first_from(mode which, step_number step) const noexcept;
};

namespace growth {

/// Adds the mode steps of files.  Within one load the lowest step claims a mode step; earlier claims stay.  `files`
/// come in ascending order of their steps.
void add_mode_steps(catalog& next, std::span<const catalog::file> files);

/// Makes a step from the files of one step, which are ordered by worker's name.
[[nodiscard]] catalog::step_entry entry_of(std::span<const catalog::file> files, mode in, step_number mode_step,
                                           std::uint32_t load);

/// Adds files to their steps.  The first writer decides a step's mode; a later load adds workers to it.
void add_files(catalog& next, std::vector<catalog::file> files);

/// Steps of a catalog that was made anew and that are as they were in the one before it count as changed by the same
/// load as there; none does if the job's description is another one.  `is_touched(file, file before)`: whether a file
/// is the same one although its stamp has changed.  Cost: a pass over both.
void carry_over_loads(catalog& next, const catalog& before,
                      function_ref<bool(const catalog::file&, const catalog::file&)> is_touched);

/// Advances the last complete step: to the last one that every worker wrote, and, so that a dead worker does not block
/// it, by window/2 steps for as long as more than `window` steps follow it.
/// Cost: a pass over the steps beyond the last complete one.
void complete_steps(catalog& next, std::size_t window);

/// Marks the job as ended and all of its data as loaded.
void end(catalog& next);

}  // namespace growth
}  // namespace smdebug::inline v1::detail

#ifndef SMDEBUG_COMPILED
#include <smdebug/trial/catalog/impl/catalog.ipp>
#endif
