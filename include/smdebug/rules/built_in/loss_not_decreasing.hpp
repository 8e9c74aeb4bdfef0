// The built-in rule LossNotDecreasing: a loss that does not decrease enough from check to check.
// Source: the public description of SageMaker Debugger's rule LossNotDecreasing.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/core/float_kinds.hpp>
#include <smdebug/core/json_text.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/rules/concepts.hpp>
#include <smdebug/rules/finding.hpp>
#include <smdebug/rules/judge/check_settings.hpp>
#include <smdebug/rules/judge/loss_values.hpp>
#include <smdebug/rules/judge/saved_tensor.hpp>
#include <smdebug/rules/setting.hpp>
#include <smdebug/trial/lookup.hpp>
#include <smdebug/trial/options.hpp>
#include <smdebug/trial/trial.hpp>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
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

/// Checks each scalar loss every num_steps steps, and fires if it did not decrease enough.
/// When: at a save s with some save p <= s - num_steps, and num_steps after the previous check.  It is compared with
///       the newest such p; with saves every 3 steps and num_steps 10: 12 with 0, 24 with 12.  The first check is the
///       first possible one of the walk; the save that it is compared with may precede the walk.
/// Condition: the loss rose by more than increase_threshold_percent, fell by less than diff_percent, or is the same;
///            percent of |previous|.  Decision: a small rise is tolerated, a flat loss is not, as in the public texts.
/// Edge cases: after a previous loss of 0 it fires unless the loss is negative now.  It fires where the loss is NaN or
/// infinite and was finite before; where it was not finite before, it is silent, which counts as a check.  Tensors of
/// other sizes than 1, text and complex numbers are skipped.
/// With a `window`, as in a scan, the condition is another one: it fires at each save where the loss has not fallen
/// since it began, see detail::loss_course, or is not finite; num_steps is not used.  Noise, plateaus and slow starts
/// are no reason then, nor is a loss that moves against another one, as those of a generator and its discriminator do.
/// Steps are those of a mode, by its own numbers; with GLOBAL, all steps by global numbers.  XGBoost's losses are in
/// "metrics", along with metrics that should rise: name the losses with tensor_regex.
/// Cost: none at steps without a check; two small reads at one.  Not meant for thousands of large tensors.
struct loss_not_decreasing {
    text_list collection_names = {};  ///< all three together; one of them is needed
    text_list tensor_regex = {};
    bool use_losses_collection = true;  ///< adds the collection "losses"
    std::int64_t num_steps = 10;
    double diff_percent = 0.1;
    double increase_threshold_percent = 5.0;
    /// If unset, the first of EVAL, TRAIN, GLOBAL in which the run has saves of the tensor.  With a
    /// window, if unset, the first of TRAIN, EVAL, GLOBAL.
    std::optional<smdebug::mode> mode = {};
    bool all_workers = false;
    std::int64_t window = 0;

    /// The step of each loss's last check, by tensor and worker.
    class history {
        friend loss_not_decreasing;
        std::map<std::pair<std::string, std::string>, step_number> last_check_;
        std::map<std::pair<std::string, std::string>, detail::loss_course> courses_;
    };
    history so_far = {};  ///< state between steps, kept by the rule

    [[nodiscard]] static constexpr std::string_view name() noexcept { return "loss_not_decreasing"; }
    [[nodiscard]] static constexpr std::string_view service_name() noexcept { return "LossNotDecreasing"; }
    [[nodiscard]] static constexpr std::string_view summary() noexcept { return "a loss does not fall enough"; }
    template <class Rule = loss_not_decreasing>
    [[nodiscard]] static constexpr auto settings() {
        return std::tuple{
            setting{"collection_names", &Rule::collection_names, collection_names_meaning},
            setting{"tensor_regex", &Rule::tensor_regex, tensor_regex_meaning, setting_kind::regexes},
            setting{"use_losses_collection", &Rule::use_losses_collection, "look at the collection \"losses\", too"},
            setting{"num_steps", &Rule::num_steps, "how many steps lie at least between two checks"},
            setting{"diff_percent", &Rule::diff_percent, "fires if the loss falls by less than this percentage"},
            setting{"increase_threshold_percent", &Rule::increase_threshold_percent,
                    "fires if the loss rises by more than this percentage"},
            setting{"mode", &Rule::mode,
                    "EVAL, TRAIN or GLOBAL; unset: the first of these in which the loss was saved"},
            setting{"all_workers", &Rule::all_workers, all_workers_meaning},
            setting{"window", &Rule::window,
                    "compares the mean of so many newest losses with that of the first; 0: single losses"}};
    }

