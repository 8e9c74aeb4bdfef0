// Options of a hook: where it saves, what, when, and how; the collections that the Python package has by name.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/index/collection.hpp>
#include <smdebug/record/payload_check.hpp>
#include <smdebug/storage/any_storage.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smdebug::inline v1 {
namespace detail::known_collections {

/// A collection of the Python package, and the regex of its tensors; if empty, tensors are added by name.
/// Source: the collections files that the package writes for PyTorch and XGBoost, and its list of names for TensorFlow.
struct known {
    std::string_view name;
    std::string_view include_regex;
    bool built_in;  ///< exists from the start; the others once named
};

inline constexpr std::array<known, 14> list{{
    {"all", "", true},
    {"default", "", true},
    {"weights", "^(?!gradient).*weight", true},
    {"biases", "^(?!gradient).*bias", true},
    {"gradients", "^gradient", true},
    {"losses", "[Ll]oss_(?!input).*output", true},
    {"hyperparameters", "^hyperparameters/", false},
    {"metrics", "^[a-zA-z]+-[a-zA-z0-9]+$", false},
    {"predictions", "^predictions$", false},
    {"labels", "^labels$", false},
    {"feature_importance", "^feature_importance/", false},
    {"average_shap", "^average_shap/", false},
    {"full_shap", "^full_shap/", false},
    {"trees", "^trees/", false},
}};

/// Collections that the package creates in one of its frameworks, without a regex.
inline constexpr std::array<std::string_view, 6> of_frameworks{
    "inputs", "outputs", "layers", "optimizer_variables", "sm_metrics", "tensorflow_summaries"};

/// The collection that is always saved.
inline constexpr std::string_view saved_by_default = "losses";

/// Names of losses outside the package's frameworks: "loss", "train_loss", "val/loss", "TripletLoss"; the gradient of a
/// loss counts as a gradient.
inline constexpr std::string_view loss_regex = "^(?!gradient)(?:(?:.*[^A-Za-z])?(?:loss|LOSS)|.*Loss)$";

/// The regexes of the collection `name`; empty if it is unknown.
[[nodiscard]] std::vector<std::string> regexes_of(std::string_view name);

/// Whether the package creates a collection of that name itself, in one of its frameworks.
[[nodiscard]] constexpr bool is_known(std::string_view name) noexcept {
    return std::any_of(list.begin(), list.end(), [&](const known& k) { return k.name == name; }) ||
           std::find(of_frameworks.begin(), of_frameworks.end(), name) != of_frameworks.end();
}

/// The names for which is_known is true.
[[nodiscard]] std::vector<std::string> names();

/// Whether its tensors are single numbers: saved unchanged, without reductions and histograms, whatever the config.
[[nodiscard]] constexpr bool holds_scalars(std::string_view name) noexcept {
    return name == "losses" || name == "metrics" || name == "feature_importance" || name == "average_shap" ||
           name == "sm_metrics" || name == "tensorflow_summaries";
}

/// Whether its tensors are not saved in EVAL and PREDICT: their values are stale, left over from the preceding TRAIN
/// steps.
[[nodiscard]] constexpr bool is_of_training(std::string_view name) noexcept {
    return name == "gradients" || name == "optimizer_variables";
}

}  // namespace detail::known_collections

inline constexpr std::array<mode, 4> all_modes{mode::train, mode::eval, mode::predict, mode::global};

/// The index of a mode in all_modes, and in arrays with an element for each mode.
[[nodiscard]] constexpr std::size_t place_of(mode which) noexcept { return static_cast<std::size_t>(which) - 1; }

/// The settings of single modes, used as a std::map: `{{mode::eval, {.save_interval = 1}}}`, `modes[mode::eval]`.
/// Not a std::map: g++ 12 warns, wrongly, of one in a temporary's member.
class mode_settings {
public:
    using value_type = std::pair<mode, save_config_mode>;

    mode_settings() = default;
    mode_settings(std::initializer_list<value_type> list) : list_(list) {}

    [[nodiscard]] save_config_mode& operator[](mode which);
    /// Null where the mode has none of its own.
    [[nodiscard]] const save_config_mode* find(mode which) const noexcept;
    [[nodiscard]] auto begin() const noexcept { return list_.begin(); }
    [[nodiscard]] auto end() const noexcept { return list_.end(); }
    [[nodiscard]] std::size_t size() const noexcept { return list_.size(); }
    [[nodiscard]] bool empty() const noexcept { return list_.empty(); }

private:
    std::vector<value_type> list_ = {};
};

