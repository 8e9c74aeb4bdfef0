// What a hook is told when it is made: where to, what, when, and how.
// Used by: hook/collection_set.hpp, hook/hook_json.hpp, hook/basic_hook.hpp.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/core/near_names.hpp>
#include <smdebug/core/relative_path.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/core/utf8.hpp>
#include <smdebug/hook/known_collections.hpp>
#include <smdebug/hook/reduction_plan.hpp>
#include <smdebug/hook/save_config.hpp>
#include <smdebug/index/collection.hpp>
#include <smdebug/index/locations.hpp>
#include <smdebug/index/regex.hpp>
#include <smdebug/record/writer.hpp>
#include <smdebug/storage/concepts.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
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

/// The largest number that a step may be given: from there on counting does not end either.
inline constexpr step_number largest_step = std::numeric_limits<step_number>::max() / 2;

/// What a hook is told when it is made.  Names and meanings are those of the Python package.
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
    std::vector<std::string> loss_regex = {std::string{known_collections::loss_regex}};

    /// Whether this worker writes unless it is the first one, `worker_0`.
    smdebug::include_workers include_workers = smdebug::include_workers::one;
    /// This worker's name; a TensorFlow device name such as "/job:worker/replica:0/task:1/device:GPU:0" is one, too.
    std::string worker = "worker_0";
    /// How many workers the job has.
    std::int64_t num_workers = 1;
    /// Decides and counts as ever, writes nothing.
    bool dry_run = false;

    /// What to do when the run is there already.
    existing_run existing = existing_run::refuse;
    /// The first global step; none: 0, or where a resumed run goes on.  Modes begin at the same number where nothing is
    /// resumed, as in the Python package; else they go on where they were, see earlier_run::resume.
    std::optional<step_number> init_step = {};

    /// What stands behind each record: the constant that the package writes, or a true checksum, which our reader and
    /// TensorBoard verify and the Python package does not read.
    record::footer_kind payload_checksum = record::footer_kind::package_constant;
    /// How safe a step is when end_step() has returned.
    smdebug::durability durability = smdebug::durability::cached;
    /// Writing beside the training.
    background_options background = {};
    /// What a failed write does.
    failure_policy on_failure = failure_policy::raise;
    /// Is told, in a sentence, what was lost under the policies `drop`.  On the thread that calls the hook; what it
    /// throws is ignored, and it is not called again from within.
    std::function<void(const std::string&)> on_drop = {};
    /// Is told, when the hook is closed, in a sentence each, what was likely meant to be saved and was not: tensors
    /// that no saved collection holds, collections that no tensor can belong to, a run without a step.  None: they go
    /// to standard error.  What it throws is ignored.
    std::function<void(const std::string&)> on_note = {};

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
inline void check(const hook_options& options);

