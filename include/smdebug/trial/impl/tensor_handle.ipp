// The bodies of <smdebug/trial/tensor_handle.hpp>.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/dtype.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/core/printable_text.hpp>
#include <smdebug/reduce/concepts.hpp>
#include <smdebug/reduce/digest.hpp>
#include <smdebug/reduce/name.hpp>
#include <smdebug/reduce/statistic.hpp>
#include <smdebug/trial/catalog/catalog.hpp>
#include <smdebug/trial/read/tensor_reader.hpp>
#include <smdebug/trial/read/trial_state.hpp>
#include <smdebug/trial/shared/rule_view.hpp>
#include <smdebug/trial/tensor_handle.hpp>
#include <smdebug/trial/trial_access.hpp>

#include <algorithm>
#include <cstddef>

namespace smdebug::inline v1 {

namespace detail {

/// Errors: value_error: no reduction has that name.
[[nodiscard]] inline statistic known_statistic(std::string_view name) {
    if (auto known = statistic_named(name)) {
        return *std::move(known);
    }
    throw value_error("Invalid reduction type " + std::string{name} + "." + near_or_all(name, statistic_names()));
}

}  // namespace detail

// What copies of a handle share.
struct tensor_handle::core {
    core(std::shared_ptr<const detail::trial_state> state, std::string name, std::shared_ptr<detail::rule_view> seen)
        : reader(std::move(state), std::move(name)), view(std::move(seen)) {
        if (view != nullptr) {
            name_hash = detail::hash_of(reader.name());
            share = view->share_of(reader.name());
        }
    }

    /// Whether rules share reads of one worker at a global step.
    [[nodiscard]] bool shares(const read_options& where) const noexcept {
        return share != nullptr && where.mode == mode::global && where.worker.has_value();
    }
    /// The global step at which rules share the values of a worker; nothing if they do not, or if there are several
    /// workers.
    [[nodiscard]] std::optional<step_number> shared_step(step_number step, const value_options& how) const {
        if (share == nullptr || !how.worker) {
            return std::nullopt;
        }
        if (how.mode == mode::global) {
            return step;
        }
        const auto from = reader.state().current();
        return from->each_mode_step_once() ? from->global_step(how.mode, step) : std::nullopt;
    }
    /// Notes that rules read the tensor, in any form.
    void expect() const {
        if (share != nullptr) {
            view->expect(*share);
        }
    }

