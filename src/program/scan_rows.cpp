#include <program/scan_rows.hpp>

#include <program/check.hpp>
#include <program/table.hpp>
#include <program/text.hpp>
#include <smdebug/batch/row_spool.hpp>
#include <smdebug/rules/finding.hpp>
#include <smdebug/rules/rule_result.hpp>

#include <string_view>

namespace smdebug::inline v1::cli::detail {

namespace {

// The columns of a scan of so many runs, a row for each run and rule.  JSON adds "found": the findings, each as a
// row of check.
std::vector<column> scan_columns(output_format format, std::size_t runs) {
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

// The cells after the status, for a run or rule that was not evaluated.
void fill_not_evaluated(row_buffer& row, std::string_view why) {
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

void add_scanned(row_buffer& row, const std::string& path, const rule_result& verdict) {
    row.text(path);
    row.text(verdict.name);
    row.text(name_of(verdict.status));
    row.integer(verdict.outcome.evaluated);
    row.integer(verdict.outcome.met_at.size());
    const std::vector<finding>& found = verdict.outcome.findings;
    row.integer(found.size());
    found.empty() ? row.empty() : row.integer(found.front().step);
    row.text(verdict.summary);
    if (row.format() != output_format::table) {
        row.integer(verdict.outcome.skipped);
        row.integer(verdict.outcome.tensors);
        row.integer(verdict.outcome.unread);
    }
    if (row.format() == output_format::json) {
        std::string all = "[";
        for (const finding& one : found) {
            all += all.size() == 1 ? "" : ",";
            append_finding_json(all, path, one);
        }
        row.json(all + "]");
    }
    row.end_row();
}

}  // namespace

scan_rows::scan_rows(const scan_arguments& args, std::size_t runs, console& to)
    : table_(args.check.how.format == output_format::table),
      all_(args.all),
      named_(args.check.rules),
      to_(to),
      rows_(to, args.check.how.format, scan_columns(args.check.how.format, runs)),
      healthy_(rows_.buffer()),
      idle_(rows_.buffer()) {}

void scan_rows::add(const run_result& result) {
    ++runs_;
    bad_values_.add(result);
    const std::string& path = result.run.path;
    row_buffer row = rows_.buffer();
    for (const rule_result& each : result.verdicts) {
        const bool well = each.status == rule_status::no_issues_found || each.status == rule_status::in_progress;
        const bool shown = !table_ || all_ || is_requested(named_, each.name);
        if (well && !shown) {
            ++healthy_rows_;
        } else if (each.status != rule_status::not_applicable) {
            add_scanned(table_ && well ? healthy_ : row, path, each);
        } else if (shown) {
            row_buffer& to_row = table_ ? idle_ : row;
            to_row.text(path);
            to_row.text(each.name);
            to_row.text(name_of(each.status));
            fill_not_evaluated(to_row, each.summary);
        } else {
            ++idle_rows_;
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

void scan_rows::finish(const std::string& tally) {
    rows_.take(healthy_);
    rows_.take(idle_);
    const bool is_empty = rows_.empty();
    rows_.finish("");
    if (const std::string origins = bad_values_.text(); table_ && !origins.empty()) {
        to_.print("\n" + origins);
    }
    if (healthy_rows_ + idle_rows_ > 0) {
        to_.print((is_empty ? "" : "\n") + counted(healthy_rows_, runs_ == 1 ? "rule" : "result") + " found nothing, " +
                  std::to_string(idle_rows_) + (idle_rows_ == 1 ? " is" : " are") +
                  " not applicable; --all shows them\n");
    }
    if (table_ && !tally.empty()) {
        to_.print("\n" + tally + "\n");
    }
}

reduction_rows::reduction_rows(const scan_arguments& args, std::size_t runs, console& to)
    : statistics_(*args.statistics), rows_(to, args.check.how.format, stats_columns(statistics_, runs)) {}

void reduction_rows::add(const run_result& result) {
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

}  // namespace smdebug::inline v1::cli::detail
