// The built-in rule attention_collapse: attention on one position, or on all alike.
#pragma once

#include <smdebug/core/dtype.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/reduce/element_walks.hpp>
#include <smdebug/rules/finding.hpp>
#include <smdebug/rules/judge/history.hpp>
#include <smdebug/rules/judge/saved_tensor.hpp>
#include <smdebug/rules/setting.hpp>
#include <smdebug/tensor/tensor_view.hpp>
#include <smdebug/trial/concepts.hpp>
#include <smdebug/trial/lookup.hpp>
#include <smdebug/trial/options.hpp>

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
/// Edge cases: no rows, or not the axes that the settings need: a note.  Saved reductions alone: a note.  Text, complex
/// numbers and empty tensors: skipped.
/// Cost: one read and pass; near a threshold, and with max_entropy, a logarithm for each element that is not 0.
struct attention_collapse {
    text_list collection_names = {};  ///< with tensor_regex: the union; one of them is needed
    text_list tensor_regex = {};
    double min_entropy = 0.05;
    std::optional<double> max_entropy = {};  ///< unset: off; fresh models are uniform
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

    [[nodiscard]] std::vector<finding> operator()(const readable_trial auto& run, step_number step) const {
        return detail::judge_each(run, step, {collection_names, tensor_regex}, all_workers,
                                  [&](const auto& tensor) { return judge(tensor); });
    }

private:
    using outcome = reduce::detail::row_entropies::outcome;

    /// What the mean entropies of a save say; nothing: it is as if it was not saved.
    struct verdict {
        bool met = false;
        double value = 0;
        double threshold = 0;
        std::string message = {};  ///< of a note, too
    };
    /// Errors: value_error, with `where` the tensor, worker and step.
    [[nodiscard]] verdict verdict_of(const reduce::detail::row_entropies& found, const std::string& where) const;

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
        verdict said = verdict_of(*found, tensor.name() + " of " + tensor.worker() + " at " + tensor.step_words());
        return said.met ? tensor.met(said.value, said.threshold, std::move(said.message))
                        : tensor.note(std::move(said.message));
    }
};

}  // namespace smdebug::inline v1::rules
#include <smdebug/core/strict_math/end.ipp>

#ifndef SMDEBUG_COMPILED
#include <smdebug/rules/built_in/impl/attention_collapse.ipp>
#endif
