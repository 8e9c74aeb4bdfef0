// `smdebug stats`: every reduction of every tensor, a row for each tensor of each worker at each step.
// Walks the run in file order: every event file is read once.
// Used by: cli/program.hpp.
#pragma once

#include <smdebug/cli/console.hpp>
#include <smdebug/cli/rows.hpp>
#include <smdebug/cli/runs.hpp>
#include <smdebug/cli/text.hpp>
#include <smdebug/core/dtype.hpp>
#include <smdebug/core/shape.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/reduce/concepts.hpp>
#include <smdebug/reduce/name.hpp>
#include <smdebug/trial/lookup.hpp>
#include <smdebug/trial/name_query.hpp>
#include <smdebug/trial/scan.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace cli {

/// One column of results: a reduction, or a count of values of one kind.
struct statistic {
    std::optional<reduction_key> key = {};             ///< unset: a count
    std::uint64_t reduction_values::*count = nullptr;  ///< which one
    std::string name = {};
};

/// The statistic of that name: "mean", "abs_l2", "nan", ...
[[nodiscard]] inline std::optional<statistic> statistic_named(std::string_view name) {
    if (const auto key = reduction_key_named(name)) {
        return statistic{.key = key, .name = key->name()};
    }
    using counts = std::pair<std::string_view, std::uint64_t reduction_values::*>;
    for (const auto& [known, member] :
         {counts{"nan", &reduction_values::nan}, counts{"pos_inf", &reduction_values::pos_inf},
          counts{"neg_inf", &reduction_values::neg_inf}, counts{"zeros", &reduction_values::zeros}}) {
        if (name == known) {
            return statistic{.count = member, .name = std::string{known}};
        }
    }
    return std::nullopt;
}

/// The default: the nine, their abs forms, the counts.
[[nodiscard]] inline std::vector<statistic> all_statistics() {
    std::vector<statistic> all;
    for (std::size_t i = 0; i < 2 * reduction_count; ++i) {
        all.push_back(*statistic_named(reduction_key::from_index(i).name()));
    }
    for (const std::string_view name : {"nan", "pos_inf", "neg_inf", "zeros"}) {
        all.push_back(*statistic_named(name));
    }
    return all;
}

/// A comma separated list of them, each once.  Errors: usage_error, naming those that there are.
[[nodiscard]] inline std::vector<statistic> parse_statistics(std::string_view list) {
    std::vector<statistic> chosen;
    while (true) {
        const std::size_t comma = std::min(list.find(','), list.size());
        const std::string_view name = list.substr(0, comma);
        const auto known = statistic_named(name);
        if (!known) {
            std::string names;
            for (const statistic& held : all_statistics()) {
                names += (names.empty() ? "" : ", ") + held.name;
            }
            throw usage_error("--reductions: there is no \"" + std::string{name} + "\"; there are: " + names);
        }
        if (std::none_of(chosen.begin(), chosen.end(),
                         [&](const statistic& held) { return held.name == known->name; })) {
            chosen.push_back(*known);
        }
        if (comma == list.size()) {
            return chosen;
        }
        list.remove_prefix(comma + 1);
    }
}

struct stats_arguments {
    std::vector<std::string> runs = {};
    unsigned threads = 1;
    std::optional<std::string> tensors = {};     ///< a regex
    std::optional<std::string> collection = {};  ///< with `tensors`: those that are in both
    std::vector<statistic> statistics = all_statistics();
    run_options how = {};
};

namespace detail {

/// What a thread makes of one file: rows, and notes about what is not in them.
struct stats_part {
    row_buffer rows;
    std::vector<std::string> damage;
};

/// Makes rows of tensors.  Const calls may run on many threads.
template <class Kernel>
class stats_rows {
public:
    stats_rows(std::string run, const std::vector<statistic>& statistics, const Kernel& kernel)
        : run_(std::move(run)), statistics_(statistics), kernel_(kernel) {
        for (const statistic& held : statistics_) {
            wanted_ = wanted_ | (held.key ? reduction_set{*held.key} : reduction_set::counts());
        }
    }
    [[nodiscard]] reduction_set wanted() const noexcept { return wanted_; }

