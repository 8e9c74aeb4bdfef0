// The built-in rule FeatureImportanceOverweight: a few features of a boosted model carry almost all of its weight.
// Source: the public description of SageMaker Debugger's rule FeatureImportanceOverweight.
#pragma once

#include <smdebug/core/dtype.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/core/float_kinds.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/json_text.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/reduce/name.hpp>
#include <smdebug/rules/finding.hpp>
#include <smdebug/rules/judge/check_settings.hpp>
#include <smdebug/rules/judge/saved_tensor.hpp>
#include <smdebug/rules/setting.hpp>
#include <smdebug/trial/lookup.hpp>
#include <smdebug/trial/options.hpp>
#include <smdebug/trial/trial.hpp>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <smdebug/core/strict_math/begin.ipp>
namespace smdebug::inline v1::rules {

/// Fires at a step where the `nfeatures` largest of the selected scalars make up more than `threshold` of their sum.
/// Tensors without exactly one value are not importances and are skipped.  A NaN among the importances, or a sum that
/// is not above 0, never fires; fewer features than nfeatures have a share of 1 and fire.  If one cannot be read, the
/// shares of the others would be wrong: it is noted, and the step is not judged.
/// One finding a step: it names the largest.  If several workers saved a tensor, the first counts, as all have the same
/// model.
/// Fast path: exact; a scalar is its own mean.  If only reductions were saved, the shape or min = max shows that it is
/// a scalar.
struct feature_importance_overweight {
    double threshold = 0.8;
    std::int64_t nfeatures = 3;
    text_list tensor_regex = ".*feature_importance/weight";

    [[nodiscard]] static constexpr std::string_view name() noexcept { return "feature_importance_overweight"; }
    [[nodiscard]] static constexpr std::string_view service_name() noexcept { return "FeatureImportanceOverweight"; }
    [[nodiscard]] static constexpr std::string_view summary() noexcept {
        return "a few features make up too much of a model's feature importance";
    }
    template <class Rule = feature_importance_overweight>
    [[nodiscard]] static constexpr auto settings() {
        return std::tuple{setting{"threshold", &Rule::threshold,
                                  "fires if the largest make up more than this share of the sum, from 0 to 1"},
                          setting{"nfeatures", &Rule::nfeatures, "how many of the largest importances are added up"},
                          setting{"tensor_regex", &Rule::tensor_regex, tensor_regex_meaning, setting_kind::regexes}};
    }

    /// Errors: value_error, insufficient_information.
    void check() const;

    [[nodiscard]] std::vector<finding> operator()(const std::derived_from<trial> auto& run, step_number step) const {
        std::vector<importance> all;
        std::vector<finding> notes =
            detail::judge_each(run, step, {.tensor_regex = tensor_regex}, false, [&](const auto& tensor) {
                const auto scalar = is_scalar(tensor);
                if (!scalar) {
                    return tensor.note(scalar.error());
                }
                if (*scalar) {
                    const auto value = tensor.reduction_value(reduction::mean);
                    if (!value) {
                        return tensor.note(value.error());
                    }
                    all.push_back({*value, tensor.name(), tensor.worker()});
                }
                return finding{};
            });
        if (!notes.empty()) {
            return notes;
        }
        std::optional<finding> found = judge(std::move(all));
        return found ? std::vector<finding>{*std::move(found)} : std::vector<finding>{};
    }

private:
    struct importance {
        double value;
        std::string tensor;
        std::string worker;
    };

    [[nodiscard]] std::optional<finding> judge(std::vector<importance> all) const;

    /// Whether it has exactly one real value.
    [[nodiscard]] static lookup<bool> is_scalar(const auto& tensor) {
        if (const auto counts = tensor.counts()) {
            return counts->count == 1;
        } else if (counts.error().why == lookup_failure_kind::wrong_dtype) {
            return false;
        } else if (counts.error().why != lookup_failure_kind::tensor_not_saved) {
            return counts.error();
        }
        if (const auto shape = tensor.shape()) {
            return element_count(*shape) == std::size_t{1};
        }
        const auto least = tensor.reduction_value(reduction::min);
        const auto most = tensor.reduction_value(reduction::max);
        if (!least || !most) {
            return least ? most.error() : least.error();
        }
        return *least == *most || (is_nan(*least) && is_nan(*most));
    }
};

}  // namespace smdebug::inline v1::rules
#include <smdebug/core/strict_math/end.ipp>

#ifndef SMDEBUG_COMPILED
#include <smdebug/rules/built_in/impl/feature_importance_overweight.ipp>
#endif
