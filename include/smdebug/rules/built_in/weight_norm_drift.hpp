// The built-in rule weight_norm_drift: a weight's norm that grows or shrinks too fast.
#pragma once

#include <smdebug/core/float_kinds.hpp>
#include <smdebug/core/json_text.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/rules/finding.hpp>
#include <smdebug/rules/judge/check_settings.hpp>
#include <smdebug/rules/judge/history.hpp>
#include <smdebug/rules/judge/saved_tensor.hpp>
#include <smdebug/rules/setting.hpp>
#include <smdebug/trial/options.hpp>
#include <smdebug/trial/trial.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <smdebug/core/strict_math/begin.ipp>
namespace smdebug::inline v1::rules {

/// Fires for each tensor whose L2 norm N left what it was in its newest `window` saves in this mode:
///     N > growth * (the least of them), else N * shrink < (the greatest of them)
/// Only finite norms above min_norm count among these: weights that begin as zeros may grow.  N itself may be below it.
/// The first `warm_up` norms that count are not among them: a weight that begins small grows fast as it learns.  A scan
/// sets it to 10: without it the rule fires on most healthy trainings that save from their first step on.
/// Edge cases: without an earlier norm it is silent.  An N that is NaN or infinite is a note.  Shapes may change.
/// Text, complex numbers and empty tensors are skipped.
/// From reductions: l2 suffices.  Norms before the walk's start count.
/// Cost: one read and pass, or one small read; at a late start up to `window` more.
struct weight_norm_drift {
    text_list collection_names = {};  ///< with tensor_regex the union; by default the collection "weights"
    text_list tensor_regex = {};
    std::int64_t window = 10;
    std::int64_t warm_up = 0;
    double growth = 4;
    double shrink = 4;
    double min_norm = 1e-6;
    bool all_workers = true;
    text_list exclude_regex = {};

    /// Norms of earlier saves, so that each is read once; findings do not depend on it.
    mutable detail::history_table<detail::save_history<double>> so_far = {};

    [[nodiscard]] static constexpr std::string_view name() noexcept { return "weight_norm_drift"; }
    [[nodiscard]] static constexpr std::string_view summary() noexcept {
        return "a weight's norm grows or shrinks too fast";
    }
    template <class Rule = weight_norm_drift>
    [[nodiscard]] static constexpr auto settings() {
        return std::tuple{
            setting{"collection_names", &Rule::collection_names,
                    "collections to look at; with tensor_regex: both; neither: \"weights\""},
            setting{"tensor_regex", &Rule::tensor_regex, tensor_regex_meaning, setting_kind::regexes},
            setting{"window", &Rule::window, window_meaning},
            setting{"warm_up", &Rule::warm_up, "how many first saves of a tensor are not compared with"},
            setting{"growth", &Rule::growth, "fires if the norm is above so many times the least of these"},
            setting{"shrink", &Rule::shrink, "fires if so many times the norm are below the greatest of these"},
            setting{"min_norm", &Rule::min_norm, "earlier norms must be above this to count"},
            setting{"all_workers", &Rule::all_workers, every_worker_meaning},
            setting{"exclude_regex", &Rule::exclude_regex, exclude_regex_meaning, setting_kind::regexes}};
    }

    void check() const;

    [[nodiscard]] std::vector<finding> operator()(const std::derived_from<trial> auto& run, step_number step) const {
        const auto is_left_out = detail::left_out(run, step, exclude_regex);
        return detail::judge_series(
            run, step, detail::choice_or(collection_names, tensor_regex, "weights"), all_workers, so_far,
            static_cast<std::size_t>(window) + static_cast<std::size_t>(warm_up),
            [&](const auto& tensor) {
                return is_left_out(tensor) ? detail::judged_save<double>::none() : detail::l2_in_save(tensor);
            },
            [&](const auto&, const detail::judged_save<double>& save, detail::nothing_more&) {
                return save.what && is_finite(*save.what) && *save.what > min_norm ? save.what : std::nullopt;
            },
            [&](const auto& tensor, const detail::judged_save<double>& save, const auto& history) {
                return save.what ? judge(tensor, *save.what, history) : save.note;
            });
    }

private:
    [[nodiscard]] finding judge(const auto& tensor, double norm, const auto& history) const {
        if (!is_finite(norm)) {
            return tensor.note("its L2 norm is " + short_text(norm) + ", not finite: it cannot be compared");
        }
        const auto& norms = history.entries();  // all of the series, or so many that the first of it are not needed
        if (norms.size() <= static_cast<std::size_t>(warm_up)) {
            return {};
        }
        auto least = norms.back();
        auto greatest = least;
        for (auto each = norms.begin() + warm_up; each != norms.end(); ++each) {
            least = each->what < least.what ? *each : least;
            greatest = each->what > greatest.what ? *each : greatest;
        }
        const auto met = [&](const auto& from, double threshold, const std::string& verb) {
            const double ratio = norm / from.what;
            return tensor.met(ratio, threshold,
                              "the norm " + verb + " from " + short_text(from.what) + " at " +
                                  tensor.at(from.step).step_words() + " to " + short_text(norm) + ": to " +
                                  short_text(ratio) + " times that, " + (ratio > 1 ? "above " : "below ") +
                                  short_text(threshold));
        };
        if (norm > growth * least.what) {
            return met(least, growth, "grew");
        }
        return norm * shrink < greatest.what ? met(greatest, 1 / shrink, "shrank") : finding{};
    }
};

inline void weight_norm_drift::check() const {
    detail::check_range(name(), "window", window, {.least = 1});
    detail::check_range(name(), "warm_up", warm_up);
    detail::check_range(name(), "growth", growth, {.least = 1, .above_least = true});
    detail::check_range(name(), "shrink", shrink, {.least = 1, .above_least = true});
    detail::check_range(name(), "min_norm", min_norm);
}

}  // namespace smdebug::inline v1::rules
#include <smdebug/core/strict_math/end.ipp>
