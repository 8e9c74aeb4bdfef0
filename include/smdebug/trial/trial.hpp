// A trial: one training run, opened for reading; the state of its job; guards that turn refreshing off or on.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/core/status.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/index/collection.hpp>
#include <smdebug/reduce/any_kernel.hpp>
#include <smdebug/reduce/concepts.hpp>
#include <smdebug/reduce/default_kernel.hpp>
#include <smdebug/storage/any_storage.hpp>
#include <smdebug/storage/concepts.hpp>
#include <smdebug/tensor/concepts.hpp>
#include <smdebug/tensor/event_decoder.hpp>
#include <smdebug/trial/options.hpp>
#include <smdebug/trial/tensor_handle.hpp>

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smdebug::inline v1 {

/// The state of a job.
enum class job_state : std::uint8_t {
    running,  ///< it has not ended
    stalled,  ///< it has not ended, and has written nothing for a long time: its process may have died
    ended,    ///< its end-of-job mark is there, and all that it wrote is loaded
};

/// "running", "stalled", "ended".
[[nodiscard]] constexpr std::string_view name_of(job_state state) noexcept {
    switch (state) {
        case job_state::running:
            return "running";
        case job_state::stalled:
            return "stalled";
        case job_state::ended:
            break;
    }
    return "ended";
}

namespace detail {

class rule_view;
struct trial_access;
class trial_state;

}  // namespace detail

/// One training run.  Methods and arguments are those of the Python package's Trial, in snake_case.
/// Queries answer from a catalog in memory; those that could miss new steps refresh it first, while the job is running
/// and no no_refresh guard is alive.
/// Threads:  const calls may run at once; a refresh publishes a new catalog, running queries keep theirs.
/// Lifetime: handles and values live on when the trial is gone.  Copies share everything.
class trial {
public:
    using tensor_type = tensor_handle;

    /// Opens the run that lies in `store`.
    /// Errors: value_error (options), not_found (no run here), missing_collection_files, corrupt_collections_file,
    ///         corrupt_index, timed_out (not all there within open_timeout), and what the storage throws.
    /// Cost:   a listing and a read of each index file.
    template <class Storage, class Decoder = event_decoder<>, class Kernel = default_kernel>
        requires(!std::derived_from<Storage, trial> && storage<Storage> && tensor_decoder<Decoder> &&
                 reduction_kernel<Kernel>)
    explicit trial(Storage store, trial_options options = {}, Decoder decoder = Decoder{}, Kernel kernel = Kernel{});

    /// The name given in the options, else the last part of the path.
    [[nodiscard]] std::string name() const;
    /// What the storage calls itself: a directory's path.
    [[nodiscard]] std::string path() const;
    /// Read-only even if the storage can write, unless the trial was constructed from an any_storage.
    [[nodiscard]] const any_storage& store() const noexcept;

    // Tensors ----------------------------------------------------------------------------------------------------

    /// The tensors' names, sorted: of all steps or one, of a mode, matching any of some regexes, or in a collection
    /// (by name or by the collection's own regexes).  A step, mode or collection that is unknown has none.
    /// Errors: value_error for a bad regex, and for a regex and a collection together.
    [[nodiscard]] std::vector<std::string> tensor_names(const tensor_names_options& which = {}) const;

    /// Those of `names`, in their order, that the regex or the collection of `which` selects, whether they are tensors
    /// of the run or not; its step and mode are ignored.  Errors: as tensor_names().
    [[nodiscard]] std::vector<std::string> names_among(std::vector<std::string> names,
                                                       const tensor_names_options& which) const;

    /// A handle; also for a tensor of which nothing but digests was saved.  Errors: tensor_unavailable.
    [[nodiscard]] tensor_type tensor(std::string_view name) const;
    [[nodiscard]] bool has_tensor(std::string_view name) const;

    // Steps ------------------------------------------------------------------------------------------------------

    /// The steps of a mode, ascending; by default complete ones only.
    [[nodiscard]] std::vector<step_number> steps(const steps_options& which = {}) const;

    /// The modes that steps were saved in; never GLOBAL.
    [[nodiscard]] std::vector<smdebug::mode> modes() const;

    /// A global step's mode and step in that mode; nothing for a step that was not written.
    [[nodiscard]] std::optional<smdebug::mode> mode(step_number global_step) const;
    [[nodiscard]] std::optional<step_number> mode_step(step_number global_step) const;
    /// The global step that first claimed a mode step.  A GLOBAL step stands for itself, seen or not.
    [[nodiscard]] std::optional<step_number> global_step(smdebug::mode which, step_number mode_step) const;
    /// Whether global steps were generated by the library, as for TensorBoard logs of several modes: then each step has
    /// a global number and a number in its mode; users know the latter.
    [[nodiscard]] bool steps_are_synthetic() const;
    /// The number to show for a global step: its mode's where steps are synthetic, else itself.
    [[nodiscard]] step_number shown_step(step_number global_step) const;

    /// Prefetches a global step that will be needed soon, where that is useful: a remote storage begins to fetch its
    /// event files.  Returns at once; a no-op for a step that is not in the catalog.
    void read_ahead(step_number global_step) const;

    /// Whether a step is available, may still come, or never will.
    [[nodiscard]] step_state has_passed_step(step_number step, smdebug::mode in = smdebug::mode::global) const;

    /// Waits until each of the steps can be read, regardless of no_refresh guards.
    /// Errors: step_unavailable (it was not saved), no_more_data (the job ended before it), timed_out,
    ///         stalled (give_up_after), stopped_error.
    /// Cost:   negligible while nothing changes; on a local disk a step is seen within milliseconds.
    void wait_for_steps(const std::vector<step_number>& required, const wait_options& how = {}) const;

    // Workers and collections ------------------------------------------------------------------------------------

    /// The workers of the job, sorted by name.
    [[nodiscard]] std::vector<std::string> workers() const;
    /// The workers that wrote a global step, sorted by name.
    [[nodiscard]] std::vector<std::string> workers(step_number global_step) const;
    [[nodiscard]] std::size_t num_workers() const;

    [[nodiscard]] std::map<std::string, smdebug::collection, std::less<>> collections() const;
    /// Errors: collection_unavailable.
    [[nodiscard]] smdebug::collection collection(std::string_view name) const;

    /// The values of the tensors in the collections "inputs", "labels" and "predictions" at a step, in the order of the
    /// tensors' names.
    [[nodiscard]] std::vector<tensor_value> inputs(step_number step, const read_options& where = {}) const;
    [[nodiscard]] std::vector<tensor_value> labels(step_number step, const read_options& where = {}) const;
    [[nodiscard]] std::vector<tensor_value> predictions(step_number step, const read_options& where = {}) const;

    // State ------------------------------------------------------------------------------------------------------

    /// Whether the job has ended and everything that it wrote is in the catalog.  Does not refresh: a loop that waits
    /// for it calls refresh() or steps().
    [[nodiscard]] bool loaded_all_steps() const;
    /// The state of the job, after a refresh if refreshing is on.  It is stalled when it has not ended and nothing new
    /// has come for options.stalled_after.
    [[nodiscard]] smdebug::job_state job_state() const;
    /// How long nothing new has come: since this trial last saw a new index file; before the first one, since the last
    /// step was written, if the storage knows that time, else since the opening.
    [[nodiscard]] std::chrono::milliseconds quiet_time() const;
    /// The last step that counts as complete; -1: none.
    [[nodiscard]] step_number last_complete_step() const;
    /// Whether queries look for new steps.
    [[nodiscard]] bool dynamic_refresh() const noexcept;
    /// Turns refreshing on or off until the returned object is destroyed, see no_refresh and with_refresh.
    [[nodiscard]] std::shared_ptr<void> set_refresh(bool on) const;
    /// Looks for new steps now, regardless of no_refresh guards.
    void refresh() const;
    /// Parts of the run that are not in its catalog although they exist: damaged index files that damage_policy::skip
    /// skipped; in data of other tools and archives what is damaged, unsupported, replaced or left out, see
    /// problem_kind.  A rule counts each as data that it could not read.
    [[nodiscard]] std::vector<problem> problems() const;

private:
    friend struct detail::trial_access;

    trial(any_storage store, trial_options options, detail::any_decoder decoder, detail::any_kernel kernel);

    std::shared_ptr<const detail::trial_state> state_;
    // Null: no rules use the trial.  The last trial that holds it calls its forget().
    std::shared_ptr<detail::rule_view> view_;
};

// Scope guards that turn the refreshing of trials off or on, and restore the previous setting, even on an exception.

/// A trial whose refreshing can be turned off and on.
template <class Value>
concept refreshable_trial = requires(const Value& trial) {
    { trial.set_refresh(true) } -> std::same_as<std::shared_ptr<void>>;
};

/// A vector, array or span of such trials.
template <class Range>
concept refreshable_trials = detail::input_iterable<const Range> && refreshable_trial<detail::value_in<Range>>;

namespace detail {

/// Sets refreshing on some trials for a scope.  With several guards on one trial the newest one alive decides, so
/// guards may end in any order, on any thread.  May outlive the trials.
class refresh_setting {
public:
    refresh_setting(const refresh_setting&) = delete;
    refresh_setting& operator=(const refresh_setting&) = delete;

protected:
    refresh_setting() = default;
    ~refresh_setting() = default;

    template <refreshable_trial Trial>
    void set(bool on, const Trial& run) {
        endings_.push_back(run.set_refresh(on));
    }
    template <refreshable_trials Trials>
    void set(bool on, const Trials& trials) {
        for (const auto& run : trials) {
            set(on, run);
        }
    }

private:
    std::vector<std::shared_ptr<void>> endings_;  // their destructors end the settings
};

}  // namespace detail

/// While it lives, queries on the trials answer from what is already loaded: `no_refresh guard{trial, other};`
class no_refresh : public detail::refresh_setting {
public:
    template <class... Trials>
        requires((refreshable_trial<Trials> || refreshable_trials<Trials>) && ...)
    explicit no_refresh(const Trials&... trials) {
        (set(false, trials), ...);
    }
};

/// While it lives, queries look for new steps, even inside a no_refresh: `with_refresh guard{trial};`
class with_refresh : public detail::refresh_setting {
public:
    template <class... Trials>
        requires((refreshable_trial<Trials> || refreshable_trials<Trials>) && ...)
    explicit with_refresh(const Trials&... trials) {
        (set(true, trials), ...);
    }
};

template <class Storage, class Decoder, class Kernel>
    requires(!std::derived_from<Storage, trial> && storage<Storage> && tensor_decoder<Decoder> &&
             reduction_kernel<Kernel>)
trial::trial(Storage store, trial_options options, Decoder decoder, Kernel kernel)
    : trial(any_storage{std::move(store)}, std::move(options), detail::any_decoder{std::move(decoder)},
            detail::any_kernel{std::move(kernel)}) {}

}  // namespace smdebug::inline v1

#ifndef SMDEBUG_COMPILED
#include <smdebug/trial/impl/trial.ipp>
#endif
