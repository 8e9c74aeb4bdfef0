// The built-in rule gradient_spike: the norm of all gradients far above its recent ones.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/rules/finding.hpp>
#include <smdebug/rules/judge/history.hpp>
#include <smdebug/rules/judge/saved_tensor.hpp>
#include <smdebug/rules/setting.hpp>
#include <smdebug/trial/options.hpp>
#include <smdebug/trial/trial.hpp>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <smdebug/core/strict_math/begin.ipp>
namespace smdebug::inline v1::rules {

/// Fires for each worker whose norm G of all gradients, sqrt(sum of L2^2), is far above its newest `window` finite
/// ones:
///     m > 0 and G > max(ratio * m, m + z_threshold * R)
/// m is their median, R 1.4826 times the median of |x - m|.  They are those of its saves, in the mode of the step, of
/// exactly the same tensors: a sum over fewer is no baseline.  At least min_history of them are needed.
/// NaN or infinite: fires where the newest earlier norm is finite, with non_finite.
/// The finding's tensor is the one with the largest norm.  A tensor whose norm is not known is left out, with a note.
/// From reductions: l2 suffices.  Norms before the walk's start count.
/// Cost: one read and pass, or one small read, of each gradient; at a late start those of earlier steps, too, until
/// there are `window` of the same tensors.  Memory: `window` numbers for each worker and set of tensors.
struct gradient_spike {
    text_list collection_names = {};  ///< with tensor_regex the union; by default the collection "gradients"
    text_list tensor_regex = {};
    std::int64_t window = 20;
    std::optional<std::int64_t> min_history = {};  ///< if unset 10, or window if that is less
    double ratio = 5;
    double z_threshold = 7;
    double above_largest = 0;
    std::int64_t top = 3;
    bool non_finite = true;
    bool all_workers = true;

    /// Norms of earlier steps, so that each gradient is read once; findings do not depend on it.
    class history {
        friend gradient_spike;
        using of_set = detail::number_history;

        [[nodiscard]] bool has_seen(step_number step) const {
            return std::binary_search(seen_.begin(), seen_.end(), step);
        }
        void begin(const auto& run, step_number step);
        void see(step_number step);

        detail::history_table<of_set> sets_;
        std::vector<step_number> seen_;  // the last steps of this walk: their norms are in the histories of their sets
    };
    mutable history so_far = {};

    [[nodiscard]] static constexpr std::string_view name() noexcept { return "gradient_spike"; }
    [[nodiscard]] static constexpr std::string_view summary() noexcept {
        return "the norm of all gradients is far above its recent ones";
    }
    template <class Rule = gradient_spike>
    [[nodiscard]] static constexpr auto settings() {
        return std::tuple{
            setting{"collection_names", &Rule::collection_names,
                    "collections to look at; with tensor_regex: both; neither: \"gradients\""},
            setting{"tensor_regex", &Rule::tensor_regex, tensor_regex_meaning, setting_kind::regexes},
            setting{"window", &Rule::window, window_meaning},
            setting{"min_history", &Rule::min_history, min_history_meaning},
            setting{"ratio", &Rule::ratio, "fires if it is above so many times the median ..."},
            setting{"z_threshold", &Rule::z_threshold, "... so many robust deviations above the median, ..."},
            setting{"above_largest", &Rule::above_largest, above_largest_meaning},
            setting{"top", &Rule::top, "how many tensors with the largest shares a finding names"},
            setting{"non_finite", &Rule::non_finite, "whether a norm that becomes NaN or infinite fires"},
            setting{"all_workers", &Rule::all_workers, every_worker_meaning}};
    }

    void check() const;

