// What `smdebug scan` does with one run: opens it, chooses the rules that have something to look at, evaluates them.
#pragma once

#include <smdebug/batch/run_batch.hpp>
#include <smdebug/batch/run_result.hpp>
#include <smdebug/batch/scan_runs.hpp>
#include <smdebug/cli/evaluate_run.hpp>
#include <smdebug/cli/opened_archives.hpp>
#include <smdebug/cli/reduce_run.hpp>
#include <smdebug/cli/rule_set.hpp>
#include <smdebug/cli/runs.hpp>
#include <smdebug/cli/scan_arguments.hpp>
#include <smdebug/registry/applicable_rules.hpp>
#include <smdebug/registry/rule_request.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <new>
#include <string>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace cli {
namespace detail {

/// What is said about a run, kept until its turn comes: has what evaluate_run() asks of a console.
class kept_messages {
public:
    /// Called with how far a run is.
    using progress_call = std::function<void(const std::string& what, std::size_t done, std::size_t all)>;

    /// Borrows it.
    explicit kept_messages(const progress_call& progress) : progress_(progress) {}

    void note(std::string text) { add(run_message::kind::note, std::move(text)); }
    void damage(std::string text) { add(run_message::kind::damage, std::move(text)); }
    void error(std::string text) { add(run_message::kind::error, std::move(text)); }
    void progress(const std::string& what, std::size_t done, std::size_t all) const {
        if (progress_) {
            progress_(what, done, all);
        }
    }
    [[nodiscard]] static bool results_on_terminal() noexcept { return false; }

    [[nodiscard]] std::vector<run_message> take() { return std::move(all_); }

private:
    void add(run_message::kind what, std::string text) { all_.push_back({what, std::move(text)}); }

    const progress_call& progress_;
    std::vector<run_message> all_;
};

/// The work on the runs of a batch.  Threads: calls may run at once.
class run_scanner {
public:
    /// Borrows arguments and registry.
    run_scanner(const scan_arguments& args, const program_rules& registry, unsigned threads,
                kept_messages::progress_call progress = {})
        : args_(args),
          registry_(registry),
          how_(reducing(args.check.how)),
          rules_(registry, how_),
          archives_(threads + 1),
          progress_(std::move(progress)) {
        if (args.memory) {  // what may be kept for later is a part of it
            const std::uint64_t part = *args.memory / 8;
            sharing_.value_bytes = std::min<std::size_t>(sharing_.value_bytes, part);
            sharing_.file_bytes = std::min(sharing_.file_bytes, part);
            how_.storage.memory_bytes = std::min(how_.storage.memory_bytes, part);
        }
    }

    [[nodiscard]] run_result operator()(const batch_run& one, const run_scope& scope) {
        run_result result{.run = one};
        kept_messages says{progress_};
        try {
            scan(result, says, scope);
        } catch (const std::bad_alloc&) {
            result.messages = says.take();
            result.state = run_state::no_memory;
            result.error = "not enough memory";
            return result;
        } catch (const std::exception& wrong) {
            result.state = run_state::failed;
            result.error = error_text(wrong, one.path);
        }
        result.messages = says.take();
        return result;
    }

private:
    void scan(run_result& result, kept_messages& says, const run_scope& scope) {
        const std::string& path = result.run.path;
        run_options how = how_;
        how.stop = scope.stop();
        const program_trial run = open_run(archives_.place_of(path, how.storage), how);
        smdebug::detail::describe_run(result, run);
        const auto note = [&](std::string text) { says.note(std::move(text)); };
        skipped_files skipped;
        skipped.tell(run, path, note);
        if (args_.statistics) {
            result.reductions = reduce_run(run, path, args_, scope, says);
            skipped.tell(run, path, note);
            return;
        }
        const auto plan = smdebug::detail::plan_rules(registry_, run, args_.check.rules, args_.other_trials);
        std::vector<rule_request> chosen;
        for (const smdebug::detail::planned_rule& each : plan) {
            if (each.why_not.empty()) {
                chosen.push_back(each.request);
            }
        }
        evaluation_hooks hooks{.sharing = sharing_, .stop = scope.stop()};
        hooks.sharing.threads = scope.threads();
        run_result evaluated;
        smdebug::detail::add_verdicts(evaluated, evaluate_run(rules_, chosen, run, path, args_.check, hooks, says));
        skipped.tell(run, path, note);  // a refresh may have met more
        auto verdict = evaluated.verdicts.begin();
        for (const smdebug::detail::planned_rule& each : plan) {
            if (each.why_not.empty()) {
                result.verdicts.push_back(std::move(*verdict++));
            } else {
                result.verdicts.push_back({.rule = each.request.label, .details = each.why_not});
            }
        }
    }

    const scan_arguments& args_;
    const program_rules& registry_;
    run_options how_;
    sharing_options sharing_;
    rule_maker rules_;
    opened_archives archives_;
    kept_messages::progress_call progress_;
};

}  // namespace detail
}  // namespace cli
}  // namespace v1
}  // namespace smdebug