    void check() const;

    [[nodiscard]] std::vector<finding> operator()(const std::derived_from<trial> auto& run, step_number step) {
        detail::tensor_choice which{collection_names, tensor_regex};
        if (use_losses_collection) {
            std::vector<std::string> groups = collection_names.texts();
            groups.emplace_back("losses");
            which.collection_names = std::move(groups);
        }
        if (window > 0) {
            return judge_courses(run, step, which);
        }
        const auto step_mode = run.mode(step);
        return detail::judge_each(run, step, which, all_workers, [&](const auto& tensor) {
            const smdebug::mode in =
                mode ? *mode : first_mode(tensor.handle(), {smdebug::mode::eval, smdebug::mode::train});
            if (in == smdebug::mode::global) {
                return judge(tensor, in, step);
            }
            const auto mode_step = run.mode_step(step);
            return step_mode == in && mode_step ? judge(tensor, in, *mode_step) : finding{};
        });
    }

private:
    [[nodiscard]] static smdebug::mode first_mode(const auto& tensor, std::initializer_list<smdebug::mode> order) {
        for (const smdebug::mode in : order) {
            if (!detail::last_steps(tensor, std::numeric_limits<step_number>::max(), 1, in).empty()) {
                return in;
            }
        }
        return smdebug::mode::global;
    }

    /// Adds the losses of a step to their courses, then judges these.
    [[nodiscard]] std::vector<finding> judge_courses(const auto& run, step_number step,
                                                     const detail::tensor_choice& which) {
        struct latest {
            std::pair<const std::pair<std::string, std::string>, detail::loss_course>* course;
            std::size_t saves;  // of the run; many where they were not counted
        };
        std::vector<latest> now;
        const auto wanted = 2 * static_cast<std::size_t>(window);
        const auto judged_from = [](std::size_t first, std::size_t saves) {
            return "judged from its save number " + std::to_string(first) + " on; there are " + std::to_string(saves);
        };
        auto findings = detail::judge_each(run, step, which, all_workers, [&](const auto& tensor) -> finding {
            const smdebug::mode in =
                mode ? *mode : first_mode(tensor.handle(), {smdebug::mode::train, smdebug::mode::eval});
            if (in != smdebug::mode::global && run.mode(step) != in) {
                return {};
            }
            const auto loss = detail::scalar_at(tensor.handle(), step, read_options{.worker = tensor.worker()});
            if (!loss || !loss->has_value()) {
                return loss ? finding{} : tensor.note(loss.error());
            }
            if (!is_finite(**loss)) {
                return tensor.met(**loss, std::numeric_limits<double>::quiet_NaN(), "the loss is not finite");
            }
            const auto of = so_far.courses_.try_emplace({tensor.name(), tensor.worker()}).first;
            detail::loss_course& course = of->second;
            course.add(step, **loss, window);
            std::size_t saves = 2 * wanted;
            if (course.count() == 1 || (course.may_be_against() && !course.is_noted)) {
                constexpr step_number end = std::numeric_limits<step_number>::max();
                saves = detail::last_steps(tensor.handle(), end, saves, in).size();
            }
            now.push_back({&*of, saves});
            return saves >= wanted ? finding{} : tensor.note(judged_from(wanted, saves));
        });
        for (const latest& each : now) {
            const std::string& worker = each.course->first.second;
            auto& course = each.course->second;
            std::optional<finding> verdict = course.not_fallen(diff_percent, increase_threshold_percent);
            const auto other = std::find_if(now.begin(), now.end(), [&](const latest& one) {
                return one.course->first.second == worker && course.is_against(one.course->second);
            });
            if (verdict && other != now.end()) {
                if (each.saves >= 2 * wanted) {
                    continue;
                }
                course.is_noted = true;
                verdict = finding::note("it has not fallen, but may move against " + other->course->first.first + ": " +
                                        judged_from(2 * wanted, each.saves));
            }
            if (verdict) {
                std::tie(verdict->tensor, verdict->worker) = each.course->first;
                findings.push_back(*std::move(verdict));
            }
        }
        return findings;
    }

