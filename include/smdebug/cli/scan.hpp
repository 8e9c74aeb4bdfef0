// `smdebug scan`: all built-in rules that have something to look at, over many runs; a row for each run and rule.
#pragma once

#include <smdebug/batch/reduction_row.hpp>
#include <smdebug/batch/row_spool.hpp>
#include <smdebug/batch/run_batch.hpp>
#include <smdebug/batch/run_memory.hpp>
#include <smdebug/batch/run_result.hpp>
#include <smdebug/batch/source_ahead.hpp>
#include <smdebug/cli/batch_progress.hpp>
#include <smdebug/cli/check.hpp>
#include <smdebug/cli/console.hpp>
#include <smdebug/cli/rows.hpp>
#include <smdebug/cli/rule_notes.hpp>
#include <smdebug/cli/rule_set.hpp>
#include <smdebug/cli/run_scanner.hpp>
#include <smdebug/cli/runs.hpp>
#include <smdebug/cli/scan_arguments.hpp>
#include <smdebug/cli/scan_results.hpp>
#include <smdebug/cli/scan_source.hpp>
#include <smdebug/cli/stats.hpp>
#include <smdebug/cli/text.hpp>
#include <smdebug/core/printable_text.hpp>
#include <smdebug/core/stop_token.hpp>
#include <smdebug/rules/finding.hpp>
#include <smdebug/rules/finding_json.hpp>
#include <smdebug/rules/rule_report.hpp>
#include <smdebug/rules/rule_status.hpp>

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <iostream>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace cli {
namespace detail {

/// How many runs are looked for ahead: more are looked for when these are begun.
inline constexpr std::size_t most_listed = 100'000;

/// The columns of a scan of so many runs, a row for each run and rule.  JSON adds "found": the findings, each as a
/// row of check.
[[nodiscard]] inline std::vector<column> scan_columns(output_format format, std::size_t runs) {
    std::vector<column> columns = summary_columns();
    columns.front().gives_way = runs == 1 ? 6 : 0;
    columns.push_back({"first_step", true, 0, shortened::never, 2});
    columns.push_back(text_column("details", shortened::at_end));
    if (format != output_format::table) {
        columns.push_back({"steps_skipped"});
        columns.push_back({"tensors"});
        columns.push_back({"unread"});
    }
    if (format == output_format::json) {
        columns.push_back({"found"});
    }
    return columns;
}

/// The cells behind the status, of a run or rule that was not evaluated.
inline void fill_not_evaluated(row_buffer& row, std::string_view why) {
    const auto empty = [&](std::size_t cells) {
        for (std::size_t i = 0; i < cells; ++i) {
            row.empty();
        }
    };
    empty(4);
    row.text(why);
    empty(row.format() != output_format::table ? 3 : 0);
    if (row.format() == output_format::json) {
        row.json("[]");
    }
    row.end_row();
}

inline void add_scanned(row_buffer& row, const std::string& path, const rule_verdict& verdict) {
    row.text(path);
    row.text(verdict.rule);
    row.text(name_of(*verdict.status));
    row.integer(verdict.steps_evaluated);
    row.integer(verdict.steps_met);
    row.integer(verdict.found.size());
    verdict.found.empty() ? row.empty() : row.integer(verdict.found.front().step);
    row.text(verdict.details);
    if (row.format() != output_format::table) {
        row.integer(verdict.steps_skipped);
        row.integer(verdict.tensors);
        row.integer(verdict.unread);
    }
    if (row.format() == output_format::json) {
        std::string all = "[";
        for (const finding& one : verdict.found) {
            all += all.size() == 1 ? "" : ",";
            append_finding_json(all, path, one);
        }
        row.json(all + "]");
    }
    row.end_row();
}

/// The results of a scan as rows: one for each run and rule, those among them that have nothing to look at; a run that
/// cannot be opened, or breaks, is one row, without a rule.  Tables begin with what is wrong, and count the rules that
/// have nothing to look at, unless all are asked for; of many runs, their last line counts those.
class scan_rows {
public:
    /// `runs`: how many there will be, as far as that is known.
    scan_rows(const scan_arguments& args, std::size_t runs, console& to)
        : table_(args.check.how.format == output_format::table),
          all_(args.all),
          to_(to),
          rows_(to, args.check.how.format, scan_columns(args.check.how.format, runs)),
          healthy_(rows_.buffer()),
          idle_(rows_.buffer()) {}

    void add(const run_result& result) {
        ++runs_;
        const std::string& path = result.run.path;
        row_buffer row = rows_.buffer();
        for (const rule_verdict& each : result.verdicts) {
            if (each.status) {
                const bool well =
                    *each.status == rule_status::no_issues_found || *each.status == rule_status::in_progress;
                add_scanned(table_ && well ? healthy_ : row, path, each);
            } else if (++idle_rows_; !table_ || all_) {
                row_buffer& to_row = table_ ? idle_ : row;
                to_row.text(path);
                to_row.text(each.rule);
                to_row.text("NotApplicable");
                fill_not_evaluated(to_row, each.details);
            }
        }
        if (!result.error.empty()) {
            row.text(path);
            row.empty();
            row.text(name_of(rule_status::error));
            fill_not_evaluated(row, result.error);
        }
        rows_.take(row);
    }

    void finish(const std::string& tally) {
        rows_.take(healthy_);
        rows_.take(idle_);
        rows_.finish("");
        if (table_ && !all_ && idle_rows_ > 0) {
            to_.print("\n" + counted(idle_rows_, runs_ == 1 ? "rule" : "row") + (idle_rows_ == 1 ? " is" : " are") +
                      " not applicable; --all shows which, and why\n");
        }
        if (table_ && !tally.empty()) {
            to_.print("\n" + tally + "\n");
        }
    }

private:
    bool table_;
    bool all_;
    console& to_;
    row_sink rows_;
    row_buffer healthy_;  // tables: behind the others
    row_buffer idle_;
    std::size_t idle_rows_ = 0;
    std::size_t runs_ = 0;
};

/// The numbers of a scan as rows, those of stats.
class reduction_rows {
public:
    reduction_rows(const scan_arguments& args, std::size_t runs, console& to)
        : statistics_(*args.statistics), rows_(to, args.check.how.format, stats_columns(statistics_, runs)) {}

    void add(const run_result& result) {
        if (!result.reductions) {
            return;
        }
        row_buffer row = rows_.buffer();
        std::size_t waiting = 0;
        result.reductions->for_each([&](const reduction_row& each) {
            row.text(result.run.path);
            row.text(each.name);
            row.text(each.worker);
            row.integer(each.step);
            row.text(name_of(each.mode));
            row.integer(each.mode_step);
            each.dtype.empty() ? row.empty() : row.text(each.dtype);
            each.shape ? row.text(*each.shape) : row.empty();
            each.shape ? row.integer(each.reductions.count) : row.empty();
            add_statistics(row, statistics_, each.reductions);
            row.end_row();
            if (++waiting == 1000) {
                waiting = 0;
                rows_.take(row);
            }
        });
        rows_.take(row);
    }
    void finish() { rows_.finish(""); }

private:
    const std::vector<statistic>& statistics_;
    row_sink rows_;
};

/// Says what there is to say about a run, and does what findings are to cause.
inline void tell_result(const run_result& result, finding_actions& actions, console& to) {
    const auto note = [&](const std::string& text) { to.note(text); };
    const std::string& path = result.run.path;
    for (const run_message& each : result.messages) {
        switch (each.what) {
            case run_message::kind::note:
                to.note(each.text);
                break;
            case run_message::kind::damage:
                to.damage(each.text);
                break;
            case run_message::kind::error:
                to.error(each.text);
                break;
        }
    }
    std::vector<std::string> names;
    for (const rule_verdict& each : result.verdicts) {
        if (each.status) {
            names.push_back(each.rule);
        }
    }
    actions.begin(path, names, note);
    for (const rule_verdict& each : result.verdicts) {
        if (each.status) {
            for (const finding& found : each.found) {
                actions.act(path, each.rule, found, note);
            }
            actions.finish(path, {.rule = each.rule, .status = *each.status, .status_details = each.details}, note);
        }
    }
    if (!result.error.empty()) {
        const bool names_run = result.error.find(printable(path)) != std::string::npos;
        to.error(result.error + (names_run ? "" : " [run " + path + "]"));
        actions.fail(path, {}, result.error, note);
    }
}

/// How a batch is worked on.
[[nodiscard]] inline batch_options batch_options_of(const scan_arguments& args, unsigned threads,
                                                    const std::stop_token& stop) {
    batch_options how{.threads = threads, .run_timeout = args.run_timeout, .stop = stop};
    if (args.memory) {
        if (!counts_memory()) {
            throw usage_error(
                "--memory: this program does not count memory; one that includes <smdebug/batch/counted_memory.hpp> "
                "does");
        }
        how.memory = [most = *args.memory] { return smdebug::counted_memory(most); };
    }
    return how;
}

/// What happens with the results of a scan.  One thread at a time.
class scan_sink {
public:
    /// Borrows all; `base` may be null.  Errors: usage_error, as finding_actions.
    scan_sink(const scan_arguments& args, scan_database* base, batch_progress& progress, console& to)
        : base_(base), progress_(progress), to_(to), actions_(actions_of(args.check)) {
        const std::size_t runs = args.list ? 2 : args.check.runs.size();
        if (args.statistics) {
            numbers_.emplace(args, runs, to);
        } else {
            rows_.emplace(args, runs, to);
        }
        writes_rows_ = args.rows;
    }

    /// Errors: output_error, those of scan_database.
    void take(run_result&& result) {
        // The first run of an archive is written last: then all of them are there.
        for (const run_result& each : result.others) {
            write(each);
        }
        write(result);
        tell(result);
        for (const run_result& each : result.others) {
            tell(each);
        }
        progress_.done(result);
    }

    /// The results of all that was taken are there.
    void finish(bool complete) {
        const std::string where = base_ != nullptr ? base_->path() : std::string{};
        const std::string sum = tally_.text();
        if (writes_rows_) {
            numbers_ ? numbers_->finish() : rows_->finish(sum);
        }
        actions_.flush([&](const std::string& text) { to_.note(text); });
        const batch_counts counts = progress_.so_far();
        if (base_ != nullptr && !writes_rows_) {
            to_.print(
                (sum.empty() ? counted(counts.done - counts.unchanged, "run") + " looked at" : sum) +
                (counts.unchanged > 0 ? "; " + counted(counts.unchanged, "run") + " had been looked at before" : "") +
                "; results are in " + where + "\n");
        }
        if (!complete) {
            to_.error("interrupted: " + std::to_string(counts.done) +
                      (counts.all ? " of " + std::to_string(*counts.all) : std::string{}) + " runs are done" +
                      (base_ != nullptr ? "; the same command goes on with the others" : ""));
        }
    }
    [[nodiscard]] bool met() const noexcept { return met_; }

private:
    [[nodiscard]] static bool says_nothing(const run_result& result) {
        return result.state == run_state::unchanged || result.state == run_state::undone;
    }
    void write(const run_result& result) {
        if (base_ != nullptr && !says_nothing(result)) {
            base_->write(result);
        }
    }
    void tell(const run_result& result) {
        if (says_nothing(result)) {
            return;
        }
        tell_result(result, actions_, to_);
        tally_.add(result);
        met_ = met_ || has_findings(result);
        if (writes_rows_) {
            numbers_ ? numbers_->add(result) : rows_->add(result);
        }
    }

    scan_database* base_;
    batch_progress& progress_;
    console& to_;
    finding_actions actions_;
    std::optional<scan_rows> rows_;
    std::optional<reduction_rows> numbers_;
    run_tally tally_;
    bool writes_rows_ = true;
    bool met_ = false;
};

/// The lines of --list; null where there is none.  Errors: usage_error: it cannot be read.
[[nodiscard]] inline std::istream* opened_list(const scan_arguments& args, std::ifstream& file) {
    if (!args.list) {
        return nullptr;
    }
    if (*args.list == "-") {
        return &std::cin;
    }
    file.open(*args.list);
    if (file.is_open()) {
        file.peek();  // a folder, for one, opens but does not read
    }
    if (!file.is_open() || file.bad()) {
        throw usage_error("--list: the file " + *args.list + " cannot be read");
    }
    file.clear();  // of the end, where the list is empty
    return &file;
}

/// Runs the command; the exit status.
[[nodiscard]] inline int scan_runs(const scan_arguments& args, const program_rules& registry, console& to,
                                   const std::stop_token& stop = {}) {
    const unsigned threads = args.threads > 0 ? args.threads : std::max(1U, std::thread::hardware_concurrency());
    batch_options how = batch_options_of(args, threads, stop);
    how.in_order = args.rows;
    std::ifstream file;
    std::istream* const list = opened_list(args, file);
    std::optional<scan_database> base;
    if (args.output) {
        base.emplace(*args.output, args);
    }
    batch_progress progress{args.progress, to};
    scan_sink sink{args, base ? &*base : nullptr, progress, to};
    run_scanner scanner{args, registry, threads, [&](const std::string& what, std::size_t done, std::size_t all) {
                            progress.steps(what, done, all);
                        }};
    known_results known;
    if (base) {
        scanner.tell_versions();
        known = base->known();
        known.unchanged = [&](std::size_t runs) { progress.unchanged(runs); };
    }
    scan_source source{args, list, std::move(known)};
    smdebug::detail::source_ahead runs{[&] { return source.next(); }, most_listed,
                                       [&](std::size_t count) { progress.listed(count); }};
    const bool complete = smdebug::run_batch(
        how, [&] { return runs.next(stop); },
        [&](const batch_run& run, const run_scope& scope) { return scanner(run, scope); },
        [&](run_result&& result) {
            const auto locked = progress.lock();
            sink.take(std::move(result));
        });
    progress.finish();
    sink.finish(complete);
    return complete ? to.status(sink.met()) : exit_interrupted;
}

}  // namespace detail
}  // namespace cli
}  // namespace v1
}  // namespace smdebug