    /// The row of a tensor; no row, but a note, where its values cannot be read.
    void add(stats_part& part, const scanned_tensor& tensor) const {
        for (const scan_failure& bad : tensor.saved_failures) {
            part.damage.push_back(failure_text(bad.why, std::string{tensor.name}, tensor.step, mode::global, run_));
        }
        if (tensor.failure != nullptr) {
            if (!tensor.file_failed) {
                part.damage.push_back(
                    failure_text(*tensor.failure, std::string{tensor.name}, tensor.step, mode::global, run_));
            } else if (part.damage.empty()) {
                part.damage.push_back(file_note(tensor));
            }
            return;
        }
        row_buffer& row = part.rows;
        row.text(run_);
        row.text(tensor.name);
        row.text(tensor.worker);
        row.integer(tensor.step);
        row.text(name_of(tensor.mode));
        row.integer(tensor.mode_step);
        tensor.values != nullptr ? row.text(name_of(tensor.values->type)) : row.empty();
        const shape_type* shape = tensor.shape();
        shape != nullptr ? row.shape(*shape) : row.empty();
        const auto count = shape != nullptr ? element_count(*shape) : std::nullopt;
        count ? row.integer(*count) : row.empty();
        put_statistics(row, tensor);
        row.end_row();
    }

private:
    void put_statistics(row_buffer& row, const scanned_tensor& tensor) const {
        reduction_values computed;  // nothing, for strings and where no values were saved
        if (tensor.values != nullptr) {
            if (auto values = kernel_.reduce(tensor.values->view(), wanted_); values.ok()) {
                computed = *std::move(values);
            }
        }
        for (const statistic& held : statistics_) {
            if (!held.key) {
                computed.computed.has_counts() ? row.integer(computed.*held.count) : row.empty();
            } else if (tensor.saved.contains(*held.key)) {
                row.number(tensor.saved_value[held.key->index()]);
            } else if (computed.computed.contains(*held.key) && !is_damaged(tensor, *held.key)) {
                row.number(computed.value[held.key->index()]);
            } else {
                row.empty();
            }
        }
    }

    /// What was saved and cannot be read is not replaced by what would be computed: it may have been another number.
    [[nodiscard]] static bool is_damaged(const scanned_tensor& tensor, reduction_key key) {
        return std::any_of(tensor.saved_failures.begin(), tensor.saved_failures.end(),
                           [&](const scan_failure& bad) { return bad.key == key; });
    }

    [[nodiscard]] std::string file_note(const scanned_tensor& tensor) const {
        const lookup_failure& why = *tensor.failure;
        const std::string reason =
            why.why == absence::event_file_missing ? "is missing" : "cannot be read: " + why.note;
        return printable(why.where + " " + reason + ": no rows for step " + std::to_string(tensor.step) + " of " +
                         std::string{tensor.worker} + " [run " + run_ + "]");
    }

    std::string run_;
    const std::vector<statistic>& statistics_;
    const Kernel& kernel_;
    reduction_set wanted_;
};

/// The tensors that were asked for; nothing: all.  Errors: collection_unavailable, value_error for a bad regex.
template <class Trial>
[[nodiscard]] std::optional<std::vector<std::string>> chosen_tensors(const Trial& run, const stats_arguments& given) {
    const auto query = [&](const tensor_names_options& which) {
        return query_names(which, [&] { return run.snapshot(); });
    };
    std::optional<std::vector<std::string>> chosen;
    if (given.tensors) {
        chosen = query({.regex = *given.tensors});
    }
    if (given.collection) {
        static_cast<void>(run.collection(*given.collection));  // an unknown one is an error, not an empty table
        auto members = query({.collection = *given.collection});
        if (chosen) {
            std::vector<std::string> both;
            std::set_intersection(chosen->begin(), chosen->end(), members.begin(), members.end(),
                                  std::back_inserter(both));
            members = std::move(both);
        }
        chosen = std::move(members);
    }
    return chosen;
}

}  // namespace detail

/// The columns of stats.
[[nodiscard]] inline std::vector<column> stats_columns(const std::vector<statistic>& statistics) {
    std::vector<column> columns{{"run"},   {"tensor"}, {"worker"},     {"step", true}, {"mode"}, {"mode_step", true},
                                {"dtype"}, {"shape"},  {"count", true}};
    for (const statistic& held : statistics) {
        columns.push_back({held.name, true});
    }
    return columns;
}

/// Runs the command; the exit status.
[[nodiscard]] inline int stats(const stats_arguments& given, console& to) {
    row_sink rows{to, given.how.format, stats_columns(given.statistics)};
    const bool show_progress = given.how.format == output_format::table || !to.results_on_terminal();
    for_each_run(given.runs, given.how, to, [&](const std::string& path, const auto& run) {
        scan_options options{.tensors = detail::chosen_tensors(run, given), .threads = given.threads};
        if (options.tensors && options.tensors->empty()) {
            to.note("no tensor of " + printable(path) + " is selected");
            return;
        }
        const detail::stats_rows make{path, given.statistics, run.state()->kernel()};
        options.saved = make.wanted();
        scan_parts(
            run, options, detail::stats_part{rows.buffer(), {}},
            [&](detail::stats_part& part, const scanned_tensor& tensor) { make.add(part, tensor); },
            [&](detail::stats_part& part, std::size_t done, std::size_t all) {
                for (const std::string& text : part.damage) {
                    to.damage(text);
                }
                part.damage.clear();
                rows.take(part.rows);
                if (show_progress) {
                    to.progress("files of " + path, done, all);
                }
            });
        if (!run.loaded_all_steps()) {
            to.note("the job of " + printable(path) + " has not ended: these are its tensors so far");
        }
    });
    rows.finish(to.trouble() ? "" : "no tensors\n");
    return to.status();
}

}  // namespace cli
}  // namespace v1
}  // namespace smdebug
