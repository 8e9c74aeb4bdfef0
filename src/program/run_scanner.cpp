#include <program/run_scanner.hpp>

#include <program/evaluate_run.hpp>
#include <program/reduce_run.hpp>
#include <program/rule_notes.hpp>
#include <program/run_problems.hpp>
#include <program/scan_page.hpp>
#include <program/scan_source.hpp>
#include <smdebug/batch/run_version.hpp>
#include <smdebug/batch/scan_runs.hpp>
#include <smdebug/batch/search/folder_walk.hpp>
#include <smdebug/index/locations.hpp>
#include <smdebug/registry/configure.hpp>
#include <smdebug/registry/rule_registry.hpp>
#include <smdebug/storage/uri.hpp>
#include <smdebug/trial/reduce_in_passing.hpp>
#include <smdebug/trial/trial_access.hpp>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <new>
#include <optional>

namespace smdebug::inline v1::cli::detail {

void kept_messages::progress(std::string_view what, std::size_t done, std::size_t all) {
    if (progress_) {
        progress_(std::string{what}, done, all);
    }
}

run_scanner::run_scanner(const scan_arguments& args, const program_rules& registry, unsigned threads,
                         kept_messages::progress_call progress)
    : args_(args),
      registry_(registry),
      how_(reducing(args.check.how)),
      rules_(registry, how_),
      archives_(threads + 1),
      progress_(std::move(progress)) {
    if (args.memory) {
        const std::uint64_t part = *args.memory / 16;
        how_.memory = args.memory;
        sharing_ = sharing_.within(*args.memory);
        how_.storage.memory_bytes = std::min(how_.storage.memory_bytes, part);
        how_.storage.archive.memory_bytes = std::min(how_.storage.archive.memory_bytes, part);
        how_.storage.archive.in_passing = reduce_in_passing(part);
    }
}

run_result run_scanner::operator()(const batch_run& one, const run_scope& scope) {
    run_options how = how_;
    how.stop = scope.stop;
    const auto archived = smdebug::detail::archive_in(one.path);
    if (!archived || !archived->inside.empty()) {
        return scan(
            {.run = one}, false, [&] { return archives_.place_of(one.path, how.storage); }, how, scope);
    }
    return scan_archive(one, how, scope);
}

run_state run_scanner::state_after(const std::exception& wrong, const std::string& path) {
    const auto* const missing = dynamic_cast<const not_found*>(&wrong);
    const bool is_there = missing == nullptr || missing->code() == error_code::missing_collection_files ||
                          missing->code() == error_code::no_training_run || smdebug::detail::is_regular_file(path);
    return is_there ? run_state::failed : run_state::gone;
}

bool run_scanner::has_no_run(const std::exception& wrong, const batch_run& one, const run_place& place) {
    namespace locations = smdebug::detail::locations;
    const bool is_other =
        dynamic_cast<const not_found*>(&wrong) != nullptr || dynamic_cast<const unsupported*>(&wrong) != nullptr;
    return one.is_beside && place.store && is_other &&
           !has_any(*place.store, {locations::collections_folder, locations::events_folder, locations::index_folder,
                                   locations::end_of_job});
}

bool run_scanner::was_denied(const run_result& result) {
    return std::any_of(result.messages.begin(), result.messages.end(), [](const run_message& each) {
        return each.what != run_message::kind::note && each.text.find("AccessDenied: ") != std::string::npos;
    });
}

run_result run_scanner::scan_archive(const batch_run& one, const run_options& how, const run_scope& scope) {
    run_places places;
    try {
        places = places_of(one.path, how.storage);
    } catch (const std::bad_alloc&) {
        return smdebug::failed_run(one);
    } catch (const std::exception& wrong) {
        return {.run = one, .state = state_after(wrong, one.path), .error = error_text(wrong, one.path)};
    }
    std::vector<run_result> all;
    for (run_place& place : places.runs) {
        run_result begun{.run = {.place = one.place, .path = place.path}, .state = run_state::undone};
        if (scope.stop.stop_requested() && !all.empty()) {
            all.push_back(std::move(begun));
            continue;
        }
        if (tells_versions_) {
            begun.run.version = version_in_archive(place.path, places.runs.size(), how.storage);
        }
        begun.state = run_state::ended;
        begun.run.is_beside = one.is_beside && places.runs.size() == 1;
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

run_result run_scanner::scan(run_result result, bool whole_archive, function_ref<run_place()> place,
                             const run_options& how, const run_scope& scope) {
    const std::string path = result.run.path;
    kept_messages says{progress_};
    run_place found;
    try {
        found = place();
        const any_storage store = storage_of(found, how);
        if (!is_unchanged(result, store, found.store.has_value(), whole_archive, how)) {
            evaluate(result, store, how, says, scope);
        }
    } catch (const std::bad_alloc&) {
        result.state = run_state::no_memory;
        result.error = "not enough memory";
    } catch (const std::exception& wrong) {
        if (has_no_run(wrong, result.run, found)) {
            says.note("there is no run in " + path + ": it is not looked at");
        } else {
            const auto* const ours = dynamic_cast<const error*>(&wrong);
            const bool by_memory =
                args_.memory && ours != nullptr &&
                (ours->remedy() == error_remedy::raise_limit || ours->remedy() == error_remedy::skip_large);
            result.state = by_memory ? run_state::no_memory : state_after(wrong, path);
            result.error = (by_memory ? "--memory allows a run no more: " : "") + error_text(wrong, path);
        }
    }
    result.messages = says.take();
    settle_state(result);
    if (is_no_run(result) || was_out_of_reach(result) || was_denied(result)) {
        result.run.version.clear();
    }
    return result;
}

bool run_scanner::is_unchanged(run_result& result, const any_storage& store, bool archived, bool whole_archive,
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

void run_scanner::evaluate(run_result& result, const any_storage& store, const run_options& how, kept_messages& says,
                           const run_scope& scope) {
    const std::string& path = result.run.path;
    const trial run = open_run(store, path, how);
    check_saved(run, path);
    smdebug::detail::describe_run(result, run);
    run_problems problems{how.skip_damaged};
    problems.report(run, path, says);
    if (args_.statistics) {
        const step_range selected =
            smdebug::detail::catalog_of(run)->global_range({.begin = args_.check.start, .end = args_.check.end});
        result.reductions = reduce_run(run, path, args_, selected, scope, says);
        problems.report(run, path, says);
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
    std::optional<loss_recorder> loss;
    std::optional<any_rule<trial>> records_loss;
    if (args_.report) {
        records_loss = loss.emplace(run).rule();
    }
    evaluation_hooks hooks{
        .observer = records_loss ? &*records_loss : nullptr, .sharing = sharing_, .stop = scope.stop};
    hooks.sharing.threads = scope.threads;
    run_result evaluated;
    smdebug::detail::add_verdicts(evaluated, evaluate_run(rules_, chosen, run, path, args_.check, hooks, says));
    show_steps(evaluated.verdicts, run);
    problems.report(run, path, says);  // a refresh may have met more
    problems.finish(path, says);
    if (loss) {
        loss_line line = loss->line();
        result.loss = std::move(line.points);
        result.loss_lost = line.lost;
    }
    auto verdict = evaluated.verdicts.begin();
    for (const smdebug::detail::planned_rule& each : plan) {
        if (each.why_not.empty()) {
            result.verdicts.push_back(std::move(*verdict++));
        } else {
            result.verdicts.push_back({.name = each.request.label,
                                       .status = rule_status::not_applicable,
                                       .details = each.why_not,
                                       .summary = each.why_not});
        }
    }
}

}  // namespace smdebug::inline v1::cli::detail
