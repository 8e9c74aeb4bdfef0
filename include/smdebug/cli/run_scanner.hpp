// What `smdebug scan` does with one run: opens it, chooses the rules that have something to look at, evaluates them.
#pragma once

#include <smdebug/batch/run_batch.hpp>
#include <smdebug/batch/run_result.hpp>
#include <smdebug/batch/run_version.hpp>
#include <smdebug/batch/scan_runs.hpp>
#include <smdebug/cli/evaluate_run.hpp>
#include <smdebug/cli/opened_archives.hpp>
#include <smdebug/cli/reduce_run.hpp>
#include <smdebug/cli/rule_notes.hpp>
#include <smdebug/cli/rule_set.hpp>
#include <smdebug/cli/run_notes.hpp>
#include <smdebug/cli/run_parts.hpp>
#include <smdebug/cli/run_places.hpp>
#include <smdebug/cli/runs.hpp>
#include <smdebug/cli/scan_arguments.hpp>
#include <smdebug/cli/scan_page.hpp>
#include <smdebug/cli/scan_source.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/formats/open_data.hpp>
#include <smdebug/registry/applicable_rules.hpp>
#include <smdebug/registry/rule_request.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <iterator>
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

    [[nodiscard]] bool empty() const noexcept { return all_.empty(); }
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

    /// Has run_result::run.version and .bytes filled in, and leaves alone what is at the version that batch_run::version
    /// names.  Before the first run.
    void tell_versions() { tells_versions_ = true; }

    /// Has large runs opened only, where others can do parts of them: see run_result::parts.  Before the first run.
    void split(const part_limits& how) { parts_ = how; }

    [[nodiscard]] run_result operator()(const batch_run& one, const run_scope& scope) {
        run_options how = how_;
        how.stop = scope.stop();
        const auto archived = smdebug::detail::archive_in(one.path);
        if (!archived || !archived->inside.empty()) {
            return scan(
                {.run = one}, false, [&] { return archives_.place_of(one.path, how.storage); }, how, scope);
        }
        return scan_archive(one, how, scope);
    }