    /// A save of a tensor, by the numbers of its mode.
    struct save {
        step_number step = -1;
        std::string worker;
    };

    /// The newest save that is old enough to compare with.
    [[nodiscard]] std::optional<save> save_before(const auto& now, smdebug::mode in, step_number step) const {
        std::optional<save> newest;
        detail::visit_steps_back(now.handle(), step - num_steps, in, [&](step_number earlier) {
            const std::vector<std::string> workers = now.handle().workers(earlier, read_options{.mode = in});
            if (const std::string* const from = detail::worker_to_compare(workers, now.worker(), all_workers)) {
                newest = save{earlier, *from};
            }
            return !newest;
        });
        return newest;
    }

    // `step` is a mode step.
    [[nodiscard]] finding judge(const auto& now, smdebug::mode in, step_number step) {
        const auto key = std::pair{now.name(), all_workers ? now.worker() : std::string{}};
        const auto last = so_far.last_check_.find(key);
        // A check at this step or later belongs to an earlier walk.
        if (last != so_far.last_check_.end() && last->second < step && step - last->second < num_steps) {
            return {};
        }
        const auto before = save_before(now, in, step);
        if (!before) {
            return {};
        }
        const auto current = detail::scalar_at(now.handle(), now.step(), read_options{.worker = now.worker()});
        if (!current) {
            return now.note(current.error());
        }
        const auto previous =
            detail::scalar_at(now.handle(), before->step, read_options{.mode = in, .worker = before->worker});
        if (!previous) {
            return note_about(now.name(), before->worker, before->step, previous.error());
        }
        if (!current->has_value() || !previous->has_value()) {
            return {};
        }
        so_far.last_check_.insert_or_assign(key, step);
        const std::string since = in == smdebug::mode::global
                                      ? now.at(before->step).step_words()
                                      : std::string{name_of(in)} + " step " + std::to_string(before->step);
        return compare(now, **previous, **current, since);
    }

    [[nodiscard]] finding compare(const auto& now, double before, double current, const std::string& since) const {
        if (!is_finite(before)) {
            return {};
        }
        const std::string course = "since " + since + ", from " + short_text(before) + " to " + short_text(current);
        if (!is_finite(current)) {
            return now.met(current, std::numeric_limits<double>::quiet_NaN(), "the loss is no longer finite " + course);
        }
        if (current == before) {
            return now.met(0, diff_percent, "the loss has not changed since " + since + ": " + short_text(current));
        }
        const double change = std::abs(current - before);
        const double percent = before == 0 ? std::numeric_limits<double>::infinity() : 100 * change / std::abs(before);
        if (current > before && percent > increase_threshold_percent) {
            return now.met(percent, increase_threshold_percent,
                           "the loss rose by " + short_text(percent) + "% " + course + ": more than " +
                               short_text(increase_threshold_percent) + "%");
        }
        if (current < before && percent < diff_percent) {
            return now.met(percent, diff_percent,
                           "the loss fell by " + short_text(percent) + "% " + course + ": less than " +
                               short_text(diff_percent) + "%");
        }
        return {};
    }
};

inline void loss_not_decreasing::check() const {
    detail::require_setting(name(), !collection_names.empty() || !tensor_regex.empty() || use_losses_collection,
                            "collection_names, tensor_regex or use_losses_collection");
    detail::check_range(name(), "window", window, {.most = 1e9});  // five times as many losses are kept
    detail::check_range(name(), "num_steps", num_steps, {.least = 1});
    detail::check_range(name(), "diff_percent", diff_percent, {.infinite = true});
    detail::check_range(name(), "increase_threshold_percent", increase_threshold_percent, {.infinite = true});
    if (mode == smdebug::mode::predict) {
        throw value_error("loss_not_decreasing: mode is PREDICT; it must be EVAL, TRAIN or GLOBAL");
    }
}

}  // namespace smdebug::inline v1::rules
#include <smdebug/core/strict_math/end.ipp>
