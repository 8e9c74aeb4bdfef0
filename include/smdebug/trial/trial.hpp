// A trial: one training run, opened for reading.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/core/function_ref.hpp>
#include <smdebug/core/problem.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/index/collection.hpp>
#include <smdebug/reduce/any_kernel.hpp>
#include <smdebug/reduce/concepts.hpp>
#include <smdebug/reduce/default_kernel.hpp>
#include <smdebug/storage/any_storage.hpp>
#include <smdebug/storage/concepts.hpp>
#include <smdebug/tensor/any_decoder.hpp>
#include <smdebug/tensor/concepts.hpp>
#include <smdebug/tensor/event_decoder.hpp>
#include <smdebug/trial/job_state.hpp>
#include <smdebug/trial/options.hpp>
#include <smdebug/trial/tensor_handle.hpp>

#include <chrono>
#include <concepts>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <typeindex>
#include <typeinfo>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {

namespace detail {

struct catalog;
class read_log;
class rule_view;
class trial_state;

}  // namespace detail

/// One training run.  Methods and arguments are those of the Python package's Trial, in snake_case.
/// Queries answer from a catalog in memory; those that could miss new steps refresh it first, while the job is running
/// and no no_refresh guard is alive.
/// Threads:  const calls may run at once; a refresh publishes a new catalog, running queries keep theirs.
/// Lifetime: handles and values live on when the trial is gone.  Copies share everything.
class trial {
public:
    using state_type = detail::trial_state;
    using tensor_type = tensor_handle;

    /// Opens the run that lies in `store`.
    /// Errors: value_error (options), not_found (no run here), missing_collection_files, collections_file_exception,
    ///         index_reader_exception, timed_out (not all there within open_timeout), and what the storage throws.
    /// Cost:   a listing and a read of each index file.
    template <class Storage, class Decoder = event_decoder<>, class Kernel = default_kernel>
        requires(!std::derived_from<Storage, trial> && storage<Storage> && tensor_decoder<Decoder> &&
                 reduction_kernel<Kernel>)
    explicit trial(Storage store, trial_options options = {}, Decoder decoder = Decoder{}, Kernel kernel = Kernel{});

    /// The name given in the options, else the last part of the path.
    [[nodiscard]] std::string name() const;
    /// What the storage calls itself: a directory's path.
    [[nodiscard]] std::string path() const;
    /// Only read, whatever the storage can, unless it was given as an any_storage.
    [[nodiscard]] const any_storage& store() const noexcept;

    // Tensors ----------------------------------------------------------------------------------------------------

    /// The tensors' names, sorted: of all steps or one, of a mode, matching any of some regexes, or in a collection
    /// (by name or by the collection's own regexes).  A step, mode or collection that is unknown has none.
    /// Errors: value_error for a bad regex, and for a regex and a collection together.
    [[nodiscard]] std::vector<std::string> tensor_names(const tensor_names_options& which = {}) const;

    /// A handle.  Errors: tensor_unavailable.
    [[nodiscard]] tensor_type tensor(std::string_view name) const;
    [[nodiscard]] bool has_tensor(std::string_view name) const;

    // Steps ------------------------------------------------------------------------------------------------------

    /// The steps of a mode, ascending; complete ones only, unless asked for all.
    [[nodiscard]] std::vector<step_number> steps(const steps_options& which = {}) const;

    /// The modes that steps were saved in; never GLOBAL.
    [[nodiscard]] std::vector<smdebug::mode> modes() const;

    /// A global step's mode and step in that mode; nothing for a step that nobody wrote.
    [[nodiscard]] std::optional<smdebug::mode> mode(step_number global_step) const;
    [[nodiscard]] std::optional<step_number> mode_step(step_number global_step) const;
    /// The global step that first claimed a mode step.  A GLOBAL step stands for itself, seen or not.
    [[nodiscard]] std::optional<step_number> global_step(smdebug::mode which, step_number mode_step) const;
    /// Whether global steps were made here, so that steps of two modes have two numbers: those of TensorBoard logs of several
    /// modes.  People know such a step by its mode and its number in it.
    [[nodiscard]] bool steps_are_synthetic() const;
    /// The number to show for a global step: its mode's where steps are synthetic, else itself.
    [[nodiscard]] step_number shown_step(step_number global_step) const;

