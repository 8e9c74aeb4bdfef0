// The built-in rule loss_spike: a loss far above its recent ones.
#pragma once

#include <smdebug/core/dtype.hpp>
#include <smdebug/core/float_kinds.hpp>
#include <smdebug/core/json_text.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/rules/finding.hpp>
#include <smdebug/rules/judge/check_settings.hpp>
#include <smdebug/rules/judge/history.hpp>
#include <smdebug/rules/judge/loss_values.hpp>
#include <smdebug/rules/judge/saved_tensor.hpp>
#include <smdebug/rules/setting.hpp>
#include <smdebug/tensor/tensor_value.hpp>
#include <smdebug/trial/lookup.hpp>
#include <smdebug/trial/options.hpp>
#include <smdebug/trial/trial.hpp>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <smdebug/core/strict_math/begin.ipp>
namespace smdebug::inline v1::rules {

/// Fires for each loss L, a tensor of one element, that is far above its newest `window` finite values in this mode:
///     L > m + max(z_threshold * R, relative * |m|, min_increase, above_largest * (M - m))
/// m is their median, R 1.4826 times the median of |x - m|: a spike among them moves neither.  M is their largest.  At
/// least min_history of them are needed.
/// NaN or infinite: fires where the newest earlier value is finite, with non_finite.
/// So constant, falling and slowly rising losses do not fire, nor do the first saves; a lasting rise fires until it is
/// half of the window.
/// From reductions: where the saved shape has one element, its mean, else sum, max, min.  Tensors of other sizes, text
/// and complex numbers: skipped.
/// Values before the walk's start count.  Cost: one small read; at a late start up to `window` more.
struct loss_spike {
    text_list collection_names = {};  ///< with tensor_regex the union; by default the collection "losses"
    text_list tensor_regex = {};
    std::int64_t window = 20;
    std::optional<std::int64_t> min_history = {};  ///< if unset 10, or window if that is less
    double z_threshold = 7;
    double relative = 0.1;
    double min_increase = 0;
    double above_largest = 0;
    bool non_finite = true;
    bool all_workers = true;

    /// Finite values of earlier saves, so that each is read once; findings do not depend on it.
    mutable detail::history_table<detail::number_history> so_far = {};

    [[nodiscard]] static constexpr std::string_view name() noexcept { return "loss_spike"; }
    [[nodiscard]] static constexpr std::string_view summary() noexcept { return "a loss is far above its recent ones"; }
    template <class Rule = loss_spike>
    [[nodiscard]] static constexpr auto settings() {
        return std::tuple{
            setting{"collection_names", &Rule::collection_names,
                    "collections to look at; with tensor_regex: both; neither: \"losses\""},
            setting{"tensor_regex", &Rule::tensor_regex, tensor_regex_meaning, setting_kind::regexes},
            setting{"window", &Rule::window, window_meaning},
            setting{"min_history", &Rule::min_history, min_history_meaning},
            setting{"z_threshold", &Rule::z_threshold, "fires if it is so many robust deviations above the median ..."},
            setting{"relative", &Rule::relative, "... by this part of the median, too, ..."},
            setting{"min_increase", &Rule::min_increase, "... by this much, ..."},
            setting{"above_largest", &Rule::above_largest, above_largest_meaning},
            setting{"non_finite", &Rule::non_finite, "whether a loss that becomes NaN or infinite fires"},
            setting{"all_workers", &Rule::all_workers, every_worker_meaning}};
    }

    void check() const;

    [[nodiscard]] std::vector<finding> operator()(const std::derived_from<trial> auto& run, step_number step) const {
        return detail::judge_series(
            run, step, detail::choice_or(collection_names, tensor_regex, "losses"), all_workers, so_far,
            static_cast<std::size_t>(window), [](const auto& tensor) { return loss_of(tensor); },
            [](const auto& tensor, const detail::judged_save<double>& save, detail::newest_number& newest) {
                return save.what ? detail::kept_number(tensor.step(), *save.what, newest) : std::nullopt;
            },
            [&](const auto& tensor, const detail::judged_save<double>& save, const auto& history) {
                return save.what ? judge(tensor, *save.what, history) : save.note;
            });
    }

private:
    [[nodiscard]] static detail::judged_save<double> loss_of(const auto& tensor) {
        using save = detail::judged_save<double>;
        if (const auto values = tensor.values()) {
            if (!has_reals(values->type()) || values->size() == 0) {
                return save::none();
            }
            return values->size() == 1 ? save::of(reals_of(*values)[0]) : save::unknown({});
        }
        const auto one = detail::scalar_at(tensor.handle(), tensor.step(), read_options{.worker = tensor.worker()});
        if (one && *one) {
            return save::of(**one);
        }
        if (!one) {
            const bool has_size = one.error().why != lookup_failure_kind::tensor_not_saved || tensor.shape();
            return save::unknown(
                has_size ? tensor.note(one.error())
                         : tensor.note("no values were saved, and no shape: it is not known whether it is a loss"));
        }
        const auto shape = tensor.shape();
        return shape && element_count(*shape) == 0U ? save::none() : save::unknown({});
    }

    [[nodiscard]] finding judge(const auto& tensor, double loss, const auto& history) const {
        if (!is_finite(loss)) {
            return non_finite && is_finite(history.more.number)
                       ? tensor.met(loss, std::numeric_limits<double>::quiet_NaN(),
                                    "the loss is no longer finite: " + short_text(loss) + ", after " +
                                        short_text(history.more.number) + " at " +
                                        tensor.at(history.more.step).step_words())
                       : finding{};
        }
        const auto usual = detail::usual_numbers(history.entries(), min_history, window);
        if (!usual) {
            return {};
        }
        const double bound =
            usual->median + std::max({z_threshold * usual->deviation, relative * std::abs(usual->median), min_increase,
                                      above_largest * (usual->largest - usual->median)});
        return loss > bound
                   ? tensor.met(loss, bound,
                                "the loss " + short_text(loss) + " is " + short_text(loss - usual->median) + " above " +
                                    short_text(usual->median) + ", the median of its last " +
                                    std::to_string(history.entries().size()) + " values, whose robust deviation is " +
                                    short_text(usual->deviation) + "; the limit was " + short_text(bound))
                   : finding{};
    }
};

inline void loss_spike::check() const {
    detail::check_history(name(), window, min_history);
    detail::check_range(name(), "z_threshold", z_threshold);
    detail::check_range(name(), "relative", relative);
    detail::check_range(name(), "min_increase", min_increase);
    detail::check_range(name(), "above_largest", above_largest);
}

}  // namespace smdebug::inline v1::rules
#include <smdebug/core/strict_math/end.ipp>
