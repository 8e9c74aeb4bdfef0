#include <program/report.hpp>

#include <program/command_line.hpp>
#include <program/command_options.hpp>
#include <program/diff_story.hpp>
#include <program/following.hpp>
#include <program/message_sink.hpp>
#include <program/numbers.hpp>
#include <program/run_places.hpp>
#include <program/run_problems.hpp>
#include <program/runs.hpp>
#include <program/text.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/core/system_time.hpp>
#include <smdebug/registry/rule_registry.hpp>
#include <smdebug/report/page_text.hpp>
#include <smdebug/report/reported_run.hpp>
#include <smdebug/report/write_report.hpp>
#include <smdebug/rules/invoke_rules.hpp>
#include <smdebug/storage/posix/output.hpp>
#include <smdebug/trial/diff_runs.hpp>
#include <smdebug/trial/trial.hpp>
#include <smdebug/trial/trial_access.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smdebug::inline v1::cli::detail {

namespace {

// The requested steps.
step_range asked_range(const report_arguments& args) {
    return {args.check.start > 0 ? std::optional{args.check.start} : std::nullopt, args.check.end};
}

// The content of a report about a run, in one walk: rules are evaluated while its numbers are gathered.
// Errors: those of scan().
report::detail::reported_run report_run(rule_maker& maker, const program_rules& registry, const trial& run,
                                        const std::string& path, const report_arguments& args,
                                        const std::stop_token& stop, message_sink& to) {
    const no_refresh as_it_is{run};
    report::detail::gather_options options{
        .which = selection_of(args.tensors, args.collection),
        .how = {.threads = args.threads, .stop = stop},
        .most_bytes = report::detail::data_bytes(args.most_bytes) / std::max<std::size_t>(args.check.runs.size(), 1)};
    options.which.range = smdebug::detail::catalog_of(run)->global_range(asked_range(args));
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
        verdicts = evaluate_run(maker, chosen, run, path, args.check, {.onlooker = gatherer, .stop = stop}, to);
    }
    report::detail::reported_run reported = gatherer->finish(verdicts);
    reported.path = path;
    reported.verdicts = std::move(verdicts);
    reported.not_evaluated = std::move(left_out);
    return reported;
}

// The differences of two runs.  Errors: those of diff_runs().
report::detail::reported_comparison compare_runs(const trial& first, const trial& second, const report_arguments& args,
                                                 const std::stop_token& stop, console& to) {
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
                                       .step = each.step != -1 ? std::optional{each.step} : std::nullopt,
                                       .worker = std::string{each.worker},
                                       .tensor = std::string{each.tensor},
                                       .largest = each.largest,
                                       .what = to_message(each)});
        }
    });
    story.add_problems(1, first.problems().size());
    story.add_problems(2, second.problems().size());
    all.title = story.title(summary);
    all.sentence = story.sentence(summary, std::nullopt, std::nullopt);
    return all;
}

// A run that could not be opened, or gathered, for the page.
report::detail::reported_run failed_report(const std::string& path, const std::string& why) {
    report::detail::reported_run failed;
    failed.path = path;
    failed.name = path.substr(path.find_last_of('/') + 1);
    failed.failed = why;
    return failed;
}

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

// Prints what the file contains.
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

}  // namespace

