// The built-in rule expert_imbalance: experts of a mixture that get too much, or nothing.
#pragma once

#include <smdebug/core/dtype.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/reduce/element_walks.hpp>
#include <smdebug/rules/finding.hpp>
#include <smdebug/rules/judge/history.hpp>
#include <smdebug/rules/judge/saved_tensor.hpp>
#include <smdebug/rules/setting.hpp>
#include <smdebug/tensor/tensor_value.hpp>
#include <smdebug/trial/lookup.hpp>
#include <smdebug/trial/options.hpp>
#include <smdebug/trial/trial.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <smdebug/core/strict_math/begin.ipp>
namespace smdebug::inline v1::rules {

namespace detail {

/// The measure behind it: of each expert's load.
struct expert_measure {
    std::optional<std::int64_t> experts = {};

    /// Nothing for text, complex numbers and empty tensors; no sums for a tensor without axes.
    [[nodiscard]] std::optional<reduce::detail::expert_sums> operator()(const tensor_view& values) const {
        if (!has_reals(values.type) || values.count() == 0) {
            return std::nullopt;
        }
        if (experts) {
            return reduce::detail::counts_of_numbers(values, static_cast<std::size_t>(*experts));
        }
        return values.shape.empty() ? reduce::detail::expert_sums{} : reduce::detail::sums_by_last_axis(values);
    }
    [[nodiscard]] friend bool operator==(const expert_measure&, const expert_measure&) = default;
};

}  // namespace detail

/// Fires for each selected tensor with the load of the experts of a mixture, if the greatest load is above `threshold`,
/// else if some expert's is below dead_share in `patience` saves of a mode in a row, all with as many experts.
/// Load of an expert: E * (its sum) / (sum of all), so that 1 is fair.  The last axis has the E experts, all axes
/// before it are summed: counts, fractions, probabilities, assignments of 0 and 1.  With `experts` the elements are
/// numbers of experts instead, which are counted; negative ones are dropped tokens.
/// Errors: value_error, at a step, for a negative element, or with `experts` one that is no expert's number.
/// Edge cases: a note where there are no axes, a single expert, an element that is not finite, a sum of 0, or only
/// saved reductions.  Text, complex numbers and empty tensors are skipped.
/// Saves before the walk's start count.  Cost: one read and pass; at a late start up to `patience` more.
struct expert_imbalance {
    text_list collection_names = {};  ///< with tensor_regex: the union; one of them is needed
    text_list tensor_regex = {};
    double threshold = 3;
    double dead_share = 0.05;
    std::int64_t patience = 3;
    std::optional<std::int64_t> experts = {};
    bool all_workers = true;

    /// The experts of a save that have next to nothing; unset if it could not be judged.
    using dead_experts = std::vector<bool>;
    /// Those of earlier saves, so that each is read once; findings do not depend on it.
    mutable detail::history_table<detail::save_history<dead_experts>> so_far = {};

    [[nodiscard]] static constexpr std::string_view name() noexcept { return "expert_imbalance"; }
    [[nodiscard]] static constexpr std::string_view summary() noexcept {
        return "experts of a mixture get too much, or nothing";
    }
    template <class Rule = expert_imbalance>
    [[nodiscard]] static constexpr auto settings() {
        return std::tuple{
            setting{"collection_names", &Rule::collection_names, collection_names_meaning},
            setting{"tensor_regex", &Rule::tensor_regex, tensor_regex_meaning, setting_kind::regexes},
            setting{"threshold", &Rule::threshold, "fires if an expert has more than so many times its fair share"},
            setting{"dead_share", &Rule::dead_share,
                    "fires if an expert has less than this part of its fair share ..."},
            setting{"patience", &Rule::patience, "... in so many saves in a row"},
            setting{"experts", &Rule::experts, "the number of experts, if elements are their numbers"},
            setting{"all_workers", &Rule::all_workers, every_worker_meaning}};
    }

    void check() const;

    [[nodiscard]] std::vector<finding> operator()(const std::derived_from<trial> auto& run, step_number step) const {
        return detail::judge_series(
            run, step, {collection_names, tensor_regex}, all_workers, so_far, static_cast<std::size_t>(patience) - 1,
            [&](const auto& tensor) { return loads_of(tensor); },
            [&](const auto&, const save& one, detail::nothing_more&) -> std::optional<dead_experts> {
                return one.what ? dead_among(*one.what) : dead_experts{};
            },
            [&](const auto& tensor, const save& one, const auto& history) {
                return one.what ? judge(tensor, *one.what, history.entries()) : one.note;
            });
    }

private:
    /// The loads of experts, or why there are none.
    struct expert_loads {
        std::vector<double> load = {};
        std::string missing = {};  ///< for a note
        std::string wrong = {};    ///< for an error
    };
    using save = detail::judged_save<expert_loads>;
    using dead_history = std::deque<detail::save_history<dead_experts>::entry>;

    [[nodiscard]] expert_loads loads_in(reduce::detail::expert_sums sums) const;
    [[nodiscard]] dead_experts dead_among(const expert_loads& loads) const;
    /// A finding without names.
    [[nodiscard]] finding verdict_of(const expert_loads& loads, const dead_history& earlier) const;

    [[nodiscard]] save loads_of(const auto& tensor) const {
        const auto sums = tensor.measured(detail::expert_measure{experts});
        if (sums) {
            if (!sums->has_value()) {
                return save::none();
            }
            expert_loads loads = loads_in(**sums);
            return loads.missing.empty() ? save::of(std::move(loads))
                                         : save::unknown(tensor.note(std::move(loads.missing)));
        }
        return save::unknown_or_none(detail::note_without_values(
            tensor, sums.error(), "its values were not saved, and reductions do not separate experts"));
    }

    [[nodiscard]] finding judge(const auto& tensor, const expert_loads& loads, const dead_history& earlier) const {
        if (!loads.wrong.empty()) {
            throw value_error("expert_imbalance: tensor " + tensor.name() + " of " + tensor.worker() + " at " +
                              tensor.step_words() + " holds no loads of experts: " + loads.wrong +
                              "; choose tensors by tensor_regex");
        }
        return tensor.named(verdict_of(loads, earlier));
    }
};

}  // namespace smdebug::inline v1::rules
#include <smdebug/core/strict_math/end.ipp>

#ifndef SMDEBUG_COMPILED
#include <smdebug/rules/built_in/impl/expert_imbalance.ipp>
#endif
