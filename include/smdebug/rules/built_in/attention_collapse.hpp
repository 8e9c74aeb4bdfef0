// The built-in rule attention_collapse: attention on one position, or on all alike.
#pragma once

#include <smdebug/core/dtype.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/core/json_text.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/reduce/element_walks.hpp>
#include <smdebug/rules/finding.hpp>
#include <smdebug/rules/judge/check_settings.hpp>
#include <smdebug/rules/judge/history.hpp>
#include <smdebug/rules/judge/saved_tensor.hpp>
#include <smdebug/rules/setting.hpp>
#include <smdebug/tensor/tensor_view.hpp>
#include <smdebug/trial/lookup.hpp>
#include <smdebug/trial/options.hpp>
#include <smdebug/trial/trial.hpp>

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <smdebug/core/strict_math/begin.ipp>
namespace smdebug::inline v1::rules {

namespace detail {

/// The measure behind it.
struct entropy_measure {
    reduce::detail::entropy_options how = {};

    [[nodiscard]] reduce::detail::row_entropies operator()(const tensor_view& values) const {
        return reduce::detail::entropies_of_rows(values, how);
    }
    [[nodiscard]] friend bool operator==(const entropy_measure&, const entropy_measure&) = default;
};

}  // namespace detail

/// Fires for each selected tensor of probabilities, whose rows are its last axis, if the mean entropy of its rows, or
/// of a head's with head_axis, is below min_entropy, else above max_entropy.
/// The entropy of a row is -sum(p * ln p) / ln(size), from 0 (all on one position) to 1 (uniform); size is the length
/// of the row, with `causal` the number of positions that it may look at.  Rows of one position, with an element that
/// is not finite, or of zeros alone are skipped.
/// Errors: value_error, at a step, for a row that is not one of probabilities: a regex is wrong, not the run.
/// Edge cases: a note where there are no rows, not the axes that the settings need, or only saved reductions.  Text,
/// complex numbers and empty tensors are skipped.
/// Cost: one read and pass; near a threshold, and with max_entropy, a logarithm for each element that is not 0.
struct attention_collapse {
    text_list collection_names = {};  ///< with tensor_regex: the union; one of them is needed
    text_list tensor_regex = {};
    double min_entropy = 0.05;
    std::optional<double> max_entropy = {};  ///< off unless set, as fresh models are uniform
    std::optional<std::int64_t> head_axis = {};
    bool causal = false;
    double tolerance = 0.01;  ///< of the sum of a row
    bool all_workers = true;

    [[nodiscard]] static constexpr std::string_view name() noexcept { return "attention_collapse"; }
    [[nodiscard]] static constexpr std::string_view summary() noexcept {
        return "attention is on one position, or on all alike";
    }
    template <class Rule = attention_collapse>
    [[nodiscard]] static constexpr auto settings() {
        return std::tuple{
            setting{"collection_names", &Rule::collection_names, collection_names_meaning},
            setting{"tensor_regex", &Rule::tensor_regex, tensor_regex_meaning, setting_kind::regexes},
            setting{"min_entropy", &Rule::min_entropy, "fires if the mean entropy, from 0 to 1, is below this"},
            setting{"max_entropy", &Rule::max_entropy, "fires if it is above this"},
            setting{"head_axis", &Rule::head_axis,
                    "the axis of heads, which are judged apart; unset: all rows together"},
            setting{"causal", &Rule::causal, "whether a position cannot see later ones"},
            setting{"tolerance", &Rule::tolerance, "how far the sum of a row may be from 1"},
            setting{"all_workers", &Rule::all_workers, every_worker_meaning}};
    }

    void check() const;

    [[nodiscard]] std::vector<finding> operator()(const std::derived_from<trial> auto& run, step_number step) const {
        return detail::judge_each(run, step, {collection_names, tensor_regex}, all_workers,
                                  [&](const auto& tensor) { return judge(tensor); });
    }

private:
    using outcome = reduce::detail::row_entropies::outcome;

    /// What the mean entropies of a save say: a finding or note without names.
    /// Errors: value_error, with `where` the tensor, worker and step.
    [[nodiscard]] finding verdict_of(const reduce::detail::row_entropies& found, const std::string& where) const;

    [[nodiscard]] std::optional<finding> judge(const auto& tensor) const {
        const auto enough = max_entropy ? std::nullopt : std::optional{min_entropy};
        const auto found = tensor.measured(detail::entropy_measure{{tolerance, head_axis, causal, enough}});
        if (!found) {
            return detail::note_without_values(tensor, found.error(),
                                               "its values were not saved, and reductions have no rows");
        }
        if (found->what == outcome::not_real) {
            return std::nullopt;
        }
        return tensor.named(
            verdict_of(*found, tensor.name() + " of " + tensor.worker() + " at " + tensor.step_words()));
    }
};

inline void attention_collapse::check() const {
    detail::require_choice(name(), collection_names, tensor_regex);
    detail::check_range(name(), "min_entropy", min_entropy, {.most = 1});
    detail::check_range(name(), "max_entropy", max_entropy, {.most = 1});
    detail::check_range(name(), "head_axis", head_axis);
    detail::check_range(name(), "tolerance", tolerance, {.above_least = true});
}

inline finding attention_collapse::verdict_of(const reduce::detail::row_entropies& found,
                                              const std::string& where) const {
    const auto rows = [&](std::uint64_t count, std::uint32_t group) {
        return (head_axis ? "of the " + std::to_string(count) + " rows of head " + std::to_string(group)
                          : "of " + std::to_string(count) + " rows") +
               " is ";
    };
    switch (found.what) {
        case outcome::not_a_row:
            throw value_error("attention_collapse: row " + std::to_string(found.rows_of_least) + " of tensor " + where +
                              " is not one of probabilities: its sum is " + short_text(found.least) +
                              ", or an element is below 0; choose tensors of attention by tensor_regex");
        case outcome::no_axes:
            return {.message = "it has no axes, so that it has no rows of probabilities"};
        case outcome::no_head_axis:
            return {.message = "it has no axis " + std::to_string(head_axis.value_or(0)) +
                               " before its last one: head_axis does not fit"};
        case outcome::no_causal_axis:
            return {.message = "it has one axis: `causal` needs one more, of positions that look"};
        case outcome::no_rows:
        case outcome::not_real:
            return {.message = "it has no row to judge: each has one position, is all zeros, or is not finite"};
        case outcome::found:
            break;
    }
    if (found.least < min_entropy) {
        return {.met = true,
                .value = found.least,
                .threshold = min_entropy,
                .message = "the mean entropy " + rows(found.rows_of_least, found.least_group) +
                           short_text(found.least) + ", below min_entropy, " + short_text(min_entropy) +
                           ": the attention is on few positions"};
    }
    if (max_entropy && found.greatest > *max_entropy) {
        return {.met = true,
                .value = found.greatest,
                .threshold = *max_entropy,
                .message = "the mean entropy " + rows(found.rows_of_greatest, found.greatest_group) +
                           short_text(found.greatest) + ", above max_entropy, " + short_text(*max_entropy) +
                           ": the attention is on all positions alike"};
    }
    return {};
}

}  // namespace smdebug::inline v1::rules
#include <smdebug/core/strict_math/end.ipp>
