#include <program/scan.hpp>

#include <program/batch_progress.hpp>
#include <program/command_line.hpp>
#include <program/command_options.hpp>
#include <program/numbers.hpp>
#include <program/run_places.hpp>
#include <program/run_scanner.hpp>
#include <program/scan_results.hpp>
#include <program/scan_sink.hpp>
#include <program/scan_source.hpp>
#include <program/source_ahead.hpp>
#include <program/text.hpp>
#include <smdebug/batch/run_batch.hpp>
#include <smdebug/batch/run_result.hpp>
#include <smdebug/batch/run_version.hpp>
#include <smdebug/core/error.hpp>

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <istream>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace smdebug::inline v1::cli::detail {

namespace {

// How many runs are searched ahead.
constexpr std::size_t most_listed = 100'000;

// What each of many processes would do without the others.
constexpr std::string_view each_scans = "scan all runs";

// The options of a batch.
batch_options batch_options_of(const scan_arguments& args, unsigned threads, const std::stop_token& stop) {
    return {.threads = threads, .run_timeout = args.run_timeout, .memory = args.memory, .stop = stop};
}

// Merges databases of ranks, left by a scan that did not finish, into the requested one.
void bring_in_left(const scan_arguments& args, scan_database::use how, console& to) {
    const std::vector<std::string> files = args.output ? rank_files(*args.output) : std::vector<std::string>{};
    if (files.empty()) {
        return;
    }
    std::size_t runs = 0;
    {
        scan_database base{*args.output, args, how};
        base.store_together([&] {
            for_each_rank_result(files, {}, [&](run_result&& result, std::string_view question) {
                for (run_result& each : result.others) {
                    base.take_earlier(each, question);
                }
                base.take_earlier(result, question);
                runs += 1 + result.others.size();
            });
        });
    }  // now it is on the disk
    remove_rank_files(files);
    to.note("an earlier scan over many processes did not come to its end; its results are in " + *args.output + ": " +
            counted(runs, "run"));
}

// The source of a scan and the sink of its results; with many ranks, only on rank 0.
class scan_ends {
public:
    /// Borrows all.  `ranks`: how many processes there are.  Errors: usage_error; those of scan_database.
    scan_ends(const scan_arguments& args, console& to, std::size_t ranks = 1)
        : args_(args),
          ranks_(ranks),
          list_(opened_list(args.list, file_)),
          base_(opened_base(to)),
          progress_(args.progress, to),
          sink_(args, base_.get(), progress_, to,
                ranks > 1 ? scan_sink::messages::by_ranks : scan_sink::messages::told),
          source_(args, list_, known()),
          runs_(
              std::in_place, [this] { return source_.next(); }, most_listed,
              [this](std::size_t count) { progress_.listed(count); }, goes_first()) {}

    [[nodiscard]] std::optional<batch_run> next(const std::stop_token& stop) {
        auto run = runs_->next(stop);
        if (run) {
            gave(*run);
        }
        return run;
    }
    /// Some runs for another rank, as source_ahead::try_some().
    [[nodiscard]] std::optional<std::vector<batch_run>> try_some() {
        auto some = runs_->try_some(ranks_);
        for (const batch_run& each : some ? *some : std::vector<batch_run>{}) {
            gave(each);
        }
        return some;
    }
    void take(run_result&& result) {
        const auto locked = progress_.lock();
        sink_.take(std::move(result));
    }
    /// Takes the results that all ranks have written.
    void take_from_ranks(bool complete) {
        progress_.begin_results();
        rank_files_ = rank_files(*args_.output);
        base_->store_together([&] {
            for_each_rank_result(rank_files_, complete ? std::move(known_) : std::vector<batch_run>{},
                                 [&](run_result&& result, std::string_view) { take(std::move(result)); });
        });
    }
    /// The exit status.
    [[nodiscard]] int finish(bool complete, console& to) {
        runs_.reset();  // its thread may still be listing: it uses all of the below
        progress_.finish();
        if (const std::string files = complete ? source_.left_out() : std::string{}; !files.empty()) {
            to.note("files beside the runs are not looked at: " + files);
        }
        if (complete && source_.list_is_empty()) {
            to.error("--list " + args_.list.value_or("") + ": there is no path in it; nothing was looked at for it");
        }
        sink_.finish(complete);
        to.flush();
        base_.reset();  // merges its WAL
        remove_rank_files(rank_files_);
        return complete ? sink_.status() : exit_interrupted;
    }
    [[nodiscard]] batch_progress& progress() noexcept { return progress_; }

private:
    [[nodiscard]] std::unique_ptr<scan_database> opened_base(console& to) const {
        const auto how = ranks_ > 1 ? scan_database::use::alone : scan_database::use::shared;
        bring_in_left(args_, how, to);
        return args_.output ? std::make_unique<scan_database>(*args_.output, args_, how) : nullptr;
    }
    [[nodiscard]] known_results known() {
        if (!base_) {
            return {};
        }
        known_results known = base_->known();
        known.unchanged = [this](const std::vector<std::string>& runs) {
            progress_.unchanged(runs.size());
            const auto locked = progress_.lock();
            for (const std::string& each : runs) {
                sink_.pass(each);
            }
        };
        return known;
    }
    // Prefers large runs, so that none is begun at the end.  Sizes are not looked up while there is no choice.
    [[nodiscard]] smdebug::detail::source_ahead::preference goes_first() const {
        if (ranks_ == 1 || args_.split_above == 0) {
            return {};
        }
        return [this](const batch_run& run, std::size_t waiting) {
            try {
                const auto files = waiting >= ranks_ && run.error.empty()
                                       ? run_version_at(run.path, args_.check.how.storage)
                                       : std::nullopt;
                return files && files->bytes > args_.split_above;
            } catch (const error&) {
                return false;  // reported when it is scanned
            }
        };
    }
    // Over many ranks: a run without a result afterwards has not changed.
    void gave(const batch_run& run) {
        if (ranks_ > 1 && !run.version.empty()) {
            const std::lock_guard lock{guard_};
            known_.push_back({.place = run.place, .path = run.path});
        }
    }

    const scan_arguments& args_;
    std::size_t ranks_;
    std::ifstream file_;
    std::istream* list_;
    std::unique_ptr<scan_database> base_;
    batch_progress progress_;
    scan_sink sink_;
    scan_source source_;
    std::mutex guard_;
    std::vector<batch_run> known_;
    std::vector<std::string> rank_files_;
    std::optional<smdebug::detail::source_ahead> runs_;  // last: its thread uses the others
};

// Scans the runs that this rank gets; results go into a database of its own.  Code that prints holds the lock of
// `shared`, which counts each finished run.  Returns whether it came to the end.
bool scan_as_rank(const scan_arguments& args, const program_rules& registry, console& to, const std::stop_token& stop,
                  int rank, batch_progress& shared, const run_source& next) {
    std::optional<batch_run> first = next();  // by then rank 0 has brought in what an earlier scan has left
    if (!first) {
        return !stop.stop_requested();
    }
    scan_arguments own = args;
    own.rows = false;
    own.report.reset();
    own.check.actions.status_file.clear();
    scan_database base{rank_file(*args.output, rank), args, scan_database::use::of_rank};
    batch_progress counts{progress_format::none, to};
    scan_sink sink{own, &base, counts, to};
    const unsigned threads = threads_or_all(args.threads);
    run_scanner scanner{args, registry, threads};
    scanner.tell_versions();
    batch_options how = batch_options_of(args, threads, stop);
    how.in_order = false;
    return smdebug::run_batch(
        how, [&] { return first ? std::exchange(first, std::nullopt) : next(); },
        [&](const batch_run& run, const run_scope& scope) { return scanner(run, scope); },
        [&](run_result&& result) {
            {
                const auto locked = shared.lock();
                sink.take(std::move(result));
            }
            shared.done_elsewhere(1);
        });
}

int scan_as_rank_0(const scan_arguments& args, const program_rules& registry, console& to, const std::stop_token& stop,
                   rank_channel& channel) {
    run_giver giver{channel};  // ends the other ranks, whatever happens here
    scan_ends ends{args, to, static_cast<std::size_t>(channel.size())};
    bool complete = false;
    {
        std::jthread giving{[&](const std::stop_token& end) {
            giver.give([&] { return ends.try_some(); }, [&](std::size_t runs) { ends.progress().done_elsewhere(runs); },
                       end);
        }};
        const std::stop_callback by_user{stop, [&] { giving.request_stop(); }};
        complete = scan_as_rank(args, registry, to, stop, 0, ends.progress(), [&]() -> std::optional<batch_run> {
            return giver.has_failed() ? std::nullopt : ends.next(stop);
        });
        giving.join();
    }
    if (giver.has_failed()) {
        ends.progress().finish();
        to.error("a process failed; the same command brings in what all have done, and goes on with the others");
        return exit_error;
    }
    complete = complete && giver.is_whole();
    ends.take_from_ranks(complete);
    return ends.finish(complete, to);
}

int scan_as_other_rank(const scan_arguments& args, const program_rules& registry, console& to,
                       const std::stop_token& stop, rank_channel& channel) {
    run_taker taker{channel};
    batch_progress silent{progress_format::none, to};
    try {
        const bool complete =
            scan_as_rank(args, registry, to, stop, channel.rank(), silent, [&] { return taker.next(stop); });
        taker.end(complete ? rank_end::whole : rank_end::stopped);
    } catch (...) {
        taker.end(rank_end::failed);
        throw;
    }
    return exit_ok;
}

}  // namespace

int scan_on_ranks(const scan_arguments& args, const program_rules& registry, console& to, const std::stop_token& stop,
                  rank_channel& channel) {
    check_size(channel, each_scans);
    if (!args.output) {
        if (channel.rank() > 0) {
            return exit_usage;  // rank 0 says why
        }
        throw usage_error("over many processes a scan needs -o: the database in which their results come together");
    }
    return channel.rank() == 0 ? scan_as_rank_0(args, registry, to, stop, channel)
                               : scan_as_other_rank(args, registry, to, stop, channel);
}

int scan_runs(const scan_arguments& args, const program_rules& registry, console& to, const std::stop_token& stop,
              const rank_starter& ranks) {
    if (const std::size_t processes = launched_processes(); processes > 1) {
        return on_ranks(ranks, processes, each_scans, to,
                        [&](rank_channel& channel) { return scan_on_ranks(args, registry, to, stop, channel); });
    }
    const unsigned threads = threads_or_all(args.threads);
    batch_options how = batch_options_of(args, threads, stop);
    how.in_order = args.rows;
    scan_ends ends{args, to};
    run_scanner scanner{args, registry, threads, [&](const std::string& what, std::size_t done, std::size_t all) {
                            ends.progress().steps(what, done, all);
                        }};
    if (args.output) {
        scanner.tell_versions();
    }
    const bool complete = smdebug::run_batch(
        how, [&] { return ends.next(stop); },
        [&](const batch_run& run, const run_scope& scope) { return scanner(run, scope); },
        [&](run_result&& result) { ends.take(std::move(result)); });
    return ends.finish(complete, to);
}

namespace {

void check_scan(scan_arguments& args) {
    args.rows = !args.output || args.check.how.format_is_given;
    if (args.statistics && args.report) {
        throw usage_error(
            "--report shows what rules say, and --reductions gives numbers instead: give one or the other");
    }
    if (args.statistics && (!args.check.rules.empty() || !args.other_trials.empty())) {
        throw usage_error("--reductions gives numbers instead of what rules say: give one or the other");
    }
    if (!args.statistics && (args.tensors || args.collection)) {
        throw usage_error("--tensors and --collection are for --reductions; rules choose their tensors themselves");
    }
    if (args.check.runs.empty() && !args.list) {
        throw usage_error("scan needs at least one run, or --list with a file that names some",
                          "Try `smdebug scan --help`.");
    }
}

}  // namespace

void declare_scan(command_line& line) {
    const auto args = std::make_shared<scan_arguments>();
    const auto rules = std::make_shared<rule_options>();
    const auto steps = std::make_shared<step_options>();
    CLI::App& app = line.add(
        "scan", "all built-in rules that have something to look at, over many runs; exit status 3 if one is met", args,
        [rules, steps, &registry = line.registry()](scan_arguments& given) {
            given.check.rules = requested_rules(*rules, registry, true);
            given.other_trials = rules->other_trials;
            take_steps(given.check, *steps);
            check_scan(given);
        },
        [](const scan_arguments& given, const run_context& with) {
            return scan_runs(given, with.registry, with.to, with.stop(), with.ranks);
        });
    add_arguments(app, "RUN", args->check.runs,
                  "training runs, archives, folders with runs in them, patterns such as 'jobs/**/run-?'; s3://, too",
                  false);
    add_flag(app, "--all", args->all,
             "tables: a row for each rule that found nothing, too, or has nothing to look at, and why");
    add_text(app, "--list", args->list, "FILE",
             "more runs: a file with a path, pattern or folder a line; -: standard input");
    add_reductions(app, args->statistics,
                   "numbers instead of rules, the rows of stats: all, or names with commas between them");
    add_names(app, args->tensors, args->collection);
    add_batch(app, *args);
    add_parsed(app, "--split-above", args->split_above, "SIZE",
               "over many processes: runs whose files have more bytes go before others; 0: the order of the list; "
               "default: 256M",
               [](const std::string& text) { return text == "0" ? 0 : parse_size("--split-above", text); });
    add_text(app, "--report", args->report, "FILE.html",
             "a page of the results, too: a table of runs and rules; a run's own report is linked where it lies "
             "beside it as NAME.html");
    add_rule_options(app, *rules, line.rule_names());
    add_steps(app, *steps);
    add_evaluation(app, args->check, *rules, *steps);
    add_how(app, args->check.how);
    add_runs_from_folders(app, args->check.how.storage.formats);
    add_notes(
        app,
        "A row for each run and rule; as json with its findings.  A run that cannot be opened is a row, too.\n"
        "Tables begin with what is wrong, and only count the rules that have nothing to look at (see --all).\n"
        "--rule and --rules-json give rules other parameters than their defaults.  all_zero looks at weights and\n"
        "gradients, unchanged_tensor at weights, unless parameters say otherwise.\n");
}

}  // namespace smdebug::inline v1::cli::detail