private:
    [[nodiscard]] static run_state state_after(const std::exception& wrong) {
        const bool is_there = dynamic_cast<const missing_collection_files*>(&wrong) != nullptr ||
                              dynamic_cast<const not_found*>(&wrong) == nullptr;
        return is_there ? run_state::failed : run_state::gone;
    }

    // Rights may be others the next time, though no file has changed.
    [[nodiscard]] static bool was_denied(const run_result& result) {
        return std::any_of(result.messages.begin(), result.messages.end(), [](const run_message& each) {
            return each.what != run_message::kind::note && each.text.find("AccessDenied: ") != std::string::npos;
        });
    }

    // All runs of an archive, which is read once.
    [[nodiscard]] run_result scan_archive(const batch_run& one, const run_options& how, const run_scope& scope) {
        run_places places;
        try {
            places = places_of(one.path, how.storage);
        } catch (const std::bad_alloc&) {
            return smdebug::failed_run(one);
        } catch (const std::exception& wrong) {
            return {.run = one, .state = state_after(wrong), .error = error_text(wrong, one.path)};
        }
        std::vector<run_result> all;
        for (run_place& place : places.runs) {
            run_result begun{.run = {.place = one.place, .path = place.path}, .state = run_state::undone};
            if (scope.stop().stop_requested() && !all.empty()) {
                all.push_back(std::move(begun));
                continue;
            }
            if (tells_versions_) {
                begun.run.version = version_in_archive(place.path, places.runs.size(), how.storage);
            }
            begun.state = run_state::ended;
            all.push_back(scan(
                std::move(begun), true, [&] { return std::move(place); }, how, scope));
        }
        if (all.empty()) {
            return {.run = one, .state = run_state::failed, .error = "there is no run in it"};
        }
        // The first one is the last to be written: then all of them are there.
        run_result first = std::move(all.front());
        first.others.assign(std::make_move_iterator(all.begin() + 1), std::make_move_iterator(all.end()));
        return first;
    }

    template <class Place>
    [[nodiscard]] run_result scan(run_result result, bool whole_archive, Place&& place, const run_options& how,
                                  const run_scope& scope) {
        const std::string path = result.run.path;
        kept_messages says{progress_};
        try {
            run_place open = place();
            const bool archived = open.store.has_value();
            open.store = storage_of(open, how);
            if (result.run.steps) {
                evaluate_part(result, open, how, says, scope);
            } else if (!is_unchanged(result, *open.store, archived, whole_archive, how)) {
                evaluate(result, open, archived, how, says, scope);
            }
        } catch (const std::bad_alloc&) {
            result.state = run_state::no_memory;
            result.error = "not enough memory";
        } catch (const std::exception& wrong) {
            result.state = state_after(wrong);
            result.error = error_text(wrong, path);
        }
        result.messages = says.take();
        settle_state(result);
        if (was_out_of_reach(result) || was_denied(result)) {
            result.run.version.clear();
        }
        return result;
    }

    // Whether there is nothing to do; fills in version and size.
    [[nodiscard]] bool is_unchanged(run_result& result, const any_storage& store, bool archived, bool whole_archive,
                                    const run_options& how) {
        if (!tells_versions_) {
            return false;
        }
        const auto files = archived ? run_version_at(result.run.path, how.storage) : run_version(store);
        result.run.bytes = files ? files->bytes : 0;
        if (whole_archive) {
            return false;  // that was looked at before it was opened
        }
        const std::string known = std::exchange(result.run.version, files ? files->version : std::string{});
        if (known.empty() || known != result.run.version) {
            return false;
        }
        result.state = run_state::unchanged;
        return true;
    }

    // The run, with what others have read of just this version of it.
    [[nodiscard]] run_place with_known(batch_run& run, const run_place& place) const {
        const auto rows = std::exchange(run.known, nullptr);
        return rows && (!tells_versions_ || run.version == run.known_of) ? with_notes(place, *rows) : place;
    }

    [[nodiscard]] step_range selected(const program_trial& run) const {
        return run.snapshot()->global_range({.begin = args_.check.start, .end = args_.check.end});
    }

    // Only the steps of batch_run::steps, of the version that was opened.
    void evaluate_part(run_result& result, const run_place& place, const run_options& how, kept_messages& says,
                       const run_scope& scope) {
        const std::string& path = result.run.path;
        if (tells_versions_) {
            const auto files = run_version(*place.store);
            if (!files || files->version != result.run.version) {
                throw unavailable(path + " has changed while it was looked at");
            }
        }
        const program_trial run = open_run(*place.store, path, how);
        smdebug::detail::describe_run(result, run);
        result.reductions = args_.statistics ? reduce_run(run, path, args_, *result.run.steps, scope, says)
                                             : noted_steps(run, *place.store, *result.run.steps, scope.stop());
    }

    void evaluate(run_result& result, const run_place& place, bool archived, const run_options& how,
                  kept_messages& says, const run_scope& scope) {
        const std::string& path = result.run.path;
        const program_trial run = open_run(*with_known(result.run, place).store, path, how);
        smdebug::detail::describe_run(result, run);
        run_problems problems{how.skip_damaged};
        problems.tell(run, path, says);
        // Of what has something to tell already, each part would tell it again.
        const bool can_split = !archived && !result.run.whole && says.empty();
        if (args_.statistics) {
            if (can_split) {
                result.parts = parts_of(run, selected(run), parts_);
            }
            if (!result.parts.empty()) {
                return;
            }
            result.reductions = reduce_run(run, path, args_, selected(run), scope, says);
            problems.tell(run, path, says);
            problems.finish(path, says);
            return;
        }
        const auto plan = smdebug::detail::plan_rules(registry_, run, args_.check.rules, args_.other_trials);
        std::vector<rule_request> chosen;
        for (const smdebug::detail::planned_rule& each : plan) {
            if (each.why_not.empty()) {
                chosen.push_back(each.request);
            }
        }
        if (can_split && !chosen.empty()) {
            result.parts = parts_for_rules(run, *place.store, selected(run), parts_, args_.memory);
            if (!result.parts.empty()) {
                result.parts_inform = true;
                return;
            }
        }
        evaluation_hooks hooks{.sharing = sharing_, .stop = scope.stop()};
        hooks.sharing.threads = scope.threads();
        run_result evaluated;
        smdebug::detail::add_verdicts(evaluated, evaluate_run(rules_, chosen, run, path, args_.check, hooks, says));
        for (rule_verdict& each : evaluated.verdicts) {
            for (finding& found : each.found) {
                found = as_shown(std::move(found), run);
            }
        }
        problems.tell(run, path, says);  // a refresh may have met more
        problems.finish(path, says);
        if (args_.report) {
            loss_line line = loss_of(run, scope.stop());
            result.loss = std::move(line.points);
            result.loss_lost = line.lost;
        }
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
    part_limits parts_;
    bool tells_versions_ = false;
};

}  // namespace detail
}  // namespace cli
}  // namespace v1
}  // namespace smdebug