/// When tensors are saved.  Steps are counted in the current mode; in GLOBAL, the default, for the job.
struct save_config {
    std::int64_t save_interval = 500;            ///< saves the steps that it divides, including 0
    std::vector<step_number> save_steps = {};    ///< saves these, too, even outside of the interval
    std::optional<step_number> start_step = {};  ///< the interval saves nothing before this step
    std::optional<step_number> end_step = {};    ///< exclusive; 0 disables the interval
    mode_settings modes = {};                    ///< a mode's own settings, which replace all of the others

    /// The settings of a mode.
    [[nodiscard]] save_config_mode in(mode which) const;

    /// All four modes in full: for use as a collection's config.
    operator std::map<mode, save_config_mode>() const;
};

/// Whether a step is to be saved: it is in save_steps, or it lies in [start_step, end_step) and save_interval divides
/// it.  If end_step is not after start_step, only save_steps are saved.  An interval below 1, which check() refuses,
/// saves nothing.
[[nodiscard]] bool is_due(const save_config_mode& when, step_number mode_step);

/// Throws a value_error that begins with `where` if `when` is not valid.
void check(const save_config_mode& when, const std::string& where);

/// Throws such an error if the settings of any mode are not valid.
void check(const std::map<mode, save_config_mode>& config, const std::string& where);

void check(const save_config& config, const std::string& where);

/// Which workers of a job write: the first one alone, or all.
enum class include_workers : std::uint8_t { one, all };

/// How many threads call a hook at once: one, so that a second one is refused, as a mistake; or many, which wait for
/// each other.
enum class hook_threads : std::uint8_t { one, many };

/// What to do if the run already exists: refuse it, or continue after its last step.
enum class existing_run : std::uint8_t { refuse, resume };

/// What a failed write does: throw, or lose that step, call on_drop, and let the training continue.
enum class failure_policy : std::uint8_t { raise, drop };

/// What a full pool does: block the training, or drop the tensor and call on_drop.
enum class full_pool : std::uint8_t { wait, drop };

/// Writing on a thread of the hook, beside the training.  Finished steps are also written when exit(), or the end of
/// main, ends the program; a signal, abort() or _exit() loses pending writes.
struct background_options {
    std::size_t pool_bytes = 0;  ///< for pending writes; with 0 writes are synchronous, without a thread
    full_pool when_full = full_pool::wait;
};

/// The largest number that a step may be given: half the maximum, so later steps cannot overflow.
inline constexpr step_number largest_step = std::numeric_limits<step_number>::max() / 2;

/// Options of a hook.  Names and meanings are those of the Python package.
struct hook_options {
    /// Where the run goes: a folder, "s3://bucket/prefix", or whatever the storage makes of it.
    std::string out_dir = {};
    /// When collections without a save_config of their own are saved.
    smdebug::save_config save_config = {};
    /// What is saved of tensors in collections without a reduction_config of their own; if unset, the values are.
    std::optional<smdebug::reduction_config> reduction_config = {};
    /// Collections besides the built-in ones (all, default, weights, biases, gradients, losses), or settings for these:
    /// a collection with neither regexes nor names keeps the built-in ones, otherwise its own replace them (from JSON,
    /// as in the package, regexes are added).  To be saved it must be included, too.  A collection with neither, and
    /// with a name that is not built in, saves only tensors put into it by name: see
    /// basic_hook::unmatched_collections().
    std::vector<collection> collections = {};
    /// Names of the collections to save, besides `losses`, which is always saved.  `all` includes every collection.  A
    /// name that is neither built in nor in `collections` waits for tensors that are put into it by name; one that
    /// resembles an existing name is refused as misspelt.
    std::vector<std::string> include_collections = {};
    /// Tensors whose names match one of these are saved, in the collection `default`.
    std::vector<std::string> include_regex = {};
    /// Saves every tensor, in the collection `all`.
    bool save_all = false;
    /// Names of collections whose tensors get a digest when they are due: eight bytes that stand for dtype, shape and
    /// bits (digest_of()), saved as the int64 scalar "digest/<tensor>" in the collection `digests`.  A collection that
    /// is not included saves nothing else.  `all` stands for every tensor.  Text has no digest.
    /// Names are checked as in include_collections.  Not in the Python package, which reads the scalars.
    std::vector<std::string> digests = {};
    /// Tensors whose names match one of these are in `losses`, besides the names that frameworks use, such as
    /// "CrossEntropyLoss_output_0", unless `collections` gives `losses` its own regexes or names.  Not in the Python
    /// package: options from JSON leave it empty.
    std::vector<std::string> loss_regex = {std::string{detail::known_collections::loss_regex}};