    /// Tells the storage that a global step will be wanted soon, where that is worth its while: a storage far away then
    /// begins to fetch its event files.  Returns at once; does nothing for a step that is not in the catalog.
    void read_ahead(step_number global_step) const;

    /// Whether a step is there, may still come, or never will.
    [[nodiscard]] step_state has_passed_step(step_number step, smdebug::mode in = smdebug::mode::global) const;

    /// Waits until each of the steps can be read, whatever no_refresh guards there are.
    /// Errors: step_unavailable (it was not saved), no_more_data (the job has ended before it), timed_out, stalled
    ///         (give_up_after), stopped.
    /// Cost:   nothing to speak of while nothing changes; on a disk of this machine a step is seen within milliseconds.
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

    /// Whether the job has ended and everything that it wrote is in the catalog.  Reading it does not look for news: a
    /// loop that waits for it calls refresh(), or asks for steps().
    [[nodiscard]] bool loaded_all_steps() const;
    /// How the job stands, after a refresh if refreshing is on.  It counts as stalled when it has not ended and nothing
    /// new has come for options.stalled_after.
    [[nodiscard]] smdebug::job_state job_state() const;
    /// How long nothing new has come: since this trial last saw a new index file, and before the first since the last
    /// step was written, where the storage tells; else since the opening.
    [[nodiscard]] std::chrono::milliseconds quiet_time() const;
    /// The last step that counts as complete; -1 when there is none.
    [[nodiscard]] step_number last_complete_step() const;
    /// Whether queries look for new steps.
    [[nodiscard]] bool dynamic_refresh() const noexcept;
    /// Switches that on or off until what it returns is gone, see no_refresh and refresh.
    [[nodiscard]] std::shared_ptr<void> set_refresh(bool on) const;
    /// Looks for new steps now, whatever no_refresh guards there are.
    void refresh() const;
    /// What of the run is not in its catalog although it is there: damaged index files that damage_policy::skip went past, and
    /// of data of other tools and of archives what is damaged, not supported, replaced or left out, see problem_kind.  A rule
    /// counts each as something that it could not look at.
    [[nodiscard]] std::vector<problem> problems() const;
    /// The catalog as it is now, for scans that walk the run in file order: <smdebug/trial/catalog/catalog.hpp>.  It
    /// never changes.
    [[nodiscard]] std::shared_ptr<const detail::catalog> snapshot() const;
    /// What handles share; for guards and scans.
    [[nodiscard]] const std::shared_ptr<const state_type>& state() const noexcept;

    // Rules ------------------------------------------------------------------------------------------------------

    // For who drives rules; see rules/invoke_rules.hpp.

    /// From now on this trial and its copies ask `view` first, and log there what cannot be read: detail::view_for_rules().
    void share_with_rules(const std::shared_ptr<detail::rule_view>& view);
    /// Whether rules share it, or one is logged.
    [[nodiscard]] bool is_for_rules() const noexcept { return view_ != nullptr; }
    /// Says that rules are about to look at a step that is there, and will not look at `end` or later ones.
    void begin_rules(step_number step, std::optional<step_number> end = std::nullopt) const;
    /// Of the rule that is being called; null where no rules share this.
    [[nodiscard]] detail::read_log* rule_log() const noexcept;
    /// What make() says of the tensors of some collections and regexes at the step at hand, kept while steps hold the same
    /// tensors; null for other steps, and where nothing is shared.  Errors: those of make().
    template <class T, class Make>
    [[nodiscard]] std::shared_ptr<const T> kept_of_step(step_number step, const text_list& collections,
                                                        const text_list& regexes, Make&& make) const {
        const auto held = [&]() -> std::shared_ptr<const void> { return std::make_shared<const T>(make()); };
        return std::static_pointer_cast<const T>(kept_of_step(step, typeid(T), collections, regexes, held));
    }

protected:
    trial(any_storage store, trial_options options, detail::any_decoder decoder, detail::any_kernel kernel);

private:
    [[nodiscard]] std::shared_ptr<const void> kept_of_step(step_number step, std::type_index type,
                                                           const text_list& collections, const text_list& regexes,
                                                           function_ref<std::shared_ptr<const void>()> make) const;

    std::shared_ptr<const state_type> state_;
    // Null: no rules look at it.  The last trial that has it calls its forget().
    std::shared_ptr<detail::rule_view> view_;
};

}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/trial/impl/trial.ipp>
#endif

#include <smdebug/trial/impl/trial.tpp>
