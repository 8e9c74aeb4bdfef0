// Options of a hook: where it saves, what, when, and how.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/hook/known_collections.hpp>
#include <smdebug/hook/save_config.hpp>
#include <smdebug/index/collection.hpp>
#include <smdebug/record/crc_check.hpp>
#include <smdebug/storage/writable.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace smdebug {
inline namespace v1 {

/// Which workers of a job write: the first one alone, or all.
enum class include_workers : std::uint8_t { one, all };

/// What to do when the run is there already: refuse it, or go on behind its last step.
enum class existing_run : std::uint8_t { refuse, resume };

/// What a failed write does: throw, or lose that step, tell on_drop, and let the training go on.
enum class failure_policy : std::uint8_t { raise, drop };

/// What a full pool of waiting bytes does: keep the training waiting, or lose the tensor and tell on_drop.
enum class full_pool : std::uint8_t { wait, drop };

/// Writing beside the training, on a thread of the hook's own.  Steps that have ended are written also where exit(), or
/// the end of main, ends the program; a signal, abort() or _exit() loses what waits.
struct background_options {
    std::size_t pool_bytes = 0;  ///< memory for what waits to be written; 0: everything is written before calls return
    full_pool when_full = full_pool::wait;
};

/// The largest number that a step may be given, which leaves room to count on.
inline constexpr step_number largest_step = std::numeric_limits<step_number>::max() / 2;

/// Options of a hook.  Names and meanings are those of the Python package.
struct hook_options {
    /// Where the run goes: a folder, "s3://bucket/prefix", or whatever the storage makes of it.
    std::string out_dir = {};
    /// When collections are saved that do not say so themselves.
    smdebug::save_config save_config = {};
    /// What is saved of the tensors of collections that do not say so themselves; none: the values.
    std::optional<smdebug::reduction_config> reduction_config = {};
    /// Collections besides the built-in ones (all, default, weights, biases, gradients, losses), or settings for these:
    /// one that has neither regexes nor names keeps the built-in ones; one that has any replaces them (from JSON, as in
    /// the package, regexes are added).  To be saved it must be included, too.  One without any, of a name that is not
    /// built in, saves what is put into it by name alone: see basic_hook::unmatched_collections().
    std::vector<collection> collections = {};
    /// Names of the collections to be saved, besides `losses`, which always is.  `all`: every collection is.  A name
    /// that is neither built in nor in `collections` waits for tensors that are put into it by name, unless it looks
    /// like one of these misspelt: that is refused.
    std::vector<std::string> include_collections = {};
    /// Tensors whose names match one of these are saved, in the collection `default`.
    std::vector<std::string> include_regex = {};
    /// Saves every tensor, in the collection `all`.
    bool save_all = false;
    /// Tensors whose names match one of these are in `losses`, too, besides those that frameworks call so, such as
    /// "CrossEntropyLoss_output_0", unless `collections` gives `losses` regexes or names of its own.  Not in the Python
    /// package: options from JSON have none.
    std::vector<std::string> loss_regex = {std::string{detail::known_collections::loss_regex}};

    /// Whether this worker writes unless it is the first one, `worker_0`.
    smdebug::include_workers include_workers = smdebug::include_workers::one;
    /// This worker's name; a TensorFlow device name such as "/job:worker/replica:0/task:1/device:GPU:0" is one, too.
    std::string worker = "worker_0";
    /// How many workers the job has.
    std::int64_t num_workers = 1;
    /// Decides and counts as usual, writes nothing.
    bool dry_run = false;

    /// What to do when the run is there already.
    existing_run existing = existing_run::refuse;
    /// The first global step; none: 0, or where a resumed run goes on.  Modes begin at the same number where nothing is
    /// resumed, as in the Python package; else they go on where they were, see earlier_run::resume.
    std::optional<step_number> init_step = {};

    /// What stands behind each record: the constant that the package writes, or a true checksum, which our reader and
    /// TensorBoard verify and the Python package does not read.
    record::footer_kind payload_checksum = record::footer_kind::package_constant;
    /// How safe a step is when end_step() has returned; with a background, flush().  `on_disk`, where the storage can
    /// promise it: the files, and the names of all folders on the way to them, are on the disk; a step that is being
    /// replaced may be missing.      Cost: some six syncs a step, which wait for the disk.
    smdebug::durability durability = smdebug::durability::cached;
    /// Writing beside the training.
    background_options background = {};
    /// What a failed write does.
    failure_policy on_failure = failure_policy::raise;
    /// Called with a sentence on what was lost under the policies `drop`.  On the thread that calls the hook; what it
    /// throws is ignored, and it is not called again from within.
    std::function<void(const std::string&)> on_drop = {};
    /// Called when the hook is closed, with a sentence for each thing likely meant to be saved and not saved: tensors
    /// that no saved collection holds, collections that no tensor can belong to, a run without a step.  None: they go
    /// to standard error.  What it throws is ignored.
    std::function<void(const std::string&)> on_note = {};
    /// Sentences on these options that on_note is given, too, before the others: of JSON, keys that are not known.
    std::vector<std::string> notes = {};

    /// Writes scalars and histograms for TensorBoard, too.
    bool export_tensorboard = false;
    /// Where to, as in out_dir; empty: "tensorboard" of the run.  Other places than the run are written before calls
    /// return, also where the run itself is not.
    std::string tensorboard_dir = {};
    /// How long what was written for TensorBoard may wait before it can be seen.
    std::chrono::milliseconds tensorboard_interval{30000};

    /// Marks the job as ended when the hook is closed.
    bool mark_end_of_job = true;
};

/// Throws value_error, in a sentence that names the option and its value, unless a hook can work by these options.
void check(const hook_options& options);

namespace detail {

// The names of files have 255 bytes at most: a step's number, this, an extension, or what stands there until the file
// is whole.
inline constexpr std::size_t longest_worker = 200;

void check_name(const std::string& name, const std::string& where);

}  // namespace detail

void check(const hook_options& options);

}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/hook/impl/hook_options.ipp>
#endif