    detail::tensor_reader reader;
    std::shared_ptr<detail::rule_view> view;
    detail::shared_tensor* share = nullptr;  // owned by `view`; null if nothing is shared
    std::uint64_t name_hash = 0;
};

SMDEBUG_INLINE tensor_handle::tensor_handle(std::shared_ptr<const detail::trial_state> state, std::string name,
                                            std::shared_ptr<detail::rule_view> view)
    : core_(std::make_shared<const core>(std::move(state), std::move(name), std::move(view))) {
    detail::trial_access::note_selected(*this);
}

SMDEBUG_INLINE const std::string& tensor_handle::name() const& noexcept { return core_->reader.name(); }

SMDEBUG_INLINE bool detail::trial_access::remembers_measures(const tensor_handle& tensor) noexcept {
    return tensor.core_->share != nullptr;
}

SMDEBUG_INLINE void detail::trial_access::note_selected(const tensor_handle& tensor) {
    if (tensor.core_->view != nullptr) {
        tensor.core_->view->log().was_selected();
    }
}

SMDEBUG_INLINE std::optional<std::string> tensor_handle::original_name() const {
    const auto from = core_->reader.state().current();
    const auto id = core_->reader.id_in(*from);
    for (std::size_t i = id ? from->layouts.size() : 0; i-- > 0;) {
        if (const auto* shape = from->layouts[i]->shape(*id)) {
            return (*from->names)[shape->original_name];
        }
    }
    return std::nullopt;
}

SMDEBUG_INLINE bool tensor_handle::has_only_shape(step_number step, const read_options& where) const {
    const auto found = core_->reader.locate(step, where.mode, where.worker);
    if (!found) {
        return false;
    }
    const auto& entries = found->from->layout_of(*found->file);
    return !entries.has_values(found->id) && entries.saved_reductions(found->id).empty();
}

SMDEBUG_INLINE reduction_set tensor_handle::saved_reductions(step_number step, const read_options& where) const {
    const auto from = core_->reader.state().current();
    bool are_any = from->name_lists.size() > 8;  // in the run; to find that out costs less than the file
    from->name_lists.for_each([&](const auto& list) { are_any = are_any || !list->values_alone(); });
    if (!are_any && from->loaded_all_steps) {
        return {};
    }
    const auto found = core_->reader.locate(step, where.mode, where.worker);
    return found ? found->from->layout_of(*found->file).saved_reductions(found->id) : reduction_set{};
}

SMDEBUG_INLINE std::optional<std::uint64_t> tensor_handle::record_offset(step_number step,
                                                                         const read_options& where) const {
    const auto found = core_->reader.locate(step, where.mode, where.worker);
    if (!found) {
        return std::nullopt;
    }
    std::optional<std::uint64_t> first;
    const auto take = [&](const std::optional<detail::layout::entry>& entry) {
        if (entry && entry->stored_as() == detail::storage_form::record && (!first || entry->record.offset < *first)) {
            first = entry->record.offset;
        }
    };
    take(found->from->values_of(*found->file, found->id));
    for (std::size_t i = 0; i < 2 * reduction_count; ++i) {
        take(found->from->reduction_of(*found->file, found->id, reduction_key::from_index(i)));
    }
    return first;
}

SMDEBUG_INLINE std::vector<step_number> tensor_handle::steps(const steps_options& which) const {
    const auto from = core_->reader.state().fresh();
    const auto id = core_->reader.id_in(*from);
    return id ? from->tensor_steps(*id, which.mode, which.show_incomplete_steps) : std::vector<step_number>{};
}

SMDEBUG_INLINE std::vector<step_number> tensor_handle::prev_steps(step_number step,
                                                                  const prev_steps_options& which) const {
    if (which.n && *which.n < 0) {
        throw value_error("n must not be negative");
    }
    const auto all_steps = [&] { return steps({.mode = which.mode}); };
    const auto ask = [&] {
        if (which.n) {
            const auto from = core_->reader.state().fresh();
            const auto id = core_->reader.id_in(*from);
            if (!id || which.mode == mode::global || from->each_mode_step_once()) {
                return id ? from->last_steps(*id, which.mode, step, static_cast<std::size_t>(*which.n))
                          : std::vector<step_number>{};
            }
        }
        std::vector<step_number> all = all_steps();
        all.erase(std::upper_bound(all.begin(), all.end(), step), all.end());
        if (which.n && static_cast<std::size_t>(*which.n) < all.size()) {
            all.erase(all.begin(), all.end() - static_cast<std::ptrdiff_t>(*which.n));
        }
        return all;
    };
    if (which.n && core_->share != nullptr) {
        return core_->view->last_steps(*core_->share, step, static_cast<std::size_t>(*which.n), which.mode, all_steps,
                                       ask);
    }
    return ask();
}

SMDEBUG_INLINE std::string tensor_handle::step_words(step_number global_step) const {
    const auto from = core_->reader.state().current();
    const auto* const entry = from->steps_are_synthetic ? from->find_step(global_step) : nullptr;
    return (entry != nullptr ? std::string{name_of(entry->mode)} + " " : "") + "step " +
           std::to_string(entry != nullptr ? entry->mode_step : global_step);
}

SMDEBUG_INLINE std::vector<std::string> tensor_handle::workers(step_number step, const read_options& where) const {
    const auto looked_up = core_->reader.find_files(step, where.mode);
    if (looked_up.files.empty()) {
        throw tensor_unavailable_for_step(name(), step, where.mode);
    }
    std::vector<std::string> names;
    for (const detail::catalog::file* file : looked_up.files) {
        names.push_back(looked_up.from->workers[file->worker]);
    }
    return names;
}

SMDEBUG_INLINE lookup<tensor_value> tensor_handle::read_value(step_number step, const value_options& how) const {
    const auto read = [&] {
        const auto at = core_->reader.locate(step, how.mode, how.worker);
        return about(at ? core_->reader.read_values(*at) : at.error(), step, how.mode);
    };
    core_->expect();
    const std::optional<step_number> shared = core_->shared_step(step, how);
    return shared ? core_->view->value(*core_->share, *shared, *how.worker, read) : read();
}

SMDEBUG_INLINE lookup<tensor_value> tensor_handle::find_value(step_number step, const value_options& how) const {
    return logged(read_value(step, how), step, {.mode = how.mode, .worker = how.worker});
}

SMDEBUG_INLINE tensor_value tensor_handle::value(step_number step, const value_options& how) const {
    return find_value(step, how).value();
}

SMDEBUG_INLINE std::map<step_number, tensor_value> tensor_handle::values(const read_options& how) const {
    std::map<step_number, tensor_value> found;
    for (const step_number step : steps({.mode = how.mode})) {
        found.emplace(step, value(step, {.mode = how.mode, .worker = how.worker}));
    }
    return found;
}

SMDEBUG_INLINE lookup<shape_type> tensor_handle::find_shape(step_number step, const read_options& where) const {
    const auto read = [&]() -> lookup<shape_type> {
        const auto at = core_->reader.locate(step, where.mode, where.worker);
        if (!at) {
            return at.error();
        }
        if (const auto* saved = at->from->layout_of(*at->file).shape(at->id)) {
            return saved->extents;
        }
        auto values = core_->reader.read_shape(*at);
        const bool not_there = !values && (values.error().why == lookup_failure_kind::tensor_not_saved ||
                                           values.error().why == lookup_failure_kind::event_file_missing);
        return not_there ? lookup<shape_type>{lookup_error{.why = lookup_failure_kind::shape_not_saved,
                                                           .where = values.error().where}}
                         : std::move(values);
    };
    return logged(about(read(), step, where.mode), step, where);
}

SMDEBUG_INLINE shape_type tensor_handle::shape(step_number step, const read_options& where) const {
    return find_shape(step, where).value();
}

SMDEBUG_INLINE std::map<step_number, shape_type> tensor_handle::shapes(const read_options& how) const {
    std::map<step_number, shape_type> found;
    for (const step_number step : steps({.mode = how.mode})) {
        found.emplace(step, shape(step, {.mode = how.mode, .worker = how.worker}));
    }
    return found;
}

SMDEBUG_INLINE lookup<double> tensor_handle::read_reduction(step_number step, reduction_key key,
                                                            const read_options& where) const {
    if (core_->shares(where)) {
        std::optional<double> number;
        const auto use = [&](const reduction_values& known) {
            number = known.computed.contains(key) ? std::optional{known(key.what, key.abs)} : std::nullopt;
        };
        if (core_->view->reductions(*core_->share, step, *where.worker, use) && number) {
            return *number;
        }
    }
    core_->expect();
    const auto at = core_->reader.locate(step, where.mode, where.worker);
    if (!at) {
        return about(at.error(), step, where.mode);
    }
    const auto saved = at->from->reduction_of(*at->file, at->id, key);
    return about(saved ? core_->reader.read_saved(*at, *saved, key) : core_->reader.compute(*at, key), step,
                 where.mode);
}

SMDEBUG_INLINE lookup<double> tensor_handle::find_reduction(step_number step, reduction what,
                                                            const reduction_options& how) const {
    const read_options where{.mode = how.mode, .worker = how.worker};
    return logged(read_reduction(step, {what, how.abs}, where), step, where);
}

SMDEBUG_INLINE lookup<double> tensor_handle::find_reduction(step_number step, std::string_view what,
                                                            const reduction_options& how) const {
    const detail::statistic known = detail::known_statistic(what);
    if (known.key) {
        return find_reduction(step, known.key->what,
                              {.mode = how.mode, .worker = how.worker, .abs = how.abs || known.key->abs});
    }
    const auto counts = find_computed(step, reduction_set::counts(), {.mode = how.mode, .worker = how.worker});
    return counts ? lookup<double>{static_cast<double>((*counts).*known.count)} : counts.error();
}

SMDEBUG_INLINE double tensor_handle::reduction_value(step_number step, reduction what,
                                                     const reduction_options& how) const {
    return find_reduction(step, what, how).value();
}

SMDEBUG_INLINE double tensor_handle::reduction_value(step_number step, std::string_view what,
                                                     const reduction_options& how) const {
    return find_reduction(step, what, how).value();
}

SMDEBUG_INLINE std::map<reduction_key, double> tensor_handle::saved_reduction_values(step_number step,
                                                                                     const read_options& where) const {
    core_->expect();
    const auto at = core_->reader.locate(step, where.mode, where.worker);
    return logged(about(at ? core_->reader.read_saved(*at) : at.error(), step, where.mode), step, where).value();
}

SMDEBUG_INLINE lookup<reduction_values> tensor_handle::compute(step_number step, reduction_set wanted,
                                                               const read_options& where) const {
    // The shared pass has the saved reductions in place of computed ones.
    if (wanted.has_counts() && core_->shares(where) &&
        (wanted == reduction_set::counts() || (saved_reductions(step, where) & wanted).empty())) {
        reduction_values known;
        if (core_->view->reductions(*core_->share, step, *where.worker,
                                    [&](const reduction_values& found) { known = found; }) &&
            known.computed.has_counts()) {
            return known;
        }
    }
    core_->expect();
    const auto at = core_->reader.locate(step, where.mode, where.worker);
    return about(at ? core_->reader.reduce(*at, wanted) : at.error(), step, where.mode);
}

SMDEBUG_INLINE lookup<reduction_values> tensor_handle::find_computed(step_number step, reduction_set wanted,
                                                                     const read_options& where) const {
    return logged(compute(step, wanted, where), step, where);
}

SMDEBUG_INLINE lookup<std::int64_t> tensor_handle::find_digest(step_number step, const read_options& where) const {
    const auto read = [&]() -> lookup<std::int64_t> {
        const auto& reader = core_->reader;
        if (reader.state().current()->has_digests()) {
            const detail::tensor_reader saved{reader.shared_state(), digest_of_tensor(name())};
            const auto at = saved.locate(step, where.mode, where.worker);
            const auto scalar = at ? saved.read_values(*at) : lookup<tensor_value>{at.error()};
            if (scalar && scalar->type() == dtype::int64 && scalar->size() == 1) {
                return load_le<std::int64_t>(scalar->view().bytes.data());
            }
            if (!scalar && is_lost(scalar.error())) {
                return scalar.error();
            }
        }
        const auto values = read_value(step, {.mode = where.mode, .worker = where.worker});
        if (!values) {
            return values.error();
        }
        if (!has_digest(values->type())) {
            return lookup_error{.why = lookup_failure_kind::wrong_dtype,
                                .note = "tensor " + name() + " holds text, which has no digest"};
        }
        return digest_of(values->view(), reader.state().kernel());
    };
    return logged(about(read(), step, where.mode), step, where);
}

SMDEBUG_INLINE std::int64_t tensor_handle::digest(step_number step, const read_options& where) const {
    return find_digest(step, where).value();
}

SMDEBUG_INLINE lookup<detail::any_measure::answer> tensor_handle::answer(step_number earlier, step_number step,
                                                                         const detail::any_measure& measure,
                                                                         const read_options& where) const {
    using detail::any_measure;
    const value_options how{.mode = where.mode, .worker = where.worker};
    const auto compute = [&]() -> lookup<any_measure::answer> {
        const auto before = measure.compares() ? std::optional{read_value(earlier, how)} : std::nullopt;
        if (before && !*before) {
            return before->error();
        }
        const auto now = read_value(step, how);
        if (!now) {
            return now.error();
        }
        if (!before) {
            return measure(nullptr, now->view());
        }
        const tensor_view compared = (*before)->view();
        return measure(&compared, now->view());
    };
    return logged(core_->shares(where)
                      ? core_->view->answer(*core_->share, step, *where.worker, earlier, measure, compute)
                      : compute(),
                  step, where);
}

SMDEBUG_INLINE lookup_error tensor_handle::about(lookup_error failure, step_number step, mode in) const {
    failure.tensor = name();
    failure.step = step;
    failure.step_mode = in;
    return failure;
}

template <class Element>
lookup<Element> tensor_handle::logged(lookup<Element> found, step_number step, const read_options& where) const {
    if (core_->view != nullptr) {
        if (found) {
            core_->view->log().was_read(core_->name_hash, step, where.mode, where.worker);
        } else {
            core_->view->log().was_looked_up(found.error(), name(), step, where.mode, where.worker);
        }
    }
    return found;
}

}  // namespace smdebug::inline v1
