// The bodies of <smdebug/trial/trial.hpp>.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/index/locations.hpp>
#include <smdebug/storage/any_storage.hpp>
#include <smdebug/trial/catalog/catalog.hpp>
#include <smdebug/trial/load/wait.hpp>
#include <smdebug/trial/read/selected_tensors.hpp>
#include <smdebug/trial/read/trial_state.hpp>
#include <smdebug/trial/selection.hpp>
#include <smdebug/trial/shared/rule_view.hpp>
#include <smdebug/trial/trial.hpp>
#include <smdebug/trial/trial_access.hpp>

#include <utility>

namespace smdebug::inline v1 {
namespace detail {

[[nodiscard]] inline std::optional<catalog::step_entry> entry_of(const trial_state& state, step_number global_step) {
    auto from = state.current();
    const auto* entry = from->find_step(global_step);
    if (entry == nullptr) {
        from = state.fresh();
        entry = from->find_step(global_step);
    }
    return entry != nullptr ? std::optional{*entry} : std::nullopt;
}

/// Whether a step is available.  Errors: no_more_data, step_unavailable if it never will be.
[[nodiscard]] inline bool wait_is_over(const trial_state& state, step_number step, mode in, step_wait& wait) {
    // A step that is available already needs no look at the storage.
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

[[nodiscard]] inline std::vector<tensor_value> values_in(const trial& run, const char* group, step_number step,
                                                         const read_options& where) {
    std::vector<tensor_value> values;
    for (const std::string& name : run.tensor_names({.collection = group, .step = step, .mode = where.mode})) {
        values.push_back(run.tensor(name).value(step, {.mode = where.mode, .worker = where.worker}));
    }
    return values;
}

}  // namespace detail

SMDEBUG_INLINE trial::trial(any_storage store, trial_options options, detail::any_decoder decoder,
                            detail::any_kernel kernel)
    : state_(std::make_shared<const detail::trial_state>(std::move(store), std::move(options), std::move(decoder),
                                                         std::move(kernel))) {}

SMDEBUG_INLINE const std::shared_ptr<const detail::trial_state>& detail::trial_access::state(
    const trial& run) noexcept {
    return run.state_;
}

SMDEBUG_INLINE std::shared_ptr<const detail::catalog> detail::catalog_of(const trial& run) {
    return state_of(run)->current();
}

SMDEBUG_INLINE void detail::trial_access::share_with_rules(trial& run, const std::shared_ptr<rule_view>& view) {
    if (view == nullptr) {
        return run.view_.reset();
    }
    run.view_ = std::shared_ptr<rule_view>{view.get(), [held = view](rule_view*) { held->forget(); }};
}

SMDEBUG_INLINE void detail::trial_access::begin_rules(const trial& run, step_number step,
                                                      std::optional<step_number> end) {
    if (run.view_ != nullptr) {
        run.view_->begin_step(*run.state_->current(), step, end);
    }
}

SMDEBUG_INLINE detail::read_log* detail::trial_access::rule_log(const trial& run) noexcept {
    return run.view_ != nullptr ? &run.view_->log() : nullptr;
}

SMDEBUG_INLINE std::shared_ptr<const void> detail::trial_access::cached_for_step(
    const trial& run, step_number step, std::type_index type, const text_list& collections, const text_list& regexes,
    function_ref<std::shared_ptr<const void>()> make) {
    return run.view_ != nullptr ? run.view_->cached_for_step(step, type, collections, regexes, make) : nullptr;
}

SMDEBUG_INLINE std::string trial::name() const {
    return state_->options().name.empty() ? std::string{detail::locations::base_name(path())} : state_->options().name;
}

SMDEBUG_INLINE std::string trial::path() const { return state_->store().name(); }

SMDEBUG_INLINE const any_storage& trial::store() const noexcept { return state_->store(); }

SMDEBUG_INLINE std::vector<std::string> trial::tensor_names(const tensor_names_options& which) const {
    const auto ask = [&] { return detail::query_names(which, [this] { return state_->fresh(); }); };
    return view_ != nullptr ? view_->tensor_names(which, ask) : ask();
}

SMDEBUG_INLINE std::vector<std::string> trial::names_among(std::vector<std::string> names,
                                                           const tensor_names_options& which) const {
    return detail::names_among(std::move(names), which, *state_->current());
}

SMDEBUG_INLINE tensor_handle trial::tensor(std::string_view name) const {
    if (!has_tensor(name) && !state_->current()->find_digest_of(name)) {
        throw tensor_unavailable(std::string{name}, state_->names_near(name));
    }
    return tensor_handle{state_, std::string{name}, view_ != nullptr ? view_->shared_from_this() : nullptr};
}

SMDEBUG_INLINE bool trial::has_tensor(std::string_view name) const {
    return state_->current()->find_tensor(name).has_value() || state_->fresh()->find_tensor(name).has_value();
}

SMDEBUG_INLINE std::vector<step_number> trial::steps(const steps_options& which) const {
    return state_->fresh()->steps_of(which.mode, which.show_incomplete_steps);
}

SMDEBUG_INLINE std::vector<smdebug::mode> trial::modes() const {
    const auto from = state_->current();
    std::vector<smdebug::mode> saved;
    for (const auto which : {mode::train, mode::eval, mode::predict}) {
        if (!from->mode_steps[detail::catalog::place_of(which)].empty()) {
            saved.push_back(which);
        }
    }
    return saved;
}

SMDEBUG_INLINE std::optional<smdebug::mode> trial::mode(step_number global_step) const {
    const auto entry = detail::entry_of(*state_, global_step);
    return entry ? std::optional{entry->mode} : std::nullopt;
}

SMDEBUG_INLINE std::optional<step_number> trial::mode_step(step_number global_step) const {
    const auto entry = detail::entry_of(*state_, global_step);
    return entry ? std::optional{entry->mode_step} : std::nullopt;
}

SMDEBUG_INLINE std::optional<step_number> trial::global_step(smdebug::mode which, step_number mode_step) const {
    const auto known = state_->current()->global_step(which, mode_step);
    return known ? known : state_->fresh()->global_step(which, mode_step);
}

SMDEBUG_INLINE bool trial::steps_are_synthetic() const { return state_->current()->steps_are_synthetic; }

SMDEBUG_INLINE step_number trial::shown_step(step_number global_step) const {
    return state_->current()->shown_step_of(global_step);
}

SMDEBUG_INLINE void trial::read_ahead(step_number global_step) const {
    const bool is_fetched = view_ != nullptr && view_->fetches_files();
    if (is_fetched || !state_->store().abilities().reads_ahead) {
        return;
    }
    const auto from = state_->current();
    if (const auto* entry = from->find_step(global_step)) {
        for (const detail::catalog::file& written : entry->files()) {
            if (!from->layout_of(written).is_in_objects()) {
                continue;
            }
            const std::string key = detail::trial_state::event_key(*from, written);
            try {
                static_cast<void>(!key.empty() && state_->store().read_ahead(key));
            } catch (const error&) {
                // Reading the step throws the error again.
            }
        }
    }
}

SMDEBUG_INLINE step_state trial::has_passed_step(step_number step, smdebug::mode in) const {
    return state_->fresh()->state_of(in, step);
}

SMDEBUG_INLINE void trial::wait_for_steps(const std::vector<step_number>& required, const wait_options& how) const {
    detail::step_wait wait{*state_, how};
    for (const step_number step : required) {
        while (!detail::wait_is_over(*state_, step, how.mode, wait)) {
            const error_context context{.where = path(), .step = step, .step_mode = how.mode};
            const std::string what = "step " + std::to_string(step) + " of mode " + std::string{name_of(how.mode)};
            if (wait.given_up()) {
                throw unavailable(error_code::stalled,
                                  "gave up waiting for " + what + " of " + path() + ": nothing new has come for " +
                                      std::to_string(quiet_time().count() / 1000) +
                                      " s, and the job has not ended; its process may have died",
                                  context);
            }
            switch (wait.pause()) {
                case detail::wait_outcome::look_again:
                    break;
                case detail::wait_outcome::timed_out:
                    throw unavailable(error_code::timed_out,
                                      "waited for " + what + " of " + path() + ", which did not come in time", context);
                case detail::wait_outcome::stopped:
                    throw stopped_error("waiting for " + what + " was stopped", context);
            }
        }
    }
}

SMDEBUG_INLINE std::vector<std::string> trial::workers() const { return state_->current()->job->collection_workers; }

SMDEBUG_INLINE std::vector<std::string> trial::workers(step_number global_step) const {
    auto from = state_->current();
    if (from->find_step(global_step) == nullptr) {
        from = state_->fresh();
    }
    std::vector<std::string> names;
    if (const auto* entry = from->find_step(global_step)) {
        for (const detail::catalog::file& written : entry->files()) {
            if (const std::string& worker = from->workers[written.worker]; names.empty() || names.back() != worker) {
                names.push_back(worker);
            }
        }
    }
    return names;
}

SMDEBUG_INLINE std::size_t trial::num_workers() const { return state_->current()->job->num_workers; }

SMDEBUG_INLINE std::map<std::string, smdebug::collection, std::less<>> trial::collections() const {
    return state_->current()->job->collections;
}

SMDEBUG_INLINE smdebug::collection trial::collection(std::string_view name) const {
    const auto job = state_->current()->job;
    const auto group = job->collections.find(name);
    if (group == job->collections.end()) {
        throw detail::no_such_collection(name, job->collections);
    }
    return group->second;
}

SMDEBUG_INLINE std::vector<tensor_value> trial::inputs(step_number step, const read_options& where) const {
    return detail::values_in(*this, "inputs", step, where);
}

SMDEBUG_INLINE std::vector<tensor_value> trial::labels(step_number step, const read_options& where) const {
    return detail::values_in(*this, "labels", step, where);
}

SMDEBUG_INLINE std::vector<tensor_value> trial::predictions(step_number step, const read_options& where) const {
    return detail::values_in(*this, "predictions", step, where);
}

SMDEBUG_INLINE bool trial::loaded_all_steps() const { return state_->current()->loaded_all_steps; }

SMDEBUG_INLINE smdebug::job_state trial::job_state() const {
    if (state_->fresh()->loaded_all_steps) {
        return smdebug::job_state::ended;
    }
    return quiet_time() >= state_->options().stalled_after ? smdebug::job_state::stalled : smdebug::job_state::running;
}

SMDEBUG_INLINE std::chrono::milliseconds trial::quiet_time() const { return state_->quiet_time(); }

SMDEBUG_INLINE step_number trial::last_complete_step() const { return state_->current()->last_complete_step; }

SMDEBUG_INLINE bool trial::dynamic_refresh() const noexcept { return state_->dynamic_refresh(); }

SMDEBUG_INLINE std::shared_ptr<void> trial::set_refresh(bool on) const {
    const auto number = state_->begin_refresh_setting(on);
    // The deleter ends the setting.  It is called even where allocating the shared_ptr's control block fails.
    return {nullptr, [state = state_, number](void*) { state->end_refresh_setting(number); }};
}

SMDEBUG_INLINE void trial::refresh() const { static_cast<void>(state_->refreshed()); }

SMDEBUG_INLINE std::vector<problem> trial::problems() const { return state_->problems(); }

}  // namespace smdebug::inline v1
