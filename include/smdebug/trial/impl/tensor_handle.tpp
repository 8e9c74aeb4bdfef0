// The bodies of <smdebug/trial/tensor_handle.hpp> that are templates.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/core/near_names.hpp>
#include <smdebug/reduce/statistic.hpp>
#include <smdebug/trial/catalog/catalog.hpp>
#include <smdebug/trial/read/tensor_reader.hpp>
#include <smdebug/trial/tensor_handle.hpp>

#include <algorithm>
#include <cstddef>

namespace smdebug {
inline namespace v1 {

namespace detail {

/// Errors: value_error: no reduction has that name.
[[nodiscard]] inline statistic known_statistic(std::string_view name) {
    if (auto known = statistic_named(name)) {
        return *std::move(known);
    }
    throw value_error("Invalid reduction type " + std::string{name} + "." + near_or_all(name, statistic_names()));
}

}  // namespace detail

template <class State>
tensor_handle<State>::tensor_handle(std::shared_ptr<const State> state, std::string name)
    : reader_(std::make_shared<const detail::tensor_reader<State>>(std::move(state), std::move(name))) {}

template <class State>
const std::string& tensor_handle<State>::name() const& noexcept {
    return reader_->name();
}

template <class State>
std::optional<std::string> tensor_handle<State>::original_name() const {
    const auto from = reader_->state().current();
    const auto id = reader_->id_in(*from);
    for (std::size_t i = id ? from->layouts.size() : 0; i-- > 0;) {
        if (const auto* shape = from->layouts[i]->shape(*id)) {
            return (*from->names)[shape->original_name];
        }
    }
    return std::nullopt;
}

template <class State>
bool tensor_handle<State>::has_only_shape(step_number step, const read_options& where) const {
    const auto found = reader_->locate(step, where.mode, where.worker);
    if (!found) {
        return false;
    }
    const auto& entries = found->from->layout_of(*found->file);
    return !entries.values(found->id) && entries.saved_reductions(found->id).empty();
}

template <class State>
std::vector<step_number> tensor_handle<State>::steps(const steps_options& which) const {
    const auto from = reader_->state().fresh();
    const auto id = reader_->id_in(*from);
    return id ? from->tensor_steps(*id, which.mode, which.show_incomplete_steps) : std::vector<step_number>{};
}

template <class State>
std::vector<step_number> tensor_handle<State>::prev_steps(step_number step, const prev_steps_options& which) const {
    if (which.n && *which.n < 0) {
        throw value_error("n must not be negative");
    }
    if (which.n) {
        const auto from = reader_->state().fresh();
        const auto id = reader_->id_in(*from);
        if (!id || which.mode == mode::global || from->each_mode_step_once()) {
            return id ? from->last_steps(*id, which.mode, step, static_cast<std::size_t>(*which.n))
                      : std::vector<step_number>{};
        }
    }
    std::vector<step_number> all = steps({.mode = which.mode});
    all.erase(std::upper_bound(all.begin(), all.end(), step), all.end());
    if (which.n && static_cast<std::size_t>(*which.n) < all.size()) {
        all.erase(all.begin(), all.end() - static_cast<std::ptrdiff_t>(*which.n));
    }
    return all;
}

template <class State>
std::string tensor_handle<State>::step_words(step_number global_step) const {
    const auto from = reader_->state().current();
    const auto* const entry = from->steps_are_synthetic ? from->find_step(global_step) : nullptr;
    return (entry != nullptr ? std::string{name_of(entry->mode)} + " " : "") + "step " +
           std::to_string(entry != nullptr ? entry->mode_step : global_step);
}

template <class State>
std::vector<std::string> tensor_handle<State>::workers(step_number step, const read_options& where) const {
    const auto looked_up = reader_->look(step, where.mode);
    if (looked_up.files.empty()) {
        throw tensor_unavailable_for_step(name(), step, where.mode);
    }
    std::vector<std::string> names;
    for (const detail::catalog::file* file : looked_up.files) {
        names.push_back(looked_up.from->workers[file->worker]);
    }
    return names;
}

template <class State>
lookup<tensor_value> tensor_handle<State>::find_value(step_number step, const value_options& how) const {
    const auto at = reader_->locate(step, how.mode, how.worker);
    return about(at ? reader_->read_values(*at) : at.failure(), step, how.mode);
}

template <class State>
tensor_value tensor_handle<State>::value(step_number step, const value_options& how) const {
    return detail::or_throw(find_value(step, how));
}

template <class State>
std::map<step_number, tensor_value> tensor_handle<State>::values(const values_options& how) const {
    std::map<step_number, tensor_value> found;
    for (const step_number step : steps({.mode = how.mode})) {
        found.emplace(step, value(step, {.mode = how.mode, .worker = how.worker}));
    }
    return found;
}

template <class State>
lookup<shape_type> tensor_handle<State>::find_shape(step_number step, const read_options& where) const {
    const auto at = reader_->locate(step, where.mode, where.worker);
    if (!at) {
        return about(at.failure(), step, where.mode);
    }
    if (const auto* saved = at->from->layout_of(*at->file).shape(at->id)) {
        return saved->extents;
    }
    auto values = reader_->read_shape(*at);
    if (!values) {
        const bool not_there =
            values.failure().why == absence::tensor_not_saved || values.failure().why == absence::event_file_missing;
        return about(not_there ? lookup_error{.why = absence::shape_not_saved, .where = values.failure().where}
                               : values.failure(),
                     step, where.mode);
    }
    return values;
}

template <class State>
shape_type tensor_handle<State>::shape(step_number step, const read_options& where) const {
    return detail::or_throw(find_shape(step, where));
}

template <class State>
std::map<step_number, shape_type> tensor_handle<State>::shapes(const values_options& how) const {
    std::map<step_number, shape_type> found;
    for (const step_number step : steps({.mode = how.mode})) {
        found.emplace(step, shape(step, {.mode = how.mode, .worker = how.worker}));
    }
    return found;
}

template <class State>
lookup<double> tensor_handle<State>::find_reduction(step_number step, reduction what,
                                                    const reduction_options& how) const {
    const auto at = reader_->locate(step, how.mode, how.worker);
    if (!at) {
        return about(at.failure(), step, how.mode);
    }
    const reduction_key key{what, how.abs};
    const auto saved = at->from->layout_of(*at->file).reduction(at->id, key);
    return about(saved ? reader_->read_saved(*at, *saved, key) : reader_->compute(*at, key), step, how.mode);
}

template <class State>
lookup<double> tensor_handle<State>::find_reduction(step_number step, std::string_view what,
                                                    const reduction_options& how) const {
    const detail::statistic known = detail::known_statistic(what);
    if (known.key) {
        return find_reduction(step, known.key->what,
                              {.mode = how.mode, .worker = how.worker, .abs = how.abs || known.key->abs});
    }
    const auto counts = find_computed(step, reduction_set::counts(), {.mode = how.mode, .worker = how.worker});
    return counts ? lookup<double>{static_cast<double>((*counts).*known.count)} : counts.failure();
}

template <class State>
double tensor_handle<State>::reduction_value(step_number step, reduction what, const reduction_options& how) const {
    return detail::or_throw(find_reduction(step, what, how));
}

template <class State>
double tensor_handle<State>::reduction_value(step_number step, std::string_view what,
                                             const reduction_options& how) const {
    return detail::or_throw(find_reduction(step, what, how));
}

template <class State>
std::map<reduction_key, double> tensor_handle<State>::reduction_values(step_number step,
                                                                       const read_options& where) const {
    const auto at = reader_->locate(step, where.mode, where.worker);
    return detail::or_throw(about(at ? reader_->read_saved(*at) : at.failure(), step, where.mode));
}

template <class State>
lookup<smdebug::reduction_values> tensor_handle<State>::find_computed(step_number step, reduction_set wanted,
                                                                      const read_options& where) const {
    const auto at = reader_->locate(step, where.mode, where.worker);
    return about(at ? reader_->reduce(*at, wanted) : at.failure(), step, where.mode);
}

template <class State>
lookup_error tensor_handle<State>::about(lookup_error failure, step_number step, mode in) const {
    failure.tensor = name();
    failure.step = step;
    failure.step_mode = in;
    return failure;
}

}  // namespace v1
}  // namespace smdebug
