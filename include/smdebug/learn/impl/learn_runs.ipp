// The bodies of <smdebug/learn/learn.hpp> that find runs, also in archives.
#pragma once

#include <smdebug/batch/run_batch.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/core/printable_text.hpp>
#include <smdebug/learn/learn.hpp>
#include <smdebug/trial/basic_trial.hpp>

#include <algorithm>
#include <map>
#include <mutex>
#include <utility>

namespace smdebug::inline v1 {
namespace detail::learn {

/// Joins the facts of runs as they end.
class facts_gatherer {
public:
    facts_gatherer(const learn_options& options, const run_leaver& left_out)
        : options_(options), left_out_(left_out), facts_{.reductions = numbers_named(options.reductions)} {
        if (!options.add_to.runs().empty()) {
            facts_ = facts_access::data(options.add_to);
        }
    }

    [[nodiscard]] const number_set& kept() const noexcept { return facts_.reductions; }

    void note(const std::string& run, const std::string& text) {
        const std::lock_guard lock{guard_};
        if (options_.on_note) {
            options_.on_note(run, text);
        }
    }
    void leave_out(const std::string& run, const std::string& why) {
        const std::lock_guard lock{guard_};
        if (left_out_) {
            left_out_({run, why});
        }
    }
    void take(run_learner& learner, const std::string& run) {
        const std::lock_guard lock{guard_};
        learner.finish_into(facts_, run);
    }
    void count_one() {
        const std::lock_guard lock{guard_};
        ++done_;
        if (options_.progress) {
            options_.progress(done_);
        }
    }
    [[nodiscard]] all_facts finish() { return std::move(facts_); }

private:
    const learn_options& options_;
    const run_leaver& left_out_;
    std::mutex guard_;
    all_facts facts_;
    std::size_t done_ = 0;
};

SMDEBUG_INLINE std::optional<run_finder::found> next_to_learn(
    run_finder& runs, const learn_options& options, const run_leaver& left_out,
    const std::function<bool(const std::string& path)>& is_asked) {
    const auto leave_out = [&](const std::string& run, const std::string& why) {
        if (left_out) {
            left_out({run, why});
        }
    };
    const std::vector<std::string>& known = options.add_to.runs();
    while (auto found = runs.next()) {
        const std::string& path = found->run.path;
        if (!found->run.error.empty()) {
            leave_out(path, found->run.error);
        } else if (!is_utf8(path)) {
            leave_out(path, "its name cannot stand in the file, as it is not UTF-8");
        } else if (!is_asked || is_asked(path)) {
            if (std::binary_search(known.begin(), known.end(), path)) {
                throw value_error("the run " + printable(path) +
                                  " has been learned from already: each run counts once.  Leave it out");
            }
            return found;
        }
    }
    return std::nullopt;
}

SMDEBUG_INLINE all_facts learn_each(const found_source& next_found, const run_opener& open,
                                    const learn_options& options, const run_leaver& left_out) {
    facts_gatherer gathered{options, left_out};
    const auto leave_out = [&](const left_out_run& one) { gathered.leave_out(one.run, one.why); };
    std::mutex guard;
    std::map<std::uint64_t, any_storage> stores;  // of runs in archives, until they are begun
    const auto next = [&]() -> std::optional<batch_run> {
        auto found = next_found(leave_out);
        if (!found) {
            return std::nullopt;
        }
        if (found->store) {
            const std::lock_guard lock{guard};
            stores.emplace(found->run.place, *std::move(found->store));
        }
        return std::move(found->run);
    };
    const auto work = [&](const batch_run& one, const run_scope& scope) -> run_result {
        std::optional<any_storage> store;
        {
            const std::lock_guard lock{guard};
            if (const auto found = stores.find(one.place); found != stores.end()) {
                store = std::move(found->second);
                stores.erase(found);
            }
        }
        try {
            run_learner learner = learner_of_run(open(one.path, store), one.path, gathered.kept(), 1, scope.stop,
                                                 [&](const std::string& text) { gathered.note(one.path, text); });
            gathered.take(learner, one.path);  // the run is closed by now, which frees its catalog
        } catch (const stopped_error&) {
            return {.run = one, .state = run_state::undone};
        } catch (const std::exception& wrong) {
            gathered.leave_out(one.path, wrong.what());
        }
        gathered.count_one();
        return {.run = one};
    };
    const bool is_complete =
        run_batch({.threads = std::max(options.threads, 1U), .in_order = false, .stop = options.stop}, next, work,
                  [](run_result&&) {});
    if (!is_complete) {
        throw stopped_error("learning was stopped");
    }
    return gathered.finish();
}

SMDEBUG_INLINE learned_facts learn_found(run_finder& runs, const run_opener& open, const learn_options& options,
                                         const run_leaver& left_out,
                                         const std::function<bool(const std::string& path)>& is_asked) {
    const auto next = [&](const run_leaver& leave_out) { return next_to_learn(runs, options, leave_out, is_asked); };
    all_facts facts = learn_each(next, open, options, left_out);
    facts.settle();
    return facts_access::made_of(std::move(facts));
}

}  // namespace detail::learn

SMDEBUG_INLINE learned_facts learn_runs(const std::vector<std::string>& paths, const learn_options& options,
                                        const std::function<void(const left_out_run&)>& left_out) {
    run_finder runs{paths, run_finder::settings{.storage = options.storage}};
    const auto open = [&](const std::string& path, const std::optional<any_storage>& store) {
        trial_options how{.range = options.steps, .missing_event_file_retry_limit = 0, .stop = options.stop};
        if (!store) {
            return create_trial(path, std::move(how), options.storage);
        }
        try {
            return trial{*store, how};
        } catch (const not_found&) {
            return create_trial(path, std::move(how), options.storage);  // logs and checkpoints, for one
        }
    };
    return detail::learn::learn_found(runs, open, options, left_out);
}

}  // namespace smdebug::inline v1