    /// Whether this worker writes even if it is not the first one, `worker_0`.
    smdebug::include_workers include_workers = smdebug::include_workers::one;
    /// This worker's name; TensorFlow device names such as "/job:worker/replica:0/task:1/device:GPU:0" are accepted.
    /// If empty, it is "worker_<rank>" where a launcher has set a rank and how many there are (OMPI_COMM_WORLD_RANK and
    /// _SIZE, PMI_RANK and _SIZE, SLURM_PROCID and SLURM_NTASKS, RANK and WORLD_SIZE: the first pair that is set), as a
    /// note says; else "worker_0".
    std::string worker = {};
    /// How many workers the job has.  If it is 1, and the rank is the launcher's, as many as the launcher says.
    std::int64_t num_workers = 1;
    /// With `many`, save_tensor() and should_save() may be called by several threads at once, such as OpenMP's; the
    /// tensors of a step are in the order of the calls.  end_step() is for one thread, after the others.
    hook_threads threads = hook_threads::one;
    /// Decides and counts as usual, writes nothing.
    bool dry_run = false;

    /// What to do if the run already exists.
    existing_run existing = existing_run::refuse;
    /// The first global step; if unset, 0, or where a resumed run continues.  In a new run all modes begin at this
    /// number, as in the Python package; in a resumed one each mode continues after its last step.  Unsaved steps
    /// before this number are attributed to the mode with the most steps.
    std::optional<step_number> init_step = {};

    /// The footer of each record: the package's constant, or a true checksum, which our reader and TensorBoard verify
    /// and the Python package does not read.
    record::footer_kind payload_checksum = record::footer_kind::package_constant;
    /// How durable a step is when end_step() returns, or with a background thread flush().  `on_disk`, if the storage
    /// can promise it: the files, and the names of all folders above them, are on the disk; a step that is being
    /// replaced may be missing.      Cost: some six syncs a step, which wait for the disk.
    smdebug::durability durability = smdebug::durability::cached;
    /// Writing beside the training.
    background_options background = {};
    /// What a failed write does.
    failure_policy on_failure = failure_policy::raise;
    /// Called with a sentence on each loss under the policies `drop`.  On the thread that calls the hook; its
    /// exceptions are ignored, and it is not called recursively.
    std::function<void(const std::string&)> on_drop = {};
    /// Called when the hook is closed, with a sentence for each thing that was probably meant to be saved and was not:
    /// tensors that no saved collection holds, collections that no tensor can belong to, a run without a step.  Unset:
    /// written to standard error.  Its exceptions are ignored.
    std::function<void(const std::string&)> on_note = {};
    /// Sentences on these options that on_note receives first: for JSON, the unknown keys.
    std::vector<std::string> notes = {};

    /// Writes scalars and histograms for TensorBoard, too.
    bool export_tensorboard = false;
    /// The destination, as in out_dir; "tensorboard" in the run if empty.  A destination outside the run is written
    /// before calls return, even with a background thread.
    std::string tensorboard_dir = {};
    /// The longest time before data for TensorBoard become visible.
    std::chrono::milliseconds tensorboard_interval{30000};

    /// Marks the job as ended when the hook is closed.
    bool mark_end_of_job = true;
};

/// Throws value_error, in a sentence that names the option and its value, unless the options are usable.
void check(const hook_options& options);

namespace detail {

// File names have at most 255 bytes: a step's number, this name, and an extension, or the temporary suffix of an
// unfinished file.
inline constexpr std::size_t longest_worker = 200;

void check_name(const std::string& name, const std::string& where);

/// The options with the worker's name, and how many there are, from the launcher's environment, unless they have a
/// name.
[[nodiscard]] hook_options with_rank(hook_options options);

}  // namespace detail

/// Counts since a hook was made.  A dry run counts what would have been written.
struct hook_counters {
    std::uint64_t steps = 0;            ///< steps written, or handed to the background
    std::uint64_t tensors = 0;          ///< tensors of these steps, each counted once a step
    std::uint64_t bytes = 0;            ///< bytes of their event and index files
    std::uint64_t dropped_tensors = 0;  ///< tensors dropped for lack of room
    std::uint64_t lost_steps = 0;       ///< steps that could not be written, or were abandoned
    std::string last_loss = {};         ///< the reason of the last loss
    /// Names of tensors offered, by should_save() or a save, at due steps that no saved collection holds: see
    /// basic_hook::unsaved_tensors().  Up to the last finished step.
    std::uint64_t unsaved_tensors = 0;
    /// Keys of unfinished S3 uploads of an earlier, killed process of this worker.  S3 keeps and bills their parts;
    /// they were discarded when the hook was made.
    std::vector<std::string> removed_uploads = {};
};

}  // namespace smdebug::inline v1

namespace smdebug::inline v1::detail {

/// Throws value_error for a regex that does not compile; `where` names the option.
void check_patterns(const std::vector<std::string>& patterns, const std::string& where);

}  // namespace smdebug::inline v1::detail

#ifndef SMDEBUG_COMPILED
#include <smdebug/hook/impl/hook_options.ipp>
#endif
