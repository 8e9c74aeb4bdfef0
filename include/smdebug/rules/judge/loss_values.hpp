// The losses of a run at a step: selects the tensors, reads their values, and separates training from validation.
#pragma once

#include <smdebug/core/dtype.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/reduce/name.hpp>
#include <smdebug/rules/finding.hpp>
#include <smdebug/rules/judge/saved_tensor.hpp>
#include <smdebug/tensor/tensor_value.hpp>
#include <smdebug/trial/concepts.hpp>
#include <smdebug/trial/lookup.hpp>
#include <smdebug/trial/options.hpp>

#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <smdebug/core/strict_math/begin.ipp>
namespace smdebug::inline v1::rules::detail {

/// The value of a tensor of one real element; nothing for tensors of other sizes, text and complex numbers.  If only
/// reductions were saved, and the shape has one element, the reductions are the value.
template <reducible_tensor Handle>
[[nodiscard]] lookup<std::optional<double>> scalar_at(const Handle& tensor, step_number step,
                                                      const read_options& where) {
    lookup_error missing;
    if constexpr (valued_tensor<Handle>) {
        const auto values = tensor.find_value(step, value_options{.mode = where.mode, .worker = where.worker});
        if (values) {
            std::optional<double> found;
            if (values->size() == 1) {
                visit_reals(*values,
                            [&]<class Value>(std::span<const Value> elements) { found = to_double(elements[0]); });
            }
            return found;
        }
        if (values.error().why != lookup_failure_kind::tensor_not_saved) {
            return values.error();
        }
        missing = values.error();
    }
    if constexpr (shaped_tensor<Handle>) {
        const auto shape = tensor.find_shape(step, where);
        if (!shape) {
            return missing;
        }
        if (element_count(*shape) != 1U) {
            return std::optional<double>{};
        }
        for (const reduction what : {reduction::mean, reduction::sum, reduction::max, reduction::min}) {
            const auto found =
                tensor.find_reduction(step, what, reduction_options{.mode = where.mode, .worker = where.worker});
            if (found) {
                return std::optional{*found};
            }
        }
    }
    return missing;
}

/// The losses of a step, which are averaged.
struct mean_loss {
    double sum = 0;
    std::size_t count = 0;
    std::string tensor = {};  ///< its name; empty for several losses
    std::string worker = {};

    [[nodiscard]] double mean() const noexcept {
        return count == 0 ? std::numeric_limits<double>::quiet_NaN() : sum / static_cast<double>(count);
    }
    void add(double value, const std::string& from, const std::string& by);
};

/// The training and validation losses at a step.
struct step_losses {
    mean_loss train = {};
    mean_loss validation = {};
    bool by_mode = true;              ///< a step has only one of them; false for XGBoost
    std::vector<finding> notes = {};  ///< losses that could not be read
};

/// Whether a run separates training and validation by modes.  XGBoost's does not: every step has tensors for both,
/// named train... and validation..., in the collection "metrics".
[[nodiscard]] bool has_phases(const readable_trial auto& run, step_number step) {
    const auto in = run.mode(step);
    return in == mode::train || in == mode::eval || has_steps_of(run, mode::train) || has_steps_of(run, mode::eval);
}

/// The losses of a step, by its mode: TRAIN is training, EVAL validation, other modes have no losses.  In a run without
/// such modes the prefix of a name decides.  Without a regex the collection "losses", or "metrics", is used.  Only
/// scalars of the first worker by name count.
[[nodiscard]] step_losses losses_at(const readable_trial auto& run, step_number step,
                                    const text_list& tensor_regex = {}) {
    step_losses losses;
    const bool by_mode = losses.by_mode = has_phases(run, step);
    const auto in = run.mode(step);
    if (by_mode && in != mode::train && in != mode::eval) {
        return losses;
    }
    const auto mean_of = [&](std::string_view name) -> mean_loss* {
        if (by_mode) {
            return in == mode::train ? &losses.train : &losses.validation;
        }
        return name.starts_with("train") ? &losses.train
                                         : (name.starts_with("validation") ? &losses.validation : nullptr);
    };
    tensor_choice which{.tensor_regex = tensor_regex};
    if (tensor_regex.empty()) {
        which.collection_names = by_mode ? "losses" : "metrics";
    }
    losses.notes = judge_each(run, step, which, false, [&](const auto& tensor) {
        mean_loss* const mean = mean_of(tensor.name());
        if (mean == nullptr) {
            return finding{};
        }
        const auto value = scalar_at(tensor.handle(), step, read_options{.worker = tensor.worker()});
        if (!value) {
            return tensor.note(value.error());
        }
        if (value->has_value()) {
            mean->add(**value, tensor.name(), tensor.worker());
        }
        return finding{};
    });
    return losses;
}

inline void mean_loss::add(double value, const std::string& from, const std::string& by) {
    sum += value;
    ++count;
    tensor = count == 1 ? from : std::string{};
    worker = count == 1 ? by : std::string{};
}

}  // namespace smdebug::inline v1::rules::detail
#include <smdebug/core/strict_math/end.ipp>
