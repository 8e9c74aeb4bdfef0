#include <program/report.hpp>

#include <program/diff_story.hpp>
#include <program/runs.hpp>
#include <program/text.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/registry/applicable_rules.hpp>
#include <smdebug/report/run_gatherer.hpp>
#include <smdebug/report/write_report.hpp>
#include <smdebug/rules/invoke_rules.hpp>
#include <smdebug/trial/diff_runs.hpp>
#include <smdebug/trial/refresh_guard.hpp>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>

namespace smdebug {
inline namespace v1 {
namespace cli {
namespace detail {

namespace {

// The steps that a report is asked for.
step_range asked_range(const report_arguments& args) {
    return {args.check.start > 0 ? std::optional{args.check.start} : std::nullopt, args.check.end};
}

}  // namespace

report::detail::reported_run report_run(rule_maker& maker, const program_rules& registry, const program_trial& run,
                                        const std::string& path, const report_arguments& args,
                                        const std::stop_token& stop, message_sink& to) {
    const no_refresh as_it_is{run};
    report::detail::gather_options options{
        .which = selection_of(args.tensors, args.collection),
        .how = {.threads = args.threads, .stop = stop},
        .most_bytes = report::detail::data_bytes(args.most_bytes) / std::max<std::size_t>(args.check.runs.size(), 1)};
    options.which.range = run.snapshot()->global_range(asked_range(args));
    options.how.progress = [&](std::size_t done, std::size_t all) { to.progress("files of " + path, done, all); };
    const auto gatherer = std::make_shared<report::detail::run_gatherer>(run, options);
    std::vector<rule_result> verdicts;
    std::vector<report::detail::rule_left_out> left_out;
    if (!args.no_rules) {
        std::vector<rule_request> chosen;
        for (smdebug::detail::planned_rule& each :
             smdebug::detail::plan_rules(registry, run, args.check.rules, args.other_trials)) {
            if (each.why_not.empty()) {
                chosen.push_back(std::move(each.request));
            } else {
                left_out.push_back({each.request.label, std::move(each.why_not)});
            }
        }
        verdicts =
            evaluate_run(maker, chosen, run, path, args.check, {.sharing = {.joint = gatherer}, .stop = stop}, to);
    }
    report::detail::reported_run reported = gatherer->finish();
    reported.path = path;
    reported.verdicts = std::move(verdicts);
    reported.not_evaluated = std::move(left_out);
    return reported;
}

namespace {

// What sets two runs apart.  Errors: those of diff_runs().
report::detail::reported_comparison compare_runs(const program_trial& first, const program_trial& second,
                                                 const report_arguments& args, const std::stop_token& stop,
                                                 console& to) {
    constexpr std::size_t most = 1000;
    const no_refresh first_as_it_is{first};
    const no_refresh second_as_it_is{second};
    report::detail::reported_comparison all;
    diff_story story{first.steps_are_synthetic() || second.steps_are_synthetic()};
    diff_options options{.which = selection_of(args.tensors, args.collection), .how = {.stop = stop}};
    options.which.range = asked_range(args);
    options.step_done = [&](const compared_step& step) {
        story.add(step);
        if (step.differing > 0 || !all.steps.empty()) {
            all.steps.push_back({step.step, step.tensors, step.differing, step.largest});
        }
    };
    options.how.progress = [&](std::size_t done, std::size_t files) { to.progress("files of both runs", done, files); };
    const diff_summary summary = diff_runs(first, second, options, [&](const run_difference& each) {
        story.add(each);
        if (++all.all <= most) {
            all.differences.push_back({.kind = std::string{name_of(each.kind)},
                                       .step = each.step,
                                       .worker = std::string{each.worker},
                                       .tensor = std::string{each.tensor},
                                       .largest = each.largest,
                                       .what = words_of(each)});
        }
    });
    story.add_problems(1, first.problems().size());
    story.add_problems(2, second.problems().size());
    all.title = story.title(summary);
    all.sentence = story.sentence(summary, std::nullopt, std::nullopt);
    return all;
}

// A run that could not be opened, or gathered, as the page has it.
report::detail::reported_run failed_report(const std::string& path, const std::string& why) {
    report::detail::reported_run failed;
    failed.path = path;
    failed.name = path.substr(path.find_last_of('/') + 1);
    failed.failed = why;
    return failed;
}

}  // namespace

std::string title_of(const report_arguments& args, const report::detail::page& page) {
    if (args.title) {
        return *args.title;
    }
    std::string title;
    for (std::size_t i = 0; i < std::min<std::size_t>(page.runs.size(), 3); ++i) {
        title += (i == 0 ? "" : ", ") + page.runs[i].name;
    }
    return title + (page.runs.size() > 3 ? " and " + counted(page.runs.size() - 3, "run") + " more" : "");
}

bool has_findings(const report::detail::page& page) {
    return std::any_of(page.runs.begin(), page.runs.end(), [](const report::detail::reported_run& run) {
        return std::any_of(run.verdicts.begin(), run.verdicts.end(),
                           [](const rule_result& each) { return !each.outcome.findings.empty(); });
    });
}

void tell_report(const report_arguments& args, const report::detail::page& page, console& to) {
    std::size_t findings = 0;
    std::size_t damaged = 0;
    for (const report::detail::reported_run& run : page.runs) {
        for (const rule_result& each : run.verdicts) {
            findings += each.outcome.findings.size();
        }
        damaged += run.problems.size() + run.damaged;
        if (run.damaged > 0) {
            to.damage(counted(run.damaged, "place") + " of " + run.path +
                      " cannot be read, the first: " + (run.damage.empty() ? std::string{} : run.damage.front()));
        }
    }
    to.print("wrote " + printable(args.output) + ": " + counted(page.runs.size(), "run") + ", " +
             counted(findings, "finding") + (damaged > 0 ? ", " + counted(damaged, "damaged place") : "") +
             "; open it in a browser\n");
}

int report_runs(const report_arguments& args, const program_rules& registry, console& to, const std::stop_token& stop) {
    rule_maker maker{registry, args.check.how};
    report::detail::page page;
    std::vector<program_trial> opened;
    for_each_run(
        args.check.runs, reducing(args.check.how, args.threads), to,
        [&](const std::string& path, const program_trial& run) {
            page.runs.push_back(report_run(maker, registry, run, path, args, stop, to));
            if (opened.size() < 3) {
                opened.push_back(run);
            }
        },
        [&](const std::string& path, const std::string& why) { page.runs.push_back(failed_report(path, why)); });
    if (opened.size() == 2 && page.runs.size() == 2) {
        try {
            page.comparison = compare_runs(opened[0], opened[1], args, stop, to);
        } catch (const error& failed) {
            to.error(error_text(failed, page.runs[0].path));
        }
    }
    page.title = title_of(args, page);
    report::detail::write_page(page, args.output);
    tell_report(args, page, to);
    return to.status(has_findings(page));
}

}  // namespace detail
}  // namespace cli
}  // namespace v1
}  // namespace smdebug
