// Evaluates rules over many runs from C++: like `smdebug scan`, with the caller's own rules, trials and storages.
#pragma once

#include <smdebug/batch/run_batch.hpp>
#include <smdebug/batch/run_result.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/core/function_ref.hpp>
#include <smdebug/rules/any_rule.hpp>
#include <smdebug/rules/finding.hpp>
#include <smdebug/rules/invoke_rules.hpp>
#include <smdebug/rules/rule_result.hpp>
#include <smdebug/trial/basic_trial.hpp>
#include <smdebug/trial/options.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <exception>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smdebug::inline v1 {

namespace detail {

/// The steps, workers and tensors of a run, and whether its job has ended.
template <class Trial>
void describe_run(run_result& result, const Trial& run) {
    const auto steps = run.steps({.show_incomplete_steps = true});
    result.steps = steps.size();
    result.last_step = steps.empty() ? std::nullopt : std::optional{steps.back()};
    result.workers = run.workers().size();
    result.tensors = run.tensor_names().size();
    result.state = run.loaded_all_steps() ? run_state::ended : run_state::growing;
}

/// Adds the unread parts of a run, as error messages.
template <class Trial>
void add_problems(run_result& result, const Trial& run) {
    if constexpr (requires { run.problems(); }) {
        for (const problem& one : run.problems()) {
            result.messages.push_back({.what = run_message::kind::error, .text = text_of(one)});
        }
    }
}

/// Adds the verdicts of rules on a run.
/// Errors: std::bad_alloc if a rule had too little memory: the run then needs more than it may have.
inline void add_verdicts(run_result& result, std::vector<rule_result> results) {
    for (rule_result& each : results) {
        if (each.cause) {
            try {
                std::rethrow_exception(each.cause);
            } catch (const std::bad_alloc&) {
                throw;
            } catch (...) {  // the rule's own failure, which its result has in words
                each.cause = nullptr;
            }
        }
        for (finding& found : each.outcome.findings) {
            found.rule = each.name;
        }
        result.verdicts.push_back(std::move(each));
    }
}

/// Evaluates rules over the existing steps of a run, without waiting for a growing one.  `how` is completed from the
/// scope.
template <class Trial>
[[nodiscard]] std::vector<rule_result> invoke_in_batch(const Trial& run, const std::vector<any_rule<Trial>>& rules,
                                                       invoke_rules_options how, const run_scope& scope) {
    if (!run.loaded_all_steps()) {
        const auto steps = run.steps({.show_incomplete_steps = true});
        const step_number end =
            steps.empty() ? how.common.start_step : std::max(how.common.start_step, steps.back() + 1);
        how.common.end_step = how.common.end_step ? std::min(*how.common.end_step, end) : end;
    }
    how.common.timeout = std::chrono::milliseconds{0};
    how.common.stop = scope.stop;
    how.sharing.threads = scope.threads;
    if (scope.memory) {
        how.sharing = how.sharing.within(*scope.memory);
    }
    return invoke_rules(run, rules, how);
}

}  // namespace detail

/// How runs are scanned.
struct scan_runs_options {
    batch_options batch = {};
    /// Options of each run; the batch sets its stop token.
    trial_options trial = {};
    storage_options storage = {};
    /// Steps and sharing; its callbacks are called on many threads concurrently.
    invoke_rules_options rules = {};
};

/// Scans the runs at these paths, a range of texts, on all cores.  rules(trial) returns the rules for a run, on any
/// thread: std::vector<any_rule<trial>>.  on_result(run_result&&) is called in the order of the paths, by one thread at
/// a time.  open(path, trial_options) opens a run; usually create_trial with the options' storage.  A run that cannot
/// be opened, or fails, is a result, too.
///
///     smd::scan_runs(paths, [&](const smd::trial& run) { return applicable_rules(registry, run); }, {},
///                    [](smd::run_result&& result) { ... });
///
/// Returns whether the scan was completed; false if it was stopped.
/// Errors: what on_result throws.  Memory, threads: as run_batch().
template <detail::input_iterable Paths, class Rules, class OnResult, class Open>
bool scan_runs(Paths&& paths, Rules&& rules, const scan_runs_options& options, OnResult&& on_result, Open&& open) {
    auto next = std::ranges::begin(paths);
    const auto end = std::ranges::end(paths);
    std::uint64_t place = 0;
    const auto take = [&]() -> std::optional<batch_run> {
        if (next == end) {
            return std::nullopt;
        }
        batch_run run{.place = place++, .path = std::string{std::string_view{*next}}};
        ++next;
        return run;
    };
    const auto work = [&](const batch_run& one, const run_scope& scope) {
        run_result result{.run = one};
        trial_options how = options.trial;
        how.stop = scope.stop;
        if (scope.memory) {
            how.limits = how.limits.within(*scope.memory);
        }
        const auto run = open(one.path, std::move(how));
        detail::describe_run(result, run);
        detail::add_verdicts(result, detail::invoke_in_batch(run, rules(run), options.rules, scope));
        detail::add_problems(result, run);
        settle_state(result);
        return result;
    };
    return run_batch(options.batch, take, work, [&](run_result&& result) { on_result(std::move(result)); });
}
template <detail::input_iterable Paths, class Rules, class OnResult>
bool scan_runs(Paths&& paths, Rules&& rules, const scan_runs_options& options, OnResult&& on_result) {
    return scan_runs(paths, rules, options, on_result, [&](const std::string& path, trial_options how) {
        return create_trial(path, std::move(how), options.storage);
    });
}

}  // namespace smdebug::inline v1
