// What a hook finds at its destination: nothing, a finished run, or an interrupted one; and its claim to write there.
// An interrupted run can be continued: a step is complete once its index file exists, so anything beyond is removed.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/function_ref.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/hook/written_steps.hpp>
#include <smdebug/index/collection.hpp>
#include <smdebug/index/locations.hpp>
#include <smdebug/storage/any_storage.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace smdebug::inline v1::detail {

/// Where an interrupted run is continued.
struct continuation {
    step_number step = 0;                    ///< the first step to write
    std::map<mode, step_number> mode_steps;  ///< the next step of each mode; 0 for a mode not listed
    written_steps written;                   ///< by this worker, and still present
};

/// The run of one worker that already exists in a storage.
class earlier_run {
public:
    /// `how`: with on_disk, removed files do not reappear after a loss of power.      Cost: a listing of index/.
    earlier_run(any_storage store, const std::string& worker, durability how = durability::cached);

    /// Errors: run_exists if the job has ended or this worker has written a step.
    void refuse() const;

    /// Prepares the run for writing the steps from `first` on: removes this worker's later steps, newest first, so that
    /// the rest is a valid run at every moment.  Without `first`, continues behind the last step whose index file is
    /// intact.  Damaged index files before it are kept for a repair.
    /// Unsaved steps between the last existing one and `first` are attributed to the mode with the most steps: normally
    /// training, since the other modes have few steps and most of those are saved.  If no step exists, each mode begins
    /// at `first`, as in the Python package.
    /// Errors: run_exists if the job has ended; unsupported if the storage cannot remove; unavailable if an index file
    /// cannot be read.
    /// Cost:   reads all index files: file names do not contain the modes and their step numbers.
    [[nodiscard]] continuation resume(std::optional<step_number> first);

    /// Discards unfinished uploads of a killed process of this worker, on storages that keep such parts.  Returns their
    /// keys.  Keeps those of other workers, which may still be running, and those that cannot be listed or discarded.
    std::vector<std::string> remove_unfinished() noexcept;

    /// This worker's collections file, if there is an intact one.  Errors: as resume().
    [[nodiscard]] std::optional<collections_file> collections() const;

private:
    void refuse_ended() const;

    void remove(const std::string& key);

    // The step in the name of a file of this worker, or of a temporary file for it.
    [[nodiscard]] std::optional<step_number> own_step(std::string_view key) const;

    // Events without an index, and temporary files left by a killed writer.
    void remove_leftovers(step_number first);

    void find_mode_steps(continuation& next);

    // Runs code that reads files of this worker.      Errors: unavailable, with advice, if a file cannot be read.
    void read_or_throw_with_advice(function_ref<void()> reading) const;

    // Removes damaged index files of the last steps, if the storage can remove: a step counts as written once its index
    // file exists.
    void remove_damaged_end();

    void remove_last_step();

    // Makes the removal of index files durable before new events take the place of the old ones.
    void sync_removals();

    any_storage store_;
    std::string worker_;
    durability how_;
    std::string part_;                                         // the worker in file names
    std::map<step_number, std::string> steps_;                 // index files by step
    std::vector<std::string> strays_;                          // this worker's other files in index/
    std::map<std::string, std::string, std::less<>> removed_;  // by folder, one of the keys removed from it
};

/// The key of a worker's claim or marker: "claim.smd" for the only writer of a run, as in the Python package, whose
/// hook it keeps out, too; "claim_<worker>.smd" for one of several.
[[nodiscard]] inline std::string claim_key(std::string_view worker, std::int64_t writers) {
    return writers <= 1 ? "claim.smd" : "claim_" + locations::file_part_from_worker(worker) + ".smd";
}

/// Makes sure that only one process writes as a given worker, and finds out which worker finishes last.  Storages
/// without claims use marker objects instead, one for each of several workers, from begin() to release(): those cannot
/// keep a second process out.
/// Destroyed without release(), it gives up the claim; the marker of a worker that failed stays until that worker has
/// been started again.
class run_claim {
public:
    /// `how`: whether the claim survives a loss of power intact, so that its owner is always known.
    /// Errors: in_use while another living writer has the same worker's name.
    run_claim(any_storage store, std::string worker, std::int64_t writers, durability how = durability::cached);

    /// Writes this worker's marker, if the storage has no claims.
    void begin();

    /// Whether the claim still exists, as far as known: removing a run's folder removes it.
    [[nodiscard]] bool holds() const;
    /// Takes it again.      Errors: in_use.
    void renew();

    /// Gives up the right; to be called once.  Returns whether this was the last writer: the other workers have written
    /// their collections files, and none of them is running.  If two finish at the same moment, at least one gets true.
    /// With claims, a worker that died does not count; with markers, its marker keeps the others from being the last.
    /// If the storage can neither claim nor remove: always true, as in the Python package.
    [[nodiscard]] bool release();

private:
    void claim();

    // Whether all workers have begun, and no other one is running.
    [[nodiscard]] bool is_last(function_ref<bool(const std::string& worker)> at_work) const;

    any_storage store_;
    std::string worker_;
    std::int64_t writers_;
    durability how_;
    bool by_markers_;
    std::unique_ptr<object_claim> claim_;
};

}  // namespace smdebug::inline v1::detail

#ifndef SMDEBUG_COMPILED
#include <smdebug/hook/impl/earlier_run.ipp>
#endif