    [[nodiscard]] std::vector<finding> operator()(const std::derived_from<trial> auto& run, step_number step) const {
        so_far.begin(run, step);
        std::vector<finding> findings;
        const gradients_by_worker now = gradients_at(run, step, &findings);
        std::map<step_number, std::map<std::string, all_gradients, std::less<>>> earlier;  // read in this call
        const auto at = [&](step_number other) -> const gradients_by_worker& {
            const auto known = earlier.find(other);
            return known != earlier.end()
                       ? known->second
                       : earlier.emplace(other, norms_alone(gradients_at(run, other, nullptr))).first->second;
        };
        const mode in = run.mode(step).value_or(mode::global);
        for (const auto& [worker, gradients] : now) {
            history::of_set& set = so_far.sets_.of(std::to_string(gradients.names), worker, in);
            const auto first = run.tensor(gradients.tensors.front().name);
            set.reach(
                step, static_cast<std::size_t>(window),
                [&](step_number from, const auto& visit) {
                    detail::visit_steps_back(first, from, mode::global, visit);
                },
                [&, &by = worker, &of = gradients](step_number other) -> std::optional<double> {
                    if (run.mode(other) != in || so_far.has_seen(other)) {
                        return std::nullopt;
                    }
                    const gradients_by_worker& there = at(other);
                    const auto found = there.find(by);
                    return found != there.end() && found->second.names == of.names
                               ? detail::kept_number(other, found->second.norm, set.more)
                               : std::nullopt;
                });
            detail::add_if_said(findings, judge(run, gradients, set));
            set.put(step, detail::kept_number(step, gradients.norm, set.more));
        }
        so_far.see(step);
        return findings;
    }

private:
    struct gradient {
        std::string name;
        std::string worker;
        double norm = 0;
    };
    /// Those of one worker, or of all together.
    struct all_gradients {
        std::vector<gradient> tensors = {};  ///< by name
        std::uint64_t names = 0;             ///< a hash of them
        double norm = 0;
    };
    using gradients_by_worker = std::map<std::string, all_gradients, std::less<>>;

    /// Hashes the names, and computes the norm of all.
    static void sum_up(all_gradients& gradients);
    [[nodiscard]] static gradients_by_worker norms_alone(gradients_by_worker gradients) {
        for (auto& each : gradients) {
            each.second.tensors = {};
        }
        return gradients;
    }

    /// `notes`: null, or receives why a norm is not known.
    [[nodiscard]] gradients_by_worker gradients_at(const auto& run, step_number step,
                                                   std::vector<finding>* notes) const {
        gradients_by_worker found;
        const auto all =
            detail::judge_each(run, step, detail::choice_or(collection_names, tensor_regex, "gradients"), all_workers,
                               [&](const auto& tensor) -> std::optional<finding> {
                                   detail::judged_save<double> norm = detail::l2_in_save(tensor);
                                   if (!norm.is_save) {
                                       return std::nullopt;
                                   }
                                   if (norm.what) {
                                       found[all_workers ? tensor.worker() : std::string{}].tensors.push_back(
                                           {tensor.name(), tensor.worker(), *norm.what});
                                   }
                                   return std::move(norm.note);
                               });
        for (auto& each : found) {
            sum_up(each.second);
        }
        if (notes != nullptr) {
            *notes = all;
        }
        return found;
    }

    /// What is said about one worker.
    struct verdict {
        const gradient* largest = nullptr;  ///< null if the condition is not met
        double threshold = std::numeric_limits<double>::quiet_NaN();
        std::string message = {};
    };
    [[nodiscard]] verdict verdict_of(const all_gradients& gradients, const std::deque<history::of_set::entry>& earlier,
                                     double newest, const std::string& newest_step) const;
    /// The condition is met: adds the tensors with the largest shares to the message.
    [[nodiscard]] verdict verdict_about(const all_gradients& gradients, double threshold, std::string message) const;

    [[nodiscard]] finding judge(const auto& run, const all_gradients& gradients, const history::of_set& set) const {
        const std::string& tensor = gradients.tensors.front().name;
        const auto handle = run.tensor(tensor);
        const std::string no_worker;
        const std::string newest_step = detail::saved_tensor{handle, tensor, set.more.step, no_worker}.step_words();
        verdict said = verdict_of(gradients, set.entries(), set.more.number, newest_step);
        if (said.largest == nullptr) {
            return {};
        }
        return {.met = true,
                .tensor = said.largest->name,
                .worker = said.largest->worker,
                .value = gradients.norm,
                .threshold = said.threshold,
                .message = std::move(said.message)};
    }
};

void gradient_spike::history::begin(const auto& run, step_number step) {
    if (sets_.begin(run) || (!seen_.empty() && step <= seen_.back())) {
        seen_.clear();
    }
}

}  // namespace smdebug::inline v1::rules
#include <smdebug/core/strict_math/end.ipp>

#ifndef SMDEBUG_COMPILED
#include <smdebug/rules/built_in/impl/gradient_spike.ipp>
#endif