namespace detail {

// The names of files have 255 bytes at most: a step's number, this, an extension, or what stands there until the file
// is whole.
inline constexpr std::size_t longest_worker = 200;

inline void check_worker(const std::string& worker) {
    const auto refuse = [&](const std::string& why) { throw value_error("worker is \"" + worker + "\": " + why); };
    if (worker.empty()) {
        refuse("a worker needs a name, such as \"worker_0\"");
    }
    if (!is_utf8(worker)) {
        refuse("the name is not UTF-8");
    }
    if (worker.find('\0') != std::string::npos) {
        throw value_error("worker has a byte 0 in its name, at which the names of files end");
    }
    const std::string part = locations::file_part_from_worker(worker);
    if (part.size() > longest_worker) {
        throw value_error("worker is \"" + worker.substr(0, 20) + "...\", a name of " + std::to_string(worker.size()) +
                          " bytes: files are named after it, so it may have " + std::to_string(longest_worker));
    }
    if (part.find('/') != std::string::npos) {
        refuse("only the name of a TensorFlow device, \"/job:.../replica:...\", may hold a '/'");
    }
    if (!stays_inside(part)) {
        refuse("no file or folder can have that name");
    }
    if (const std::string back = locations::worker_from_file_part(part); back != worker) {
        refuse("in file names it would be taken for \"" + back + "\"");
    }
}

inline void check_patterns(const std::vector<std::string>& patterns, const std::string& where) {
    for (const std::string& pattern : patterns) {
        try {
            static_cast<void>(regex{pattern});
        } catch (const value_error& thrown) {
            throw value_error(where + ": " + std::string{thrown.message()});
        }
    }
}

inline void check_name(const std::string& name, const std::string& where) {
    if (name.empty()) {
        throw value_error(where + " has an empty name");
    }
    if (!is_utf8(name)) {
        throw value_error(where + " has the name \"" + name + "\", which is not UTF-8");
    }
}

// A name in include_collections that is spelt nearly as one that there is.  One that begins with that ("weights_2") was
// meant to be another.
inline void check_spelling(const std::string& name, const hook_options& options) {
    std::vector<std::string> known = known_collections::names();
    for (const collection& own : options.collections) {
        known.push_back(own.name);
    }
    if (std::find(known.begin(), known.end(), name) != known.end()) {
        return;
    }
    std::erase_if(known, [&](const std::string& other) {
        return name.starts_with(other) ||
               edit_distance(name, other) > std::max<std::size_t>(1, std::max(name.size(), other.size()) / 3);
    });
    if (const std::string meant = did_you_mean(name, known, 3); !meant.empty()) {
        throw value_error("include_collections: there is no collection \"" + name + "\"." + meant +
                          " One of your own goes into `collections`, too");
    }
}

}  // namespace detail

inline void check(const hook_options& options) {
    detail::check_worker(options.worker);
    const bool is_numbered =
        options.worker.starts_with("worker_") &&
        options.worker.find_first_not_of("0123456789", std::string_view{"worker_"}.size()) == std::string::npos;
    if (options.include_workers == include_workers::one && options.num_workers > 1 && !is_numbered) {
        throw value_error("worker is \"" + options.worker +
                          "\" and include_workers is one: of several workers worker_0 writes, so name them worker_0, "
                          "worker_1, ..., or include all");
    }
    if (options.existing == existing_run::resume && options.num_workers > 1 && !options.init_step) {
        throw value_error(
            "existing is resume and init_step is not set: of several workers each has come to another "
            "step, so say at which one all go on");
    }
    if (options.num_workers < 1) {
        throw value_error("num_workers is " + std::to_string(options.num_workers) + ": a job has 1 or more");
    }
    if (options.init_step && (*options.init_step < 0 || *options.init_step > largest_step)) {
        throw value_error("init_step is " + std::to_string(*options.init_step) + ": steps are counted from 0 up to " +
                          std::to_string(largest_step));
    }
    if (options.tensorboard_interval < std::chrono::milliseconds::zero()) {
        throw value_error("tensorboard_interval is " + std::to_string(options.tensorboard_interval.count()) +
                          " ms: it must not be negative");
    }
    check(options.save_config, "save_config");
    if (options.reduction_config) {
        static_cast<void>(make_reduction_plan(*options.reduction_config));
    }
    detail::check_patterns(options.include_regex, "include_regex");
    detail::check_patterns(options.loss_regex, "loss_regex");
    for (const std::string& name : options.include_collections) {
        detail::check_name(name, "a collection in include_collections");
        detail::check_spelling(name, options);
    }
    for (auto group = options.collections.begin(); group != options.collections.end(); ++group) {
        detail::check_name(group->name, "a collection in collections");
        const std::string where = "collection \"" + group->name + "\"";
        if (std::any_of(options.collections.begin(), group,
                        [&](const collection& other) { return other.name == group->name; })) {
            throw value_error(where + " is configured twice");
        }
        detail::check_patterns(group->include_regex, where + ": include_regex");
        for (const std::string& tensor : group->tensor_names) {
            detail::check_name(tensor, where + ": a tensor in tensor_names");
        }
        if (group->reduction_config) {
            static_cast<void>(make_reduction_plan(*group->reduction_config, where + ": reduction_config"));
        }
        if (group->save_config) {
            check(*group->save_config, where + ": save_config");
        }
    }
}

}  // namespace v1
}  // namespace smdebug
