// A trial: one training run, opened for reading, composed of three policies.
// Storage says where the bytes are, the decoder what a record means, the kernel how reductions are computed.
// Used by: users, rules, cli.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/index/collection.hpp>
#include <smdebug/index/locations.hpp>
#include <smdebug/reduce/simd_kernel.hpp>
#include <smdebug/storage/any_storage.hpp>
#include <smdebug/storage/concepts.hpp>
#include <smdebug/storage/local_storage.hpp>
#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/storage/reading_ahead.hpp>
#include <smdebug/tensor/event_decoder.hpp>
#include <smdebug/trial/job_state.hpp>
#include <smdebug/trial/name_query.hpp>
#include <smdebug/trial/options.hpp>
#include <smdebug/trial/step_wait.hpp>
#include <smdebug/trial/tensor_handle.hpp>
#include <smdebug/trial/trial_state.hpp>
#include <smdebug/trial/verify.hpp>
#include <smdebug/trial/wait.hpp>

#include <chrono>
#include <concepts>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {

/// One training run.  Methods and arguments are those of the Python package's Trial, in snake_case.
/// Queries answer from a catalog in memory; those that could miss new steps refresh it first, while the job is running
/// and no no_refresh guard is alive.
/// Threads:  const calls may run at once; a refresh publishes a new catalog, running queries keep theirs.
/// Lifetime: handles and values live on when the trial is gone.  Copies share everything.
template <storage Storage, tensor_decoder Decoder = event_decoder<>, reduction_kernel Kernel = simd_kernel<>>
class basic_trial {
public:
    using storage_type = Storage;
    using decoder_type = Decoder;
    using kernel_type = Kernel;
    using state_type = trial_state<Storage, Decoder, Kernel>;
    using tensor_type = tensor_handle<state_type>;

    /// Opens the run that lies in `store`.
    /// Errors: value_error (options), not_found (no run here), missing_collection_files, collections_file_exception,
    ///         index_reader_exception, timed_out (not all there within open_timeout), and what the storage throws.
    /// Cost:   a listing and a read of each index file.
    explicit basic_trial(Storage store, trial_options options = {}, Decoder decoder = {}, Kernel kernel = {})
        : state_(std::make_shared<const state_type>(std::move(store), std::move(options), std::move(decoder),
                                                    std::move(kernel))) {}

    /// Opens the run in the directory `path`.
    explicit basic_trial(std::string path, trial_options options = {}, Decoder decoder = {},
                         Kernel kernel = {}) requires std::constructible_from<Storage, std::string> &&
        place_prober<Storage>
        : basic_trial(Storage(std::move(path)), std::move(options), std::move(decoder), std::move(kernel)) {}

    /// The name given in the options, else the last part of the path.
    [[nodiscard]] std::string name() const {
        return state_->options().name.empty() ? std::string{locations::base_name(path())} : state_->options().name;
    }
    /// What the storage calls itself: a directory's path.
    [[nodiscard]] std::string path() const { return std::string(state_->store().name()); }
    [[nodiscard]] const storage_type& store() const noexcept { return state_->store(); }

    // Tensors ----------------------------------------------------------------------------------------------------

    /// The tensors' names, sorted: of all steps or one, of a mode, matching any of some regexes, or in a collection
    /// (by name or by the collection's own regexes).  A step, mode or collection that is unknown has none.
    /// Errors: value_error for a bad regex, and for a regex and a collection together.
    [[nodiscard]] std::vector<std::string> tensor_names(const tensor_names_options& which = {}) const {
        return query_names(which, [this] { return state_->fresh(); });
    }

    /// A handle.  Errors: tensor_unavailable.
    [[nodiscard]] tensor_type tensor(std::string_view name) const {
        if (!has_tensor(name)) {
            throw tensor_unavailable(std::string{name});
        }
        return tensor_type{state_, std::string{name}};
    }
    [[nodiscard]] bool has_tensor(std::string_view name) const {
        return state_->current()->find_tensor(name).has_value() || state_->fresh()->find_tensor(name).has_value();
    }

    // Steps ------------------------------------------------------------------------------------------------------

    /// The steps of a mode, ascending; complete ones only, unless asked for all.
    [[nodiscard]] std::vector<step_number> steps(const steps_options& which = {}) const {
        return state_->fresh()->steps_of(which.mode, which.show_incomplete_steps);
    }

