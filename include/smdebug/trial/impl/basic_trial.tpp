// The bodies of <smdebug/trial/basic_trial.hpp> that are templates.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/index/locations.hpp>
#include <smdebug/storage/abilities.hpp>
#include <smdebug/trial/basic_trial.hpp>
#include <smdebug/trial/catalog/catalog.hpp>
#include <smdebug/trial/catalog/name_query.hpp>
#include <smdebug/trial/load/step_wait.hpp>
#include <smdebug/trial/load/wait.hpp>
#include <smdebug/trial/read/trial_state.hpp>
#include <smdebug/trial/verify.hpp>

#include <utility>

namespace smdebug {
inline namespace v1 {
namespace detail {

template <class State>
[[nodiscard]] std::optional<catalog::step_entry> entry_of(const State& state, step_number global_step) {
    auto from = state.current();
    const auto* entry = from->find_step(global_step);
    if (entry == nullptr) {
        from = state.fresh();
        entry = from->find_step(global_step);
    }
    return entry != nullptr ? std::optional{*entry} : std::nullopt;
}

/// Whether a step is there.  Errors: no_more_data, step_unavailable where it never will be.
template <class State>
[[nodiscard]] bool wait_is_over(const State& state, step_number step, mode in, step_wait<State>& wait) {
    // What is there already needs no look at the storage.
    if (state.current()->state_of(in, step) == step_state::available) {
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

template <class Trial>
[[nodiscard]] std::vector<tensor_value> values_in(const Trial& run, const char* group, step_number step,
                                                  const read_options& where) {
    std::vector<tensor_value> values;
    for (const std::string& name : run.tensor_names({.collection = group, .step = step, .mode = where.mode})) {
        values.push_back(run.tensor(name).value(step, {.mode = where.mode, .worker = where.worker}));
    }
    return values;
}

}  // namespace detail

template <storage Storage, tensor_decoder Decoder, reduction_kernel Kernel>
basic_trial<Storage, Decoder, Kernel>::basic_trial(Storage store, trial_options options, Decoder decoder, Kernel kernel)
    : state_(std::make_shared<const state_type>(std::move(store), std::move(options), std::move(decoder),
                                                std::move(kernel))) {}

template <storage Storage, tensor_decoder Decoder, reduction_kernel Kernel>
basic_trial<Storage, Decoder, Kernel>::basic_trial(std::string path, trial_options options, Decoder decoder,
                                                   Kernel kernel)
    requires std::constructible_from<Storage, std::string> && place_prober<Storage>
    : basic_trial(Storage(std::move(path)), std::move(options), std::move(decoder), std::move(kernel)) {}

template <storage Storage, tensor_decoder Decoder, reduction_kernel Kernel>
std::string basic_trial<Storage, Decoder, Kernel>::name() const {
    return state_->options().name.empty() ? std::string{detail::locations::base_name(path())} : state_->options().name;
}

template <storage Storage, tensor_decoder Decoder, reduction_kernel Kernel>
std::string basic_trial<Storage, Decoder, Kernel>::path() const {
    return std::string(state_->store().name());
}

template <storage Storage, tensor_decoder Decoder, reduction_kernel Kernel>
const typename basic_trial<Storage, Decoder, Kernel>::storage_type& basic_trial<Storage, Decoder, Kernel>::store()
    const noexcept {
    return state_->store();
}

template <storage Storage, tensor_decoder Decoder, reduction_kernel Kernel>
std::vector<std::string> basic_trial<Storage, Decoder, Kernel>::tensor_names(const tensor_names_options& which) const {
    return detail::query_names(which, [this] { return state_->fresh(); });
}

template <storage Storage, tensor_decoder Decoder, reduction_kernel Kernel>
typename basic_trial<Storage, Decoder, Kernel>::tensor_type basic_trial<Storage, Decoder, Kernel>::tensor(
    std::string_view name) const {
    if (!has_tensor(name)) {
        throw tensor_unavailable(std::string{name}, state_->names_near(name));
    }
    return tensor_type{state_, std::string{name}};
}

template <storage Storage, tensor_decoder Decoder, reduction_kernel Kernel>
bool basic_trial<Storage, Decoder, Kernel>::has_tensor(std::string_view name) const {
    return state_->current()->find_tensor(name).has_value() || state_->fresh()->find_tensor(name).has_value();
}

template <storage Storage, tensor_decoder Decoder, reduction_kernel Kernel>
std::vector<step_number> basic_trial<Storage, Decoder, Kernel>::steps(const steps_options& which) const {
    return state_->fresh()->steps_of(which.mode, which.show_incomplete_steps);
}

template <storage Storage, tensor_decoder Decoder, reduction_kernel Kernel>
std::vector<smdebug::mode> basic_trial<Storage, Decoder, Kernel>::modes() const {
    const auto from = state_->current();
    std::vector<smdebug::mode> saved;
    for (const auto which : {mode::train, mode::eval, mode::predict}) {
        if (!from->mode_steps[detail::catalog::place_of(which)].empty()) {
            saved.push_back(which);
        }
    }
    return saved;
}

template <storage Storage, tensor_decoder Decoder, reduction_kernel Kernel>
std::optional<smdebug::mode> basic_trial<Storage, Decoder, Kernel>::mode(step_number global_step) const {
    const auto entry = detail::entry_of(*state_, global_step);
    return entry ? std::optional{entry->mode} : std::nullopt;
}

template <storage Storage, tensor_decoder Decoder, reduction_kernel Kernel>
std::optional<step_number> basic_trial<Storage, Decoder, Kernel>::mode_step(step_number global_step) const {
    const auto entry = detail::entry_of(*state_, global_step);
    return entry ? std::optional{entry->mode_step} : std::nullopt;
}

template <storage Storage, tensor_decoder Decoder, reduction_kernel Kernel>
std::optional<step_number> basic_trial<Storage, Decoder, Kernel>::global_step(smdebug::mode which,
                                                                              step_number mode_step) const {
    const auto known = state_->current()->global_step(which, mode_step);
    return known ? known : state_->fresh()->global_step(which, mode_step);
}

template <storage Storage, tensor_decoder Decoder, reduction_kernel Kernel>
bool basic_trial<Storage, Decoder, Kernel>::steps_are_synthetic() const {
    return state_->current()->steps_are_synthetic;
}

template <storage Storage, tensor_decoder Decoder, reduction_kernel Kernel>
step_number basic_trial<Storage, Decoder, Kernel>::shown_step(step_number global_step) const {
    return state_->current()->shown_step_of(global_step);
}

template <storage Storage, tensor_decoder Decoder, reduction_kernel Kernel>
void basic_trial<Storage, Decoder, Kernel>::read_ahead(step_number global_step) const {
    if constexpr (prefetching_storage<Storage>) {
        if (!abilities_of(state_->store()).reads_ahead) {
            return;
        }
        const auto from = state_->current();
        if (const auto* entry = from->find_step(global_step)) {
            for (const detail::catalog::file& written : entry->files()) {
                const std::string key = state_type::event_key(*from, written);
                try {
                    static_cast<void>(!key.empty() && state_->store().read_ahead(key));
                } catch (const error&) {
                    // The error comes again when the step is read.
                }
            }
        }
    }
}

template <storage Storage, tensor_decoder Decoder, reduction_kernel Kernel>
step_state basic_trial<Storage, Decoder, Kernel>::has_passed_step(step_number step, smdebug::mode in) const {
    return state_->fresh()->state_of(in, step);
}

template <storage Storage, tensor_decoder Decoder, reduction_kernel Kernel>
void basic_trial<Storage, Decoder, Kernel>::wait_for_steps(const std::vector<step_number>& required,
                                                           const wait_options& how) const {
    detail::step_wait<state_type> wait{*state_, how};
    for (const step_number step : required) {
        while (!detail::wait_is_over(*state_, step, how.mode, wait)) {
            const error_context context{.where = path(), .step = step, .step_mode = how.mode};
            const std::string what = "step " + std::to_string(step) + " of mode " + std::string{name_of(how.mode)};
            if (wait.given_up()) {
                throw stalled("gave up waiting for " + what + " of " + path() + ": nothing new has come for " +
                                  std::to_string(quiet_time().count() / 1000) +
                                  " s, and the job has not ended; its process may have died",
                              context);
            }
            switch (wait.pause()) {
                case detail::wait_outcome::look_again:
                    break;
                case detail::wait_outcome::timed_out:
                    throw timed_out("waited for " + what + " of " + path() + ", which did not come in time", context);
                case detail::wait_outcome::stopped:
                    throw stopped("waiting for " + what + " was stopped", context);
            }
        }
    }
}

template <storage Storage, tensor_decoder Decoder, reduction_kernel Kernel>
std::vector<std::string> basic_trial<Storage, Decoder, Kernel>::workers() const {
    return state_->current()->job->collection_workers;
}

template <storage Storage, tensor_decoder Decoder, reduction_kernel Kernel>
std::vector<std::string> basic_trial<Storage, Decoder, Kernel>::workers(step_number global_step) const {
    auto from = state_->current();
    if (from->find_step(global_step) == nullptr) {
        from = state_->fresh();
    }
    std::vector<std::string> names;
    if (const auto* entry = from->find_step(global_step)) {
        for (const detail::catalog::file& written : entry->files()) {
            names.push_back(from->workers[written.worker]);
        }
    }
    return names;
}

template <storage Storage, tensor_decoder Decoder, reduction_kernel Kernel>
std::size_t basic_trial<Storage, Decoder, Kernel>::num_workers() const {
    return state_->current()->job->num_workers;
}

template <storage Storage, tensor_decoder Decoder, reduction_kernel Kernel>
std::map<std::string, smdebug::collection, std::less<>> basic_trial<Storage, Decoder, Kernel>::collections() const {
    return state_->current()->job->collections;
}

template <storage Storage, tensor_decoder Decoder, reduction_kernel Kernel>
smdebug::collection basic_trial<Storage, Decoder, Kernel>::collection(std::string_view name) const {
    const auto job = state_->current()->job;
    const auto group = job->collections.find(name);
    if (group == job->collections.end()) {
        throw detail::no_such_collection(name, job->collections);
    }
    return group->second;
}

template <storage Storage, tensor_decoder Decoder, reduction_kernel Kernel>
std::vector<tensor_value> basic_trial<Storage, Decoder, Kernel>::inputs(step_number step,
                                                                        const read_options& where) const {
    return detail::values_in(*this, "inputs", step, where);
}

template <storage Storage, tensor_decoder Decoder, reduction_kernel Kernel>
std::vector<tensor_value> basic_trial<Storage, Decoder, Kernel>::labels(step_number step,
                                                                        const read_options& where) const {
    return detail::values_in(*this, "labels", step, where);
}

template <storage Storage, tensor_decoder Decoder, reduction_kernel Kernel>
std::vector<tensor_value> basic_trial<Storage, Decoder, Kernel>::predictions(step_number step,
                                                                             const read_options& where) const {
    return detail::values_in(*this, "predictions", step, where);
}

template <storage Storage, tensor_decoder Decoder, reduction_kernel Kernel>
bool basic_trial<Storage, Decoder, Kernel>::loaded_all_steps() const {
    return state_->current()->loaded_all_steps;
}

template <storage Storage, tensor_decoder Decoder, reduction_kernel Kernel>
smdebug::job_state basic_trial<Storage, Decoder, Kernel>::job_state() const {
    if (state_->fresh()->loaded_all_steps) {
        return smdebug::job_state::ended;
    }
    return quiet_time() >= state_->options().stalled_after ? smdebug::job_state::stalled : smdebug::job_state::running;
}

template <storage Storage, tensor_decoder Decoder, reduction_kernel Kernel>
std::chrono::milliseconds basic_trial<Storage, Decoder, Kernel>::quiet_time() const {
    return state_->quiet_time();
}

template <storage Storage, tensor_decoder Decoder, reduction_kernel Kernel>
step_number basic_trial<Storage, Decoder, Kernel>::last_complete_step() const {
    return state_->current()->last_complete_step;
}

template <storage Storage, tensor_decoder Decoder, reduction_kernel Kernel>
bool basic_trial<Storage, Decoder, Kernel>::dynamic_refresh() const noexcept {
    return state_->dynamic_refresh();
}

template <storage Storage, tensor_decoder Decoder, reduction_kernel Kernel>
std::shared_ptr<void> basic_trial<Storage, Decoder, Kernel>::set_refresh(bool on) const {
    const auto number = state_->begin_refresh_setting(on);
    // The deleter ends the setting.  It is called even where allocating the shared_ptr's control block fails.
    return {nullptr, [state = state_, number](void*) { state->end_refresh_setting(number); }};
}

template <storage Storage, tensor_decoder Decoder, reduction_kernel Kernel>
void basic_trial<Storage, Decoder, Kernel>::refresh() const {
    static_cast<void>(state_->refreshed());
}

template <storage Storage, tensor_decoder Decoder, reduction_kernel Kernel>
std::vector<problem> basic_trial<Storage, Decoder, Kernel>::problems() const {
    return state_->problems();
}

template <storage Storage, tensor_decoder Decoder, reduction_kernel Kernel>
std::vector<difference> basic_trial<Storage, Decoder, Kernel>::verify() const {
    return verify_run(state_->store(), state_->options().limits);
}

template <storage Storage, tensor_decoder Decoder, reduction_kernel Kernel>
std::shared_ptr<const detail::catalog> basic_trial<Storage, Decoder, Kernel>::snapshot() const {
    return state_->current();
}

template <storage Storage, tensor_decoder Decoder, reduction_kernel Kernel>
const std::shared_ptr<const typename basic_trial<Storage, Decoder, Kernel>::state_type>&
basic_trial<Storage, Decoder, Kernel>::state() const noexcept {
    return state_;
}

}  // namespace v1
}  // namespace smdebug
