// One tensor of a trial: its steps, workers, values, shapes and reductions.
// A cheap handle: a name and a reference to the trial's state.  Every answer comes from the newest catalog.
#pragma once

#include <smdebug/core/dtype.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/reduce/concepts.hpp>
#include <smdebug/reduce/name.hpp>
#include <smdebug/tensor/element.hpp>
#include <smdebug/tensor/tensor_value.hpp>
#include <smdebug/trial/lookup.hpp>
#include <smdebug/trial/options.hpp>
#include <smdebug/trial/shared/rule_view.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smdebug::inline v1 {

namespace detail {

struct trial_access;
class trial_state;

}  // namespace detail

/// A tensor of a trial.
/// Steps in arguments count in the mode that the options name; GLOBAL by default.
/// Errors: calls that read one step throw, in this order of precedence: step_unavailable, step_not_yet_available,
///         tensor_unavailable_for_step, invalid_worker, corrupt_record; the find_ calls return them as values.
/// Threads: const calls may run concurrently.  Lifetime: independent of the trial that made it.
class tensor_handle {
public:
    [[nodiscard]] const std::string& name() const& noexcept;
    [[nodiscard]] std::string name() const&& { return name(); }

    /// The framework's name for it, if it was saved with a shape.
    [[nodiscard]] std::optional<std::string> original_name() const;

    /// The steps that have it, ascending.
    [[nodiscard]] std::vector<step_number> steps(const steps_options& which = {}) const;

    /// The last `n` complete steps up to and including `step`.  Errors: value_error for a negative n.
    [[nodiscard]] std::vector<step_number> prev_steps(step_number step, const prev_steps_options& which = {}) const;

    /// A global step in messages: "step 500", or "TRAIN step 10" where steps are synthetic.
    [[nodiscard]] std::string step_words(step_number global_step) const;

    /// The workers that saved it at a step, by name; `where.worker` is ignored.
    /// Errors: tensor_unavailable_for_step.
    [[nodiscard]] std::vector<std::string> workers(step_number step, const read_options& where = {}) const;

    // Values -----------------------------------------------------------------------------------------------------

    /// The values, of any dtype.  Cost: one read; a copy only where the bytes are not aligned for the dtype.
    [[nodiscard]] lookup<tensor_value> find_value(step_number step, const value_options& how = {}) const;
    [[nodiscard]] tensor_value value(step_number step, const value_options& how = {}) const;

    /// The values as an xtensor expression of Element, with <smdebug/xtensor.hpp>; as a span without:
    /// value(step).elements<Element>().
    /// Errors: wrong_dtype when the dtype differs and `convert` is off or the
    /// values do not fit.
    template <class Element>
    [[nodiscard]] lookup<element_array<Element>> find_value(step_number step, const value_options& how = {}) const {
        auto found = find_value(step, how);
        if (!found) {
            return found.error();
        }
        if (found->type() == dtype_of_v<Element>) {
            return detail::array_of<Element>::from(*found);
        }
        const std::string is = "tensor " + name() + " holds " + std::string{name_of(found->type())};
        const std::string wanted{name_of(dtype_of_v<Element>)};
        if (!how.convert) {
            return about({.why = lookup_failure_kind::wrong_dtype,
                          .note = is + ", not " + wanted + "; .convert = true makes a converted copy"},
                         step, how.mode);
        }
        auto other = converted<Element>(*found);
        if (!other.ok()) {
            return about(
                {.why = lookup_failure_kind::wrong_dtype, .note = is + ", and not every element can be a " + wanted},
                step, how.mode);
        }
        return detail::array_of<Element>::from(*other);
    }
    template <class Element>
    [[nodiscard]] element_array<Element> value(step_number step, const value_options& how = {}) const {
        return find_value<Element>(step, how).value();
    }

    /// The values of every complete step.  Errors: as value(), at the first step that has none.
    [[nodiscard]] std::map<step_number, tensor_value> values(const read_options& how = {}) const;

    // Shapes -----------------------------------------------------------------------------------------------------

    /// Whether it has nothing but a shape, as images in a log: no values and no reductions.
    [[nodiscard]] bool has_only_shape(step_number step, const read_options& where = {}) const;
    /// The saved shape, else that of the values.  Cost: none where a shape was saved, else one read.
    [[nodiscard]] lookup<shape_type> find_shape(step_number step, const read_options& where = {}) const;
    [[nodiscard]] shape_type shape(step_number step, const read_options& where = {}) const;
    /// The shape at every complete step.
    [[nodiscard]] std::map<step_number, shape_type> shapes(const read_options& how = {}) const;

    // What was saved ---------------------------------------------------------------------------------------------

    /// The reductions that were saved, which find_reduction() returns as they are; none where the step or the worker
    /// did not save the tensor.  Cost: a look at the catalog.
    [[nodiscard]] reduction_set saved_reductions(step_number step, const read_options& where = {}) const;
    /// Where its first record, of values or of a reduction, begins in the worker's event file: within a step, tensors
    /// were saved in this order.  Nothing where it has no record, and for data of other tools.  Cost: as above.
    [[nodiscard]] std::optional<std::uint64_t> record_offset(step_number step, const read_options& where = {}) const;

    // Reductions -------------------------------------------------------------------------------------------------