    /// The modes that steps were saved in; never GLOBAL.
    [[nodiscard]] std::vector<smdebug::mode> modes() const {
        const auto from = state_->current();
        std::vector<smdebug::mode> found;
        for (const auto which : {mode::train, mode::eval, mode::predict}) {
            if (!from->claims[catalog::place_of(which)].empty()) {
                found.push_back(which);
            }
        }
        return found;
    }

    /// A global step's mode and step in that mode; nothing for a step that nobody wrote.
    [[nodiscard]] std::optional<smdebug::mode> mode(step_number global_step) const {
        const auto held = entry_of(global_step);
        return held ? std::optional{held->mode} : std::nullopt;
    }
    [[nodiscard]] std::optional<step_number> mode_step(step_number global_step) const {
        const auto held = entry_of(global_step);
        return held ? std::optional{held->mode_step} : std::nullopt;
    }
    /// The global step that first claimed a mode step.  A GLOBAL step stands for itself, seen or not.
    [[nodiscard]] std::optional<step_number> global_step(smdebug::mode which, step_number mode_step) const {
        const auto known = state_->current()->global_step(which, mode_step);
        return known ? known : state_->fresh()->global_step(which, mode_step);
    }

    /// Tells the storage that a global step will be wanted soon, where that is worth its while: a storage far away then
    /// begins to bring its event files.  Returns at once; a step that is not known yet is nobody's.
    void read_ahead(step_number global_step) const {
        if constexpr (prefetching_storage<Storage>) {
            if (!worth_reading_ahead(state_->store())) {
                return;
            }
            const auto from = state_->current();
            if (const auto* held = from->find_step(global_step)) {
                for (const catalog::file& written : held->files()) {
                    const std::string key = state_type::event_key(*from, written);
                    try {
                        static_cast<void>(!key.empty() && state_->store().read_ahead(key));
                    } catch (const error&) {
                        // Whoever reads the step will be told.
                    }
                }
            }
        }
    }

    /// Whether a step is there, may still come, or never will.
    [[nodiscard]] step_state has_passed_step(step_number step, smdebug::mode in = smdebug::mode::global) const {
        return state_->fresh()->state_of(in, step);
    }

    /// Waits until each of the steps can be read, whatever no_refresh guards there are.
    /// Errors: step_unavailable (it was not saved), no_more_data (the job has ended before it), timed_out, stalled
    ///         (give_up_after), stopped.
    /// Cost:   nothing to speak of while nothing changes; on a disk of this machine a step is seen within milliseconds.
    void wait_for_steps(const std::vector<step_number>& required, const wait_options& how = {}) const {
        step_wait<state_type> wait{*state_, how};
        for (const step_number step : required) {
            while (!wait_is_over(step, how.mode, wait)) {
                const error_context context{.where = path(), .step = step, .step_mode = how.mode};
                const std::string what = "step " + std::to_string(step) + " of mode " + std::string{name_of(how.mode)};
                if (wait.given_up()) {
                    throw stalled("gave up waiting for " + what + " of " + path() + ": nothing new has come for " +
                                      std::to_string(quiet_time().count() / 1000) +
                                      " s, and the job has not ended; its process may have died",
                                  context);
                }
                switch (wait.pause()) {
                    case wait_outcome::look_again:
                        break;
                    case wait_outcome::timed_out:
                        throw timed_out("waited for " + what + " of " + path() + ", which did not come in time",
                                        context);
                    case wait_outcome::stopped:
                        throw stopped("waiting for " + what + " was stopped", context);
                }
            }
        }
    }

    // Workers and collections ------------------------------------------------------------------------------------

    /// The workers of the job, sorted by name.
    [[nodiscard]] std::vector<std::string> workers() const { return state_->current()->job->collection_workers; }
    /// The workers that wrote a global step, sorted by name.
    [[nodiscard]] std::vector<std::string> workers(step_number global_step) const {
        auto from = state_->current();
        if (from->find_step(global_step) == nullptr) {
            from = state_->fresh();
        }
        std::vector<std::string> found;
        if (const auto* held = from->find_step(global_step)) {
            for (const catalog::file& written : held->files()) {
                found.push_back(from->workers[written.worker]);
            }
        }
        return found;
    }
    [[nodiscard]] std::size_t num_workers() const { return state_->current()->job->num_workers; }

    [[nodiscard]] std::map<std::string, smdebug::collection, std::less<>> collections() const {
        return state_->current()->job->collections;
    }
    /// Errors: collection_unavailable.
    [[nodiscard]] smdebug::collection collection(std::string_view name) const {
        const auto job = state_->current()->job;
        const auto found = job->collections.find(name);
        if (found == job->collections.end()) {
            throw no_such_collection(name, job->collections);
        }
        return found->second;
    }