int report_runs(const report_arguments& args, const program_rules& registry, console& to, const std::stop_token& stop) {
    rule_maker maker{registry, args.check.how};
    report::detail::page page;
    std::vector<trial> opened;
    for_each_run(
        args.check.runs, reducing(args.check.how, args.threads), to,
        [&](const std::string& path, const trial& run) {
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

namespace {

// Prints repeated messages about a run only once: as notes, until the last page is made.
class quiet_notes final : public message_sink {
public:
    explicit quiet_notes(console& to) : to_(to) {}

    void note(std::string_view) override {}
    void damage(std::string_view) override {}
    void error(std::string_view text) override {
        if (is_last_) {
            to_.error(text);
        } else if (std::find(told_.begin(), told_.end(), text) == told_.end() && told_.size() < most) {
            told_.emplace_back(text);
            to_.note(text);
        }
    }
    void begin_last() noexcept { is_last_ = true; }
    void progress(std::string_view, std::size_t, std::size_t) override {}

private:
    static constexpr std::size_t most = 1000;

    console& to_;
    std::vector<std::string> told_;
    bool is_last_ = false;
};

// The runs of a report that grow.
class followed_report {
public:
    /// Borrows all.
    followed_report(const report_arguments& args, const program_rules& registry, console& to, std::stop_token stop)
        : args_(args),
          registry_(registry),
          to_(to),
          stop_(std::move(stop)),
          shared_(to),
          maker_(registry, args.check.how),
          quiet_(to) {}

    /// Until every job has ended, was given up, or `stop`; the exit status.
    [[nodiscard]] int follow() {
        if (args_.check.how.folders.empty()) {
            std::for_each(args_.check.runs.begin(), args_.check.runs.end(), [&](const auto& path) { open(path); });
        } else {
            wait_for_folders();
        }
        using clock = std::chrono::steady_clock;
        auto next_page = clock::now();
        while (true) {
            const bool has_new = open_new_folders();
            const bool over = look() && (!has_new || stop_.stop_requested());
            changed_ = changed_ || has_new;
            if (!over && (!changed_ || clock::now() < next_page)) {
                pause_for(args_.interval, stop_);
                continue;
            }
            const auto began = clock::now();
            if (over) {
                quiet_.begin_last();
            }
            gather();
            page_.look_again = over ? 0 : seconds();
            report::detail::write_page(page_, args_.output);
            if (over) {
                break;
            }
            changed_ = false;
            // Each time the run is walked from its beginning: this takes at most a tenth of the time, but for the last
            // page, which comes as soon as all is there.
            next_page = clock::now() + 9 * (clock::now() - began);
            pause_for(args_.interval, stop_);
        }
        tell_report(args_, page_, to_);
        for (const one& each : opened_) {
            tell_problems(each.run, each.path, args_.check.how.skip_damaged, to_);
            if (each.stalled) {
                to_.error(stalled_text(each.run, each.path));
            }
        }
        const bool met = has_findings(page_);
        return stop_.stop_requested() && !met ? exit_interrupted : to_.status(met);
    }

private:
    struct one {
        std::string path;
        trial run;
        run_watch watch;
        run_problems problems;
        std::optional<std::chrono::steady_clock::time_point> lost = {};  ///< since when it is no longer there
        std::uint32_t load = 0;                                          ///< the catalog that the page shows
        bool ended = false;
        bool stalled = false;
    };

    [[nodiscard]] std::uint32_t seconds() const {
        return static_cast<std::uint32_t>(std::max<std::int64_t>(args_.interval.count() / 1000, 2));
    }

    void open(const std::string& path) {
        const std::string plain = plain_path(path);
        opened_.push_back({plain, open_to_follow(plain, args_.check.how, args_.check.follow, stop_, shared_),
                           run_watch{plain}, run_problems{args_.check.how.skip_damaged}});
    }

    // Opens the runs that have appeared below the folders; whether there were any.
    bool open_new_folders() {
        const std::size_t before = opened_.size();
        const run_options& how = args_.check.how;
        for (const std::string& path : runs_from_folders(how.folders, how.storage, folders_without_runs::left_out)) {
            const std::string plain = plain_path(path);
            const auto is_open = [&](const one& each) { return each.path == plain; };
            if (opened_.size() < most_followed_runs && std::none_of(opened_.begin(), opened_.end(), is_open)) {
                open(path);
            }
        }
        return opened_.size() > before;
    }

    void wait_for_folders() {
        const auto began = std::chrono::steady_clock::now();
        for (bool first = true; !open_new_folders() && !stop_.stop_requested(); first = false) {
            const auto limit = args_.check.follow.give_up_after;
            if (limit && std::chrono::steady_clock::now() - began >= std::min(*limit, smdebug::detail::longest_wait)) {
                throw not_found("there is no training run in " + args_.check.how.folders.front());
            }
            if (first) {
                to_.note("waiting for a run to start in " + args_.check.how.folders.front());
            }
            pause_for(std::chrono::milliseconds{500}, stop_);
        }
    }

    // Whether all runs have ended; new data sets changed_.
    [[nodiscard]] bool look() {
        bool all = true;
        const auto limit = args_.check.follow.give_up_after;
        for (one& each : opened_) {
            if (!each.ended && !is_there(each)) {
                each.stalled = limit && std::chrono::steady_clock::now() - *each.lost >
                                            std::min(*limit, smdebug::detail::longest_wait);
                all = all && each.stalled;
                continue;
            }
            if (!each.ended) {
                each.run.refresh();
                const std::uint32_t load = smdebug::detail::catalog_of(each.run)->load;
                each.ended = each.run.loaded_all_steps();
                changed_ = changed_ || load != each.load || each.ended;
                each.load = load;
            }
            each.stalled = !each.ended && limit && smdebug::detail::state_of(each.run)->watched_quiet_time() > *limit;
            all = all && (each.ended || each.stalled);
        }
        return all || stop_.stop_requested();
    }

    // Opens what took the place of a run, if it was removed.
    [[nodiscard]] bool is_there(one& each) {
        if (!each.lost && !each.watch.is_replaced()) {
            return true;
        }
        if (!each.lost) {
            each.lost = std::chrono::steady_clock::now();
            to_.note(replaced_text(each.path));
        }
        try {
            trial_options options = options_for(args_.check.how);
            options.stop = stop_;
            each.run = open_trial(each.path, args_.check.how.storage, options);
        } catch (const error& unready) {
            if (!may_start(unready)) {
                throw;
            }
            return false;
        }
        each.watch = run_watch{each.path};
        each.problems = run_problems{args_.check.how.skip_damaged};
        each.lost.reset();
        each.load = 0;
        changed_ = true;
        return true;
    }

    void gather() {
        page_.runs.clear();
        for (one& each : opened_) {
            // If interrupted, it still shows what exists.
            page_.runs.push_back(report_run(maker_, registry_, each.run, each.path, args_, {}, quiet_));
            if (!each.ended) {
                each.problems.report(each.run, each.path, provisional_);
            }
        }
        page_.title = title_of(args_, page_);
    }

    const report_arguments& args_;
    const program_rules& registry_;
    console& to_;
    std::stop_token stop_;
    shared_console shared_;
    provisional_sink provisional_{shared_};
    rule_maker maker_;
    quiet_notes quiet_;
    std::vector<one> opened_;
    report::detail::page page_;
    bool changed_ = true;  // since the last page
};

}  // namespace

int follow_report(const report_arguments& args, const program_rules& registry, console& to,
                  const std::stop_token& stop) {
    try {
        return followed_report{args, registry, to, stop}.follow();
    } catch (const stopped_error&) {  // before there was a run
        return exit_interrupted;
    }
}

void declare_report(command_line& line) {
    const auto args = std::make_shared<report_arguments>();
    const auto rules = std::make_shared<rule_options>();
    const auto steps = std::make_shared<step_options>();
    const auto interval = std::make_shared<std::optional<std::chrono::milliseconds>>();
    CLI::App& app = line.add(
        "report", "runs as one page to look at, an HTML file that needs no network; exit status 3 if a rule is met",
        args,
        [rules, steps, interval, &registry = line.registry()](report_arguments& given) {
            given.check.rules = requested_rules(*rules, registry, true);
            given.other_trials = rules->other_trials;
            if (given.no_rules && (!given.check.rules.empty() || !given.other_trials.empty())) {
                throw usage_error("--no-rules and rules exclude each other");
            }
            take_steps(given.check, *steps);
            check_follow(given.check.follow, given.check.runs.size());
            if (*interval && !given.check.follow.on) {
                throw usage_error("--interval is for --follow: without it the page is written once");
            }
            given.interval = interval->value_or(given.interval);
        },
        [](const report_arguments& given, const run_context& with) {
            smdebug::detail::posix::refuse_special_file(given.output);  // before the work, too
            return given.check.follow.on ? follow_report(given, with.registry, with.to, with.stop())
                                         : report_runs(given, with.registry, with.to);
        });
    add_runs(app, args->check.runs);
    add_output(app, args->output, "FILE.html", "the file, which is replaced when the new one is whole");
    add_names(app, args->tensors, args->collection);
    add_steps(app, *steps);
    add_rule_options(app, *rules, line.rule_names());
    add_other_trials(app, *rules);
    add_flag(app, "--no-rules", args->no_rules, "only the pictures: no rule is evaluated");
    add_threads(app, args->threads, "threads to use; default: 1");
    add_text(app, "--title", args->title, "TEXT", "what stands at its top; default: the names of the runs");
    add_parsed(app, "--max-size", args->most_bytes, "SIZE",
               "how large the file may be, about: 5M, 14M (default).  What does not fit is shown less finely",
               [](const std::string& text) { return parse_size("--max-size", text); });
    add_follow(app, args->check.follow,
               "write the page again while the jobs run, until they end; an open page reads it again");
    add_parsed(app, "--interval", *interval, "T",
               "with --follow: how often a run is looked at: 500ms, 2s (default), 1m",
               [](const std::string& text) { return parse_duration("--interval", text); });
    add_trust(app, args->check.how);
    add_formats(app, args->check.how.storage.formats);
    add_runs_from_folders(app, args->check.how.storage.formats);
    add_storage(app, args->check.how.storage);
    add_notes(app,
              "Of two runs it says since where they differ.  All rules that have something to look at are evaluated;\n"
              "--rule and --rules-json give them other parameters than their defaults.\n"
              "Example: smdebug report runs/a -o a.html\n");
}

}  // namespace smdebug::inline v1::cli::detail
