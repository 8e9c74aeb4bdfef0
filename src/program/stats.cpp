#include <program/stats.hpp>

#include <program/ls.hpp>
#include <program/table.hpp>
#include <program/text.hpp>
#include <smdebug/core/dtype.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/core/shape.hpp>
#include <smdebug/reduce/any_kernel.hpp>
#include <smdebug/reduce/name.hpp>
#include <smdebug/rules/setting_text.hpp>
#include <smdebug/trial/lookup.hpp>
#include <smdebug/trial/read/trial_state.hpp>
#include <smdebug/trial/scan.hpp>
#include <smdebug/trial/selection.hpp>

#include <algorithm>
#include <cstdint>

namespace smdebug {
inline namespace v1 {
namespace cli {
namespace detail {

namespace {

using smdebug::detail::statistic_named;

}  // namespace

std::vector<statistic> usual_statistics() {
    std::vector<statistic> usual;
    for (const std::string_view name : {"min", "max", "mean", "std", "l2", "nan"}) {
        usual.push_back(*statistic_named(name));
    }
    return usual;
}

std::vector<statistic> parse_statistics(std::string_view list) {
    std::vector<statistic> chosen;
    while (true) {
        const std::size_t comma = std::min(list.find(','), list.size());
        const std::string_view name = smdebug::detail::without_blanks(list.substr(0, comma));
        const auto parsed = statistic_named(name);
        if (!parsed) {
            const std::string names = joined(smdebug::detail::statistic_names(), ", ");
            throw usage_error("--reductions: there is no \"" + std::string{name} + "\"; there are: all, or " + names);
        }
        if (std::none_of(chosen.begin(), chosen.end(),
                         [&](const statistic& each) { return each.name == parsed->name; })) {
            chosen.push_back(*parsed);
        }
        if (comma == list.size()) {
            return chosen;
        }
        list.remove_prefix(comma + 1);
    }
}

void check_worker(const std::string& wanted, const std::vector<std::string>& workers) {
    if (std::find(workers.begin(), workers.end(), wanted) == workers.end()) {
        throw invalid_worker(wanted + "." + near_or_all(wanted, workers));
    }
}

void add_statistics(row_buffer& row, const std::vector<statistic>& statistics, const reduction_values& values) {
    for (const statistic& each : statistics) {
        if (!each.key) {
            values.computed.has_counts() ? row.integer(values.*each.count) : row.empty();
        } else {
            values.computed.contains(*each.key) ? row.number(values.value[each.key->index()]) : row.empty();
        }
    }
}

std::string unread_file_text(const reduced_tensor& tensor, const std::string& run) {
    const lookup_error& why = *tensor.failure;
    const std::string reason = why.why == absence::event_file_missing ? "is missing" : "cannot be read: " + why.note;
    return why.where + " " + reason + ": no rows for step " + std::to_string(tensor.shown_step) + " of " +
           std::string{tensor.worker} + " [run " + run + "]";
}

namespace {

// Makes rows of tensors.  Const calls may run on many threads.
class stats_rows {
public:
    stats_rows(std::string run, const std::vector<statistic>& statistics, const smdebug::detail::any_kernel& kernel)
        : run_(std::move(run)), statistics_(statistics), kernel_(kernel), wanted_(wanted_by(statistics)) {}
    [[nodiscard]] reduction_set wanted() const noexcept { return wanted_; }

    /// The row of a tensor; no row, but a note, where its values cannot be read.
    void add(stats_part& part, const smdebug::detail::scanned_tensor& scanned) const {
        const reduced_tensor tensor = reduced(scanned, wanted_, kernel_);
        for (const smdebug::detail::scan_failure& bad : tensor.saved_failures) {
            part.damage.push_back(
                {failure_text(bad.why, std::string{tensor.name}, tensor.shown_step, tensor.shown_mode(), run_)});
        }
        if (tensor.failure != nullptr) {
            if (!tensor.file_failed) {
                part.damage.push_back({failure_text(*tensor.failure, std::string{tensor.name}, tensor.shown_step,
                                                    tensor.shown_mode(), run_)});
            } else if (part.last_failed != std::pair{tensor.step, std::string{tensor.worker}}) {
                part.last_failed = {tensor.step, std::string{tensor.worker}};
                part.damage.push_back(
                    {unread_file_text(tensor, run_), tensor.failure->why == absence::event_file_missing});
            }
            return;
        }
        row_buffer& row = part.rows;
        row.text(run_);
        row.text(tensor.name);
        row.text(tensor.worker);
        row.integer(tensor.shown_step);
        row.text(name_of(tensor.mode));
        row.integer(tensor.mode_step);
        tensor.type != dtype::invalid ? row.text(name_of(tensor.type)) : row.empty();
        tensor.shape != nullptr ? row.shape(*tensor.shape) : row.empty();
        const auto count = tensor.shape != nullptr ? element_count(*tensor.shape) : std::nullopt;
        count ? row.integer(*count) : row.empty();
        add_statistics(row, statistics_, tensor.reductions);
        row.end_row();
    }

private:
    std::string run_;
    const std::vector<statistic>& statistics_;
    const smdebug::detail::any_kernel& kernel_;
    reduction_set wanted_;
};

}  // namespace

void stats_damage::tell(std::vector<stats_part::note>& notes, message_sink& to) {
    for (const stats_part::note& note : notes) {
        missing_files_ += note.is_missing_file ? 1U : 0U;
        if (!note.is_missing_file || missing_files_ <= most) {
            to.damage(note.text);
        }
    }
    notes.clear();
}

void stats_damage::finish(const std::string& path, message_sink& to) const {
    if (missing_files_ > most) {
        to.note("and so on: " + std::to_string(missing_files_) + " event files are missing [run " + path + "]");
    }
}

std::vector<column> stats_columns(const std::vector<statistic>& statistics, std::size_t runs,
                                  bool statistics_give_way) {
    std::vector<column> columns{text_column("run", shortened::at_start, runs == 1 ? 9 : 0),
                                {"tensor"},
                                {.name = "worker", .gives_way = 5},
                                {"step", true},
                                {.name = "mode", .gives_way = 4},
                                {.name = "mode_step", .right = true, .gives_way = 8},
                                {.name = "dtype", .gives_way = 6},
                                {.name = "shape", .gives_way = 4},
                                {.name = "count", .right = true, .gives_way = 7}};
    for (const statistic& each : statistics) {
        const int rank = each.name == "l2" ? 3 : (each.name == "std" ? 2 : (each.name == "min" ? 1 : 0));
        columns.push_back(
            {.name = each.name, .right = true, .gives_way = static_cast<std::uint8_t>(statistics_give_way ? rank : 0)});
    }
    return columns;
}

int stats(const stats_arguments& args, console& to) {
    row_sink rows{to, args.how.format, stats_columns(args.statistics, args.runs.size(), args.statistics_give_way)};
    const bool show_progress = args.how.format == output_format::table || !to.results_on_terminal();
    for_each_run(args.runs, reducing(args.how, args.threads), to, [&](const std::string& path, const auto& run) {
        const detail::stats_rows make{path, args.statistics, run.state()->kernel()};
        scan_options options{.which = selection_of(args.tensors, args.collection),
                             .saved = make.wanted(),
                             .how = {.threads = args.threads},
                             .defer_checks = true,
                             .keep_repeats = true,
                             .in_place = true,
                             .stream = true};
        if (args.worker) {
            detail::check_worker(*args.worker, run.workers());
            options.which.worker = *args.worker;
        }
        options.which.mode = args.mode;
        if (smdebug::detail::selected_tensors{options.which, *run.snapshot()}.empty()) {
            to.note("no tensor of " + path + " is selected");
            return;
        }
        if (run.steps({.mode = args.mode, .show_incomplete_steps = true}).empty()) {
            to.note("no step of " + path + " is selected" +
                    (args.mode == mode::global || run.modes().empty()
                         ? ""
                         : "; its modes are " + joined(detail::mode_names(run), ", ")));
            return;
        }
        if (show_progress) {
            options.how.progress = [&](std::size_t done, std::size_t all) {
                to.progress("files of " + path, done, all);
            };
        }
        stats_damage damage;
        scan_parts(
            run, options, detail::stats_part{rows.buffer()},
            [&](detail::stats_part& part, const smdebug::detail::scanned_tensor& tensor) { make.add(part, tensor); },
            [&](detail::stats_part& part) {
                damage.tell(part.damage, to);
                rows.take(part.rows);
            });
        damage.finish(path, to);
        if (!run.loaded_all_steps()) {
            to.note("the job of " + path + " has not ended: these are its tensors so far");
        }
    });
    rows.finish(to.trouble() ? "" : "no tensors\n");
    return to.status();
}

}  // namespace detail
}  // namespace cli
}  // namespace v1
}  // namespace smdebug