    /// The values of the tensors in the collections "inputs", "labels" and "predictions" at a step, in the order of the
    /// tensors' names.
    [[nodiscard]] std::vector<tensor_value> inputs(step_number step, const read_options& where = {}) const {
        return values_in("inputs", step, where);
    }
    [[nodiscard]] std::vector<tensor_value> labels(step_number step, const read_options& where = {}) const {
        return values_in("labels", step, where);
    }
    [[nodiscard]] std::vector<tensor_value> predictions(step_number step, const read_options& where = {}) const {
        return values_in("predictions", step, where);
    }

    // State ------------------------------------------------------------------------------------------------------

    /// Whether the job has ended and everything that it wrote is in the catalog.  Reading it does not look for news: a
    /// loop that waits for it calls refresh(), or asks for steps().
    [[nodiscard]] bool loaded_all_steps() const { return state_->current()->loaded_all_steps; }
    /// How the job stands, after a refresh if refreshing is on.  It counts as stalled when it has not ended and nothing
    /// new has come for options.stalled_after.
    [[nodiscard]] smdebug::job_state job_state() const {
        if (state_->fresh()->loaded_all_steps) {
            return smdebug::job_state::ended;
        }
        return quiet_time() >= state_->options().stalled_after ? smdebug::job_state::stalled
                                                               : smdebug::job_state::running;
    }
    /// How long nothing new has come: since this trial last saw a new index file, and before the first since the last
    /// step was written, where the storage tells; else since the opening.
    [[nodiscard]] std::chrono::milliseconds quiet_time() const { return state_->quiet_time(); }
    /// The last step that counts as complete; -1 when there is none.
    [[nodiscard]] step_number last_complete_step() const { return state_->current()->last_complete_step; }
    /// Whether queries look for new steps.
    [[nodiscard]] bool dynamic_refresh() const noexcept { return state_->dynamic_refresh(); }
    /// Looks for new steps now, whatever no_refresh guards there are.
    void refresh() const { static_cast<void>(state_->refreshed()); }
    /// Damaged index files that damage_policy::skip went past.
    [[nodiscard]] std::vector<problem> problems() const { return state_->problems(); }
    /// Compares everything in the run's files that is there twice, see verify_run(): also what this trial's range
    /// leaves out, and index files that were skipped.  None: nothing that can be told is damaged. Cost: reads the whole
    /// run.
    [[nodiscard]] std::vector<difference> verify() const {
        return verify_run(state_->store(), state_->options().limits);
    }
    /// The catalog as it is now, for scans that walk the run in file order.  It never changes.
    [[nodiscard]] std::shared_ptr<const smdebug::catalog> snapshot() const { return state_->current(); }
    /// What handles share; for guards and scans.
    [[nodiscard]] const std::shared_ptr<const state_type>& state() const noexcept { return state_; }

private:
    [[nodiscard]] std::optional<catalog::step_entry> entry_of(step_number global_step) const {
        auto from = state_->current();
        const auto* held = from->find_step(global_step);
        if (held == nullptr) {
            from = state_->fresh();
            held = from->find_step(global_step);
        }
        return held != nullptr ? std::optional{*held} : std::nullopt;
    }

    [[nodiscard]] bool wait_is_over(step_number step, smdebug::mode in, step_wait<state_type>& wait) const {
        // What is there already needs no look at the storage.
        if (state_->current()->state_of(in, step) == step_state::available) {
            return true;
        }
        const auto from = wait.look();
        switch (from->state_of(in, step)) {
            case step_state::available:
                return true;
            case step_state::not_yet_available:
                return false;
            case step_state::unavailable:
                break;
        }
        const step_number last = from->last_step_of(in);
        if (from->loaded_all_steps && step >= last) {
            throw no_more_data(step, in, last);
        }
        throw step_unavailable(step, in);
    }

    [[nodiscard]] std::vector<tensor_value> values_in(const char* group, step_number step,
                                                      const read_options& where) const {
        std::vector<tensor_value> found;
        for (const std::string& held : tensor_names({.collection = group, .step = step, .mode = where.mode})) {
            found.push_back(tensor(held).value(step, {.mode = where.mode, .worker = where.worker}));
        }
        return found;
    }

    std::shared_ptr<const state_type> state_;
};

/// A run in a directory of this machine; a run in memory; a run wherever its path says.
using local_trial = basic_trial<local_storage>;
using memory_trial = basic_trial<memory_storage>;
using trial = basic_trial<any_storage>;

}  // namespace v1
}  // namespace smdebug