    /// A saved reduction as it was saved (PyTorch's hook divides std and variance by n-1); else one computed from the
    /// values.  Errors: also wrong_dtype: strings have no reductions, complex tensors only the abs forms, l1 and l2.
    [[nodiscard]] lookup<double> find_reduction(step_number step, reduction what,
                                                const reduction_options& how = {}) const;
    /// By name: "mean", "abs_mean" (as .abs does), "l2", ..., or a count of the values: "nan", "pos_inf", "neg_inf",
    /// "zeros"; the names that `smdebug stats --reductions` takes.
    /// Errors: value_error, before anything else, for another name.
    [[nodiscard]] lookup<double> find_reduction(step_number step, std::string_view what,
                                                const reduction_options& how = {}) const;
    [[nodiscard]] double reduction_value(step_number step, reduction what, const reduction_options& how = {}) const;
    [[nodiscard]] double reduction_value(step_number step, std::string_view what,
                                         const reduction_options& how = {}) const;

    /// The saved reductions with their values, by key: `.at({reduction::mean, true})`.  Empty where the tensor has
    /// values only: nothing is computed.  reduction_key::name() returns "abs_mean".
    /// Errors: as the class says, where neither values nor reductions were saved.  Cost: one read of each.
    [[nodiscard]] std::map<reduction_key, double> saved_reduction_values(step_number step,
                                                                         const read_options& where = {}) const;

    /// Any set of reductions and counts, computed from the values in one pass; saved ones are ignored.  Where rules
    /// share the run, and none of them was saved, they come from the pass that all rules share.
    [[nodiscard]] lookup<reduction_values> find_computed(step_number step, reduction_set wanted,
                                                         const read_options& where = {}) const;

    // Digests ----------------------------------------------------------------------------------------------------

    /// The saved digest (hook_options::digests), else that of the values, see digest_of(): equal digests stand for the
    /// same dtype, shape and bits.
    /// Errors: as find_value(), where neither was saved; wrong_dtype for text, which has none.
    /// Cost: one small read; without a saved one, a read of the values and a pass over them.
    [[nodiscard]] lookup<std::int64_t> find_digest(step_number step, const read_options& where = {}) const;
    [[nodiscard]] std::int64_t digest(step_number step, const read_options& where = {}) const;

    // Measures ---------------------------------------------------------------------------------------------------

    /// The result of a measure on the values.  Cost: as find_value(), and the measure's; where rules share the run
    /// (invoke_rules), it is computed in the pass that reduces the tensor, and the result is cached.
    template <tensor_measure Measure>
    [[nodiscard]] lookup<measured_by<Measure>> find_measured(step_number step, const Measure& measure,
                                                             const read_options& where = {}) const {
        return detail::unpacked<measured_by<Measure>>(
            answer(step, step, detail::typed_measure<Measure, false>{measure}, where));
    }
    template <tensor_measure Measure>
    [[nodiscard]] measured_by<Measure> measured(step_number step, const Measure& measure,
                                                const read_options& where = {}) const {
        return find_measured(step, measure, where).value();
    }

    /// The result of a comparison of the values at an earlier step with those at this one.  Fails if either cannot be
    /// read.  Cost: that of two find_value() calls and of the comparison; where rules share the run, and `earlier` is
    /// the previous save in its mode, that of find_measured().
    template <tensor_comparison Measure>
    [[nodiscard]] lookup<compared_by<Measure>> find_compared(step_number earlier, step_number step,
                                                             const Measure& comparison,
                                                             const read_options& where = {}) const {
        return detail::unpacked<compared_by<Measure>>(
            answer(earlier, step, detail::typed_measure<Measure, true>{comparison}, where));
    }
    template <tensor_comparison Measure>
    [[nodiscard]] compared_by<Measure> compared(step_number earlier, step_number step, const Measure& comparison,
                                                const read_options& where = {}) const {
        return find_compared(earlier, step, comparison, where).value();
    }

private:
    friend class trial;
    friend struct detail::trial_access;
    struct core;

    /// `view`: null, or what rules share about the trial.
    tensor_handle(std::shared_ptr<const detail::trial_state> state, std::string name,
                  std::shared_ptr<detail::rule_view> view = nullptr);

    [[nodiscard]] lookup<tensor_value> read_value(step_number step, const value_options& how) const;
    [[nodiscard]] lookup<double> read_reduction(step_number step, reduction_key key, const read_options& where) const;
    [[nodiscard]] lookup<reduction_values> compute(step_number step, reduction_set wanted,
                                                   const read_options& where) const;
    /// The result of a measure, or of a comparison with the save at `earlier`.
    [[nodiscard]] lookup<detail::any_measure::answer> answer(step_number earlier, step_number step,
                                                             const detail::any_measure& measure,
                                                             const read_options& where) const;
    /// Adds to the failure what was looked up.
    [[nodiscard]] lookup_error about(lookup_error failure, step_number step, mode in) const;
    template <class Element>
    [[nodiscard]] lookup<Element> about(lookup<Element> found, step_number step, mode in) const {
        return found ? std::move(found) : about(found.error(), step, in);
    }
    /// Returns it, and logs it where rules use the trial.
    template <class Element>
    [[nodiscard]] lookup<Element> logged(lookup<Element> found, step_number step, const read_options& where) const;

    std::shared_ptr<const core> core_;
};

}  // namespace smdebug::inline v1

#ifndef SMDEBUG_COMPILED
#include <smdebug/trial/impl/tensor_handle.ipp>
#endif
