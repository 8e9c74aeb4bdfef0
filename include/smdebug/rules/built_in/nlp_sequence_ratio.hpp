// The built-in rule NLPSequenceRatio: too much of a batch of tokens is one token, such as padding.
// Source: the public description of SageMaker Debugger's rule NLPSequenceRatio.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/core/float_kinds.hpp>
#include <smdebug/core/json_text.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/reduce/element_walks.hpp>
#include <smdebug/reduce/name.hpp>
#include <smdebug/rules/finding.hpp>
#include <smdebug/rules/judge/saved_tensor.hpp>
#include <smdebug/rules/setting.hpp>
#include <smdebug/tensor/tensor_value.hpp>
#include <smdebug/trial/options.hpp>
#include <smdebug/trial/trial.hpp>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <smdebug/core/strict_math/begin.ipp>
namespace smdebug::inline v1::rules {

namespace detail {

/// How often each token occurs.
struct token_measure {
    std::vector<double> tokens = {};

    struct result {
        std::size_t elements = 0;  ///< 0 for text and complex numbers
        std::vector<std::size_t> counts = {};
    };
    [[nodiscard]] result operator()(const tensor_view& values) const {
        result found{.elements = has_reals(values.type) ? values.count() : 0};
        for (const double token : tokens) {
            found.counts.push_back(reduce::detail::count_equal(values, token));
        }
        return found;
    }
    [[nodiscard]] friend bool operator==(const token_measure&, const token_measure&) = default;
};

}  // namespace detail

/// Fires for each selected tensor in which more than token_thresholds_percent[k] percent are token_values[k], for some
/// k: 100 * count / N > threshold.  A single threshold applies to all tokens; thresholds without a token are ignored.
/// NaN is not a token, but counts in N.  A tensor gives one finding, for the first token in the list that is too
/// frequent.
/// Fast path: the count of zeros decides for the token 0; a token outside [min, max] is absent.  Else the values are
/// counted.  Cost: at most one pass over the tensor for the reductions and one for each token.
struct nlp_sequence_ratio {
    text_list tensor_regex = ".*embedding0_input_0";
    std::vector<double> token_values = {0};
    std::vector<double> token_thresholds_percent = {50};
    bool all_workers = false;

    [[nodiscard]] static constexpr std::string_view name() noexcept { return "nlp_sequence_ratio"; }
    [[nodiscard]] static constexpr std::string_view service_name() noexcept { return "NLPSequenceRatio"; }
    [[nodiscard]] static constexpr std::string_view summary() noexcept {
        return "too much of a batch of tokens is one token, such as padding";
    }
    template <class Rule = nlp_sequence_ratio>
    [[nodiscard]] static constexpr auto settings() {
        return std::tuple{
            setting{"tensor_regex", &Rule::tensor_regex, tensor_regex_meaning, setting_kind::regexes},
            setting{"token_values", &Rule::token_values, "numbers of the tokens to count"},
            setting{
                "token_thresholds_percent", &Rule::token_thresholds_percent,
                "fires if a token makes up more than this percentage; one for each, in the same order, or one for all"},
            setting{"all_workers", &Rule::all_workers, all_workers_meaning}};
    }

    /// Errors: value_error, insufficient_information.
    void check() const;

    /// Errors: also those of check(), as the lists must fit together.
    [[nodiscard]] std::vector<finding> operator()(const std::derived_from<trial> auto& run, step_number step) const {
        check();
        return detail::judge_each(run, step, {.tensor_regex = tensor_regex}, all_workers, [&](const auto& tensor) {
            const bool only_zero =
                std::all_of(token_values.begin(), token_values.end(), [](double v) { return v == 0; });
            if (only_zero) {
                if (const auto counts = tensor.counts()) {
                    finding found = judge(tensor, static_cast<std::size_t>(counts->count),
                                          [&](double) { return static_cast<std::size_t>(counts->zeros); });
                    return found.met && !tensor.is_ordered() ? finding{} : found;
                }
            }
            if (has_no_token(tensor)) {
                return finding{};
            }
            const auto counted = tensor.measured(detail::token_measure{token_values});
            if (!counted) {
                return tensor.note(counted.error());
            }
            std::size_t next = 0;  // judge() asks for the tokens in their order
            return judge(tensor, counted->elements, [&](double) { return counted->counts[next++]; });
        });
    }

private:
    /// The finding about a tensor of `size` values, of which count(token) are equal to a token.
    [[nodiscard]] finding judge(const auto& tensor, std::size_t size, const auto& count) const {
        for (std::size_t k = 0; size > 0 && k < token_values.size(); ++k) {
            const double allowed = token_thresholds_percent[token_thresholds_percent.size() == 1 ? 0 : k];
            const std::size_t found = count(token_values[k]);
            const double percent = detail::percent_of(found, size);
            if (percent > allowed) {
                return tensor.met(percent, allowed,
                                  short_text(percent) + " percent of the " + std::to_string(size) +
                                      " values are the token " + short_text(token_values[k]) + ", more than " +
                                      short_text(allowed));
            }
        }
        return {};
    }

    /// Whether min and max prove that all tokens are absent.  NaN proves nothing.
    [[nodiscard]] bool has_no_token(const auto& tensor) const {
        const auto least = tensor.reduction_value(reduction::min);
        const auto most = tensor.reduction_value(reduction::max);
        const auto outside = [&](double token) {
            const double slack = std::abs(token) * 0x1p-23;  // reductions may have been rounded to float32
            return token - slack > *most || token + slack < *least;
        };
        return least && most && std::all_of(token_values.begin(), token_values.end(), outside);
    }
};

inline void nlp_sequence_ratio::check() const {
    const auto refuse = [](const std::string& why) { throw value_error("nlp_sequence_ratio: " + why); };
    if (tensor_regex.empty()) {
        throw detail::insufficient_information("nlp_sequence_ratio", "tensor_regex is empty");
    }
    if (token_values.empty()) {
        refuse("token_values is empty; it must name at least one token");
    }
    if (token_thresholds_percent.size() != 1 && token_thresholds_percent.size() < token_values.size()) {
        refuse("token_thresholds_percent has " + std::to_string(token_thresholds_percent.size()) + " numbers for the " +
               std::to_string(token_values.size()) +
               " tokens of token_values; it must have one, or one for each token");
    }
    for (const double token : token_values) {
        if (!is_finite(token)) {
            refuse("token_values has " + short_text(token) + "; tokens must be finite numbers");
        }
    }
    for (const double percent : token_thresholds_percent) {
        if (!(percent >= 0 && percent <= 100)) {
            refuse("token_thresholds_percent has " + short_text(percent) + "; percents must be from 0 to 100");
        }
    }
}

}  // namespace smdebug::inline v1::rules
#include <smdebug/core/strict_math/end.ipp>
