// The built-in rule ClassImbalance: some classes are much rarer than others, or one is mostly predicted wrongly.
// Source: the public description of SageMaker Debugger's rule ClassImbalance.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/reduce/element_walks.hpp>
#include <smdebug/rules/finding.hpp>
#include <smdebug/rules/judge/saved_tensor.hpp>
#include <smdebug/rules/setting.hpp>
#include <smdebug/tensor/tensor_value.hpp>
#include <smdebug/trial/lookup.hpp>
#include <smdebug/trial/options.hpp>
#include <smdebug/trial/trial.hpp>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include <smdebug/core/strict_math/begin.ipp>
namespace smdebug::inline v1::rules {

/// Counts labels by class, from the first step on that the rule is called with.  After `samples` labels it fires at
/// each step with labels where (1) the largest class is more than threshold_imbalance times the smallest class seen; or
/// (2) more than the share threshold_misprediction of some class was predicted as another one.  One finding for each.
/// Labels and predictions are the first tensors by name that match and were saved at the step, flattened.  A step where
/// one has a number with a fraction is skipped: it has no classes.  Labels below 0 or not finite are ignored: they mark
/// entries without a class.  Predictions that are not
/// finite are ignored in (2), and so is every step without as many predictions as labels.
/// With argmax, predictions are probabilities: the index of the largest along the last axis, the first of equals; a row
/// with NaN predicts nothing.  Labels are compared with the predictions of the same worker.
/// Fast path: none.  Cost: reads both tensors whole; keeps a few bytes for each class.
struct class_imbalance {
    double threshold_imbalance = 10;
    double threshold_misprediction = 0.7;
    std::int64_t samples = 500;
    bool argmax = false;
    text_list labels_regex = ".*labels";
    text_list predictions_regex = ".*predictions";
    bool all_workers = false;  ///< count the labels of every worker together

    /// The counts so far.
    struct history {
    private:
        friend struct class_imbalance;
        struct tally {
            std::uint64_t labels = 0;
            std::uint64_t judged = 0;  ///< of them, those with a prediction
            std::uint64_t wrong = 0;   ///< of those, the ones predicted as another class
        };
        std::unordered_map<std::int64_t, tally> classes;
        std::uint64_t seen = 0;
    };
    history so_far = {};  ///< state between steps, kept by the rule

    [[nodiscard]] static constexpr std::string_view name() noexcept { return "class_imbalance"; }
    [[nodiscard]] static constexpr std::string_view service_name() noexcept { return "ClassImbalance"; }
    [[nodiscard]] static constexpr std::string_view summary() noexcept {
        return "some classes are much rarer than others, or one is mostly predicted wrongly";
    }
    template <class Rule = class_imbalance>
    [[nodiscard]] static constexpr auto settings() {
        return std::tuple{
            setting{"threshold_imbalance", &Rule::threshold_imbalance,
                    "fires if the largest class has more than this many times the labels of the smallest"},
            setting{"threshold_misprediction", &Rule::threshold_misprediction,
                    "fires if more than this share of a class is predicted wrongly, from 0 to 1"},
            setting{"samples", &Rule::samples, "labels to see before it judges"},
            setting{"argmax", &Rule::argmax, "predictions are probabilities: take the largest along the last axis"},
            setting{"labels_regex", &Rule::labels_regex, "the first tensor that matches has the labels",
                    setting_kind::regexes},
            setting{"predictions_regex", &Rule::predictions_regex, "the first tensor that matches has the predictions",
                    setting_kind::regexes},
            setting{"all_workers", &Rule::all_workers,
                    "count the labels of every worker, not only of the first by name"}};
    }

    /// Errors: value_error, insufficient_information.
    void check() const;

    [[nodiscard]] std::vector<finding> operator()(const std::derived_from<trial> auto& run, step_number step) {
        const auto labels_name = first_match(run, step, labels_regex);
        if (!labels_name) {
            return {};
        }
        std::vector<finding> findings;
        std::vector<std::pair<std::vector<double>, std::vector<double>>> pairs;  // counted when none skips the step
        const auto predictions_name = first_match(run, step, predictions_regex);
        const auto handle = run.tensor(*labels_name);
        std::optional<std::string> first_worker;
        for (const std::string& worker : workers_to_check(handle, step, all_workers)) {
            const detail::saved_tensor tensor{handle, *labels_name, step, worker};
            const auto labels = tensor.values();
            if (!labels) {
                add_note(findings, tensor.note(labels.error()));
            } else if (has_reals(labels->type()) && labels->size() > 0) {
                std::vector<double> numbers = reals_of(*labels);
                detail::require_whole_numbers(numbers, *labels_name, step);
                std::vector<double> predicted;
                if (predictions_name) {
                    const auto other = run.tensor(*predictions_name);
                    predicted = predictions_of(detail::saved_tensor{other, *predictions_name, step, worker}, findings);
                }
                pairs.emplace_back(std::move(numbers), std::move(predicted));
                first_worker = first_worker.value_or(worker);
            }
        }
        for (const auto& [numbers, predicted] : pairs) {
            count(numbers, predicted);
        }
        if (first_worker && so_far.seen >= static_cast<std::uint64_t>(std::max<std::int64_t>(samples, 0))) {
            judge({.met = true, .tensor = *labels_name, .worker = *first_worker}, findings);
        }
        return findings;
    }

private:
    [[nodiscard]] static std::optional<std::string> first_match(const std::derived_from<trial> auto& run,
                                                                step_number step, const text_list& regex) {
        if (regex.empty()) {
            return std::nullopt;
        }
        std::vector<std::string> names = tensors_to_check(run, step, {.tensor_regex = regex});
        return names.empty() ? std::nullopt : std::optional{std::move(names.front())};
    }

    static void add_note(std::vector<finding>& findings, finding note);

    /// The predicted classes; NaN for none.  Empty if they are missing, in which case a note may be added.
    [[nodiscard]] std::vector<double> predictions_of(const auto& tensor, std::vector<finding>& findings) const {
        const auto values = tensor.values();
        if (values) {
            if (argmax) {
                return reduce::detail::row_argmax(*values);
            }
            std::vector<double> numbers = reals_of(*values);
            detail::require_whole_numbers(numbers, tensor.name(), tensor.step(),
                                          " If these are probabilities, set argmax=true.");
            return numbers;
        }
        if (values.error().why != lookup_failure_kind::no_such_worker) {
            add_note(findings, tensor.note(values.error()));
        }
        return {};
    }

    void count(const std::vector<double>& labels, const std::vector<double>& predicted);

    /// Adds the findings, each of which begins like `met`.  Of equal classes the one with the lowest number counts.
    void judge(const finding& met, std::vector<finding>& findings) const;
};

}  // namespace smdebug::inline v1::rules
#include <smdebug/core/strict_math/end.ipp>

#ifndef SMDEBUG_COMPILED
#include <smdebug/rules/built_in/impl/class_imbalance.ipp>
#endif
