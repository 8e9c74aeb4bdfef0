// The built-in rule activation_outliers: one activation that dwarfs the others.
#pragma once

#include <smdebug/core/float_kinds.hpp>
#include <smdebug/core/json_text.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/rules/finding.hpp>
#include <smdebug/rules/judge/check_settings.hpp>
#include <smdebug/rules/judge/history.hpp>
#include <smdebug/rules/judge/saved_tensor.hpp>
#include <smdebug/rules/setting.hpp>
#include <smdebug/trial/lookup.hpp>
#include <smdebug/trial/options.hpp>
#include <smdebug/trial/trial.hpp>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <smdebug/core/strict_math/begin.ipp>
namespace smdebug::inline v1::rules {

/// Fires for each selected tensor whose largest magnitude M dwarfs the rest:
///     M > min_abs and M / r > threshold, where r is the root mean square of all elements but that one
/// r comes from the L2 norm, r^2 = max(L2^2 - M^2, 1e-6 * L2^2) / (n - 1): float32 norms cancel, so that the ratio is
/// at most 1000 * sqrt(n - 1); with r = 0 it is infinite.
/// Edge cases: fewer than two elements, or a norm that is not finite, are a note.  Text, complex numbers and empty
/// tensors are skipped.
/// From reductions: abs_max (or min and max), l2 and the shape suffice.  Cost: one read and pass.
struct activation_outliers {
    text_list collection_names = {};  ///< with tensor_regex: the union; one of them is needed
    text_list tensor_regex = {};
    double threshold = 100;
    double min_abs = 100;
    bool all_workers = true;

    [[nodiscard]] static constexpr std::string_view name() noexcept { return "activation_outliers"; }
    [[nodiscard]] static constexpr std::string_view summary() noexcept { return "one activation dwarfs the others"; }
    template <class Rule = activation_outliers>
    [[nodiscard]] static constexpr auto settings() {
        return std::tuple{setting{"collection_names", &Rule::collection_names, collection_names_meaning},
                          setting{"tensor_regex", &Rule::tensor_regex, tensor_regex_meaning, setting_kind::regexes},
                          setting{"threshold", &Rule::threshold,
                                  "fires if the largest magnitude is above so many times the others' root mean square"},
                          setting{"min_abs", &Rule::min_abs, "the largest magnitude must be above this, too"},
                          setting{"all_workers", &Rule::all_workers, every_worker_meaning}};
    }

    void check() const;

    [[nodiscard]] std::vector<finding> operator()(const std::derived_from<trial> auto& run, step_number step) const {
        return detail::judge_each(run, step, {collection_names, tensor_regex}, all_workers,
                                  [&](const auto& tensor) { return judge(tensor); });
    }

private:
    [[nodiscard]] std::optional<finding> judge(const auto& tensor) const {
        const detail::save_facts facts = detail::facts_of(tensor, detail::l2_reductions | detail::abs_max_reductions);
        if (facts.what == detail::save_facts::kind::not_a_save) {
            return std::nullopt;
        }
        if (facts.what == detail::save_facts::kind::unreadable) {
            return tensor.note(facts.failure);
        }
        const lookup<double> largest = detail::abs_max_of(tensor, facts);
        const lookup<double> norm = largest ? detail::l2_of(tensor, facts) : largest;
        if (!norm) {
            return tensor.note(norm.error());
        }
        if (!facts.size) {
            return tensor.note("neither its values nor its shape were saved: the number of elements is not known");
        }
        const double squares = *norm * *norm;
        if (*facts.size < 2 || !is_finite(*largest) || !is_finite(squares)) {
            return tensor.note(*facts.size < 2
                                   ? std::string{"it has one element: there are no others to compare with"}
                                   : "it cannot be judged: its largest magnitude is " + short_text(*largest) +
                                         ", its L2 norm " + short_text(*norm) + ", not finite or too large to square");
        }
        constexpr double least_rest = 1e-6;  // of the squares: below it float32 has nothing left
        const double rest = std::max(squares - *largest * *largest, least_rest * squares);
        const double others = std::sqrt(rest / static_cast<double>(*facts.size - 1));
        const double ratio = others > 0 ? *largest / others : std::numeric_limits<double>::infinity();
        if (!(*largest > min_abs && ratio > threshold)) {
            return finding{};
        }
        return tensor.met(ratio, threshold,
                          "the largest magnitude, " + short_text(*largest) + ", is " + short_text(ratio) + " times " +
                              short_text(others) + ", the root mean square of the others; " +
                              std::to_string(*facts.size) + " elements");
    }
};

inline void activation_outliers::check() const {
    detail::require_choice(name(), collection_names, tensor_regex);
    detail::check_range(name(), "threshold", threshold, {.least = 0, .above_least = true});
    detail::check_range(name(), "min_abs", min_abs);
}

}  // namespace smdebug::inline v1::rules
#include <smdebug/core/strict_math/end.ipp>
