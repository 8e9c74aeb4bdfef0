// The built-in rule UnchangedTensor: a tensor whose last saves are numerically the same.
// Source: the public description of SageMaker Debugger's rule UnchangedTensor.
#pragma once

#include <smdebug/core/json_text.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/rules/finding.hpp>
#include <smdebug/rules/judge/check_settings.hpp>
#include <smdebug/rules/judge/closeness.hpp>
#include <smdebug/rules/judge/saved_tensor.hpp>
#include <smdebug/rules/setting.hpp>
#include <smdebug/trial/options.hpp>
#include <smdebug/trial/trial.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <smdebug/core/strict_math/begin.ipp>
namespace smdebug::inline v1::rules {

/// Fires for each selected tensor whose last num_steps saves, including this step's, are all close: |older - current|
/// <= atol + rtol * |current| for each value, and each older save against the current one, so that slow drift counts as
/// a change.  Saves are looked up in the run, not remembered from earlier calls.
/// Edge cases: with fewer saves it is silent; another shape is a change; text, complex numbers and empty ones are skipped.
/// Without all_workers the first worker by name at each step counts; with it, each worker's own saves.
/// Fast path: min, max and abs_max can prove a change; equality needs the values.  If only reductions were saved, the
/// tensor is noted.
/// Cost: see compare_saved; two tensors in memory at a time, the newest saves first, up to the first difference.
struct unchanged_tensor {
    text_list collection_names = {};  ///< this or tensor_regex is required; both: the union
    text_list tensor_regex = {};
    std::int64_t num_steps = 3;  ///< saves, not steps; at least 2
    double rtol = 1e-5;
    double atol = 1e-8;
    bool equal_nan = false;
    bool all_workers = false;

    [[nodiscard]] static constexpr std::string_view name() noexcept { return "unchanged_tensor"; }
    [[nodiscard]] static constexpr std::string_view service_name() noexcept { return "UnchangedTensor"; }
    [[nodiscard]] static constexpr std::string_view summary() noexcept {
        return "a tensor did not change over its last saves";
    }
    template <class Rule = unchanged_tensor>
    [[nodiscard]] static constexpr auto settings() {
        return std::tuple{setting{"collection_names", &Rule::collection_names, collection_names_meaning},
                          setting{"tensor_regex", &Rule::tensor_regex, tensor_regex_meaning, setting_kind::regexes},
                          setting{"num_steps", &Rule::num_steps, "how many saves in a row must be the same"},
                          setting{"rtol", &Rule::rtol, "how far values may be apart, relative to the newest"},
                          setting{"atol", &Rule::atol, "how far values may be apart, in addition"},
                          setting{"equal_nan", &Rule::equal_nan, "whether NaN is the same as NaN"},
                          setting{"all_workers", &Rule::all_workers, all_workers_meaning}};
    }

    void check() const;

    [[nodiscard]] std::vector<finding> operator()(const std::derived_from<trial> auto& run, step_number step) const {
        return detail::judge_each(run, step, {collection_names, tensor_regex}, all_workers,
                                  [&](const auto& tensor) { return judge(tensor); });
    }

private:
    [[nodiscard]] finding judge(const auto& tensor) const {
        using save_type = std::remove_cvref_t<decltype(tensor)>;
        std::vector<std::pair<step_number, std::string>> older;  // and worker
        const std::size_t wanted = num_steps < 2 ? 1 : static_cast<std::size_t>(num_steps) - 1;
        detail::visit_earlier_saves(tensor, all_workers, [&](const auto& save) {
            older.emplace_back(save.step(), save.worker());
            return older.size() < wanted;
        });
        if (older.size() < wanted) {
            return {};
        }
        bool all_known = true;
        finding unknown;
        for (const auto& [step, worker] : older) {
            const save_type save{tensor.handle(), tensor.name(), step, worker};
            detail::comparison found = detail::compare_saved(save, tensor, {rtol, atol, equal_nan});
            if (found.alike == detail::likeness::different || found.alike == detail::likeness::not_comparable) {
                return {};
            }
            if (found.alike == detail::likeness::unknown && std::exchange(all_known, false)) {
                unknown = std::move(found.note);
            }
        }
        if (!all_known) {
            return unknown;
        }
        const double saves = static_cast<double>(wanted + 1);
        return tensor.met(saves, saves,
                          "unchanged in its last " + std::to_string(wanted + 1) + " saves, since " +
                              tensor.at(older.back().first).step_words() + ": every value within " + short_text(atol) +
                              " + " + short_text(rtol) + " * |value|");
    }
};

inline void unchanged_tensor::check() const {
    detail::require_choice(name(), collection_names, tensor_regex);
    detail::check_range(name(), "num_steps", num_steps, {.least = 2});
    detail::check_tolerance(name(), {rtol, atol, equal_nan});
}

}  // namespace smdebug::inline v1::rules
#include <smdebug/core/strict_math/end.ipp>
