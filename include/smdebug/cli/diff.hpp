// `smdebug diff`: the first step and tensor at which two runs part, and how far they are apart from there on.
#pragma once

#include <smdebug/cli/console.hpp>
#include <smdebug/cli/rows.hpp>
#include <smdebug/cli/run_places.hpp>
#include <smdebug/cli/runs.hpp>
#include <smdebug/cli/stats.hpp>
#include <smdebug/cli/text.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/core/json_text.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/trial/diff_runs.hpp>
#include <smdebug/trial/refresh_guard.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <exception>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace cli {
namespace detail {

struct diff_arguments {
    std::string first = {};
    std::string second = {};
    bool all = false;  ///< tables: a row for each difference
    std::optional<double> rtol = {};
    std::optional<double> atol = {};
    std::optional<std::string> tensors = {};     ///< a regex
    std::optional<std::string> collection = {};  ///< with `tensors`: those that are in both
    smdebug::mode mode = smdebug::mode::global;  ///< only steps of this one; global: of all
    std::optional<std::string> worker = {};
    run_options how = {};
};

/// "[3, 7]", the place of an element in C order; nothing of a scalar.
[[nodiscard]] inline std::string place_text(std::size_t place, std::span<const std::size_t> extents) {
    std::string text;
    for (std::size_t axis = extents.size(); axis-- > 0;) {
        const std::size_t extent = std::max<std::size_t>(extents[axis], 1);
        text = (axis == 0 ? "[" : ", ") + std::to_string(place % extent) + text;
        place /= extent;
    }
    return text.empty() ? text : text + "]";
}

/// "12 of 1,000 elements differ, the largest difference is 3.1e-05 at [3, 7] (0.5 and 0.500031)"; what differs otherwise
/// in its own words.
[[nodiscard]] inline std::string words_of(const run_difference& each) {
    if (each.kind != run_difference_kind::values) {
        return each.what;
    }
    std::string text = grouped(each.differing) + " of " + grouped(each.elements) +
                       (each.elements == 1 ? " element differs" : " elements differ");
    const auto& shown = each.farthest ? each.farthest : each.first;
    const std::string place = each.shape != nullptr ? place_text(shown->place, *each.shape) : std::string{};
    text += each.farthest ? ", the largest difference is " + short_text(each.largest) : ", the first";
    return text + (place.empty() ? "" : " at " + place) + " (" + shown->first + " and " + shown->second + ")";
}

/// "step 40 (TRAIN 20)".
[[nodiscard]] inline std::string step_text(step_number step, mode in, step_number mode_step) {
    return "step " + std::to_string(step) + " (" + std::string{name_of(in)} + " " + std::to_string(mode_step) + ")";
}

/// What tables and the first sentence are made of, gathered while two runs are walked.
/// Memory: a few numbers for each step from the first difference on, and for each tensor that is not alike.
class diff_story {
public:
    void add(const run_difference& each) {
        switch (each.kind) {
            case run_difference_kind::unreadable:
                return;
            case run_difference_kind::step:
                alone_[each.run - 1].push_back(each.step);
                return;
            case run_difference_kind::collection:
                break;
            default:
                if (parted_.empty()) {
                    parted_ = step_text(each.step, each.mode, each.mode_step);
                    parted_ +=
                        each.worker == "worker_0" || each.worker.empty() ? "" : " of " + std::string{each.worker};
                    parted_ += ": " + (each.tensor.empty() ? "" : "tensor " + std::string{each.tensor} + ": ");
                    parted_ += words_of(each);
                }
                break;
        }
        if (each.kind != run_difference_kind::values && each.kind != run_difference_kind::reduction) {
            other& kept = others_[{each.kind, each.run, std::string{each.tensor}}];
            if (kept.times++ == 0) {
                kept.step = each.step;
                kept.what = each.what;
            }
        }
    }
    void add(const compared_step& step) {
        if (step.differing > 0 || !steps_.empty()) {
            steps_.push_back(step);
        }
    }

    /// The first line.
    [[nodiscard]] std::string sentence(const diff_summary& all, const diff_arguments& args) const {
        if (!parted_.empty()) {
            return "the runs part at " + parted_;
        }
        const std::string compared = counted(all.steps, "step") + ", " + counted(all.tensors, "tensor") + ", " +
                                     size_text(all.bytes) + " compared";
        std::string within;
        if (args.rtol || args.atol) {
            within =
                " within rtol " + short_text(args.rtol.value_or(0)) + " and atol " + short_text(args.atol.value_or(0));
        }
        if (all.same()) {
            return "the runs are the same" + within + ": " + compared;
        }
        if (all.differences == 0) {
            return "what can be read of both runs is the same" + within + ": " + compared;
        }
        return "where both runs have a step they are the same" + within + ", but for what is below: " + compared;
    }

    /// What differs beside values, one line for each run of steps, and a table.
    void print_others(console& to) const {
        for (const std::size_t run : {0U, 1U}) {
            if (!alone_[run].empty()) {
                to.print("only the " + std::string{smdebug::detail::name_of_run(static_cast<unsigned>(run) + 1)} +
                         " run has " + counted(alone_[run].size(), "step") + ": " + compact_steps(alone_[run]) + "\n");
            }
        }
        if (others_.empty()) {
            return;
        }
        row_sink rows{
            to,
            output_format::table,
            {{"kind"}, {"name"}, {"from step", true}, {"times", true}, text_column("what", shortened::at_end)}};
        row_buffer row = rows.buffer();
        for (const auto& [key, kept] : others_) {
            const auto& [kind, run, name] = key;
            row.text(name_of(kind));
            name.empty() ? row.empty() : row.text(name);
            kept.step < 0 ? row.empty() : row.integer(kept.step);
            row.integer(kept.times);
            row.text(kept.what);
            row.end_row();
        }
        rows.take(row);
        to.print("\n");
        rows.finish("");
    }

    /// How far the runs are apart, from the first step on at which they differ; of many steps some.
    void print_steps(console& to) const {
        if (steps_.empty()) {
            return;
        }
        row_sink rows{to,
                      output_format::table,
                      {{"step", true},
                       {.name = "mode", .gives_way = 2},
                       {.name = "mode_step", .right = true, .gives_way = 3},
                       {.name = "tensors", .right = true, .gives_way = 1},
                       {"differ", true},
                       {"largest", true},
                       {"relative", true},
                       {"tensor"}}};
        row_buffer row = rows.buffer();
        const std::size_t left = steps_.size() > most_rows ? most_rows - first_rows : 0;
        for (std::size_t i = 0; i < steps_.size(); ++i) {
            if (left > 0 && i >= first_rows) {  // the rest evenly, with the last
                const std::size_t all = steps_.size() - first_rows;
                const std::size_t place = i - first_rows + 1;
                if (place * left / all == (place - 1) * left / all) {
                    continue;
                }
            }
            const compared_step& step = steps_[i];
            row.integer(step.step);
            row.text(name_of(step.mode));
            row.integer(step.mode_step);
            row.integer(step.tensors);
            row.integer(step.differing);
            row.number(step.largest);
            row.number(step.largest_relative);
            step.farthest_tensor.empty() ? row.empty() : row.text(step.farthest_tensor);
            row.end_row();
        }
        rows.take(row);
        to.print("\n");
        rows.finish("");
        if (left > 0) {
            to.print("\n" + std::to_string(steps_.size() - most_rows) + " of " + counted(steps_.size(), "step") +
                     " left out; --all shows every difference\n");
        }
    }

private:
    struct other {
        step_number step = -1;
        std::size_t times = 0;
        std::string what = {};
    };
    static constexpr std::size_t most_rows = 30;
    static constexpr std::size_t first_rows = 10;

    std::string parted_;
    std::array<std::vector<step_number>, 2> alone_;  // steps that one run has
    std::map<std::tuple<run_difference_kind, unsigned, std::string>, other> others_;
    std::vector<compared_step> steps_;
};

/// Rows of single differences.
[[nodiscard]] inline std::vector<column> diff_columns() {
    return {{"kind"},
            {"step", true},
            {.name = "mode", .gives_way = 3},
            {.name = "mode_step", .right = true, .gives_way = 6},
            {.name = "worker", .gives_way = 4},
            {"tensor"},
            {.name = "run", .gives_way = 2},
            {.name = "elements", .right = true, .gives_way = 7},
            {"differ", true},
            {"largest", true},
            {.name = "largest_relative", .right = true, .gives_way = 5},
            {.name = "first_index", .right = true, .gives_way = 8},
            {.name = "first_value", .right = true, .gives_way = 9},
            {.name = "second_value", .right = true, .gives_way = 9},
            text_column("what", shortened::at_end, 1)};
}

inline void add_difference(row_buffer& row, const run_difference& each) {
    const auto number = [&](double value) { std::isnan(value) ? row.empty() : row.number(value); };
    row.text(name_of(each.kind));
    if (each.step < 0) {
        row.empty();
        row.empty();
        row.empty();
    } else {
        row.integer(each.step);
        row.text(name_of(each.mode));
        row.integer(each.mode_step);
    }
    each.worker.empty() ? row.empty() : row.text(each.worker);
    each.tensor.empty() ? row.empty() : row.text(each.tensor);
    each.run == 0 ? row.empty() : row.text(smdebug::detail::name_of_run(each.run));
    if (each.elements == 0) {
        row.empty();
        row.empty();
    } else {
        row.integer(each.elements);
        row.integer(each.differing);
    }
    number(each.largest);
    number(each.largest_relative);
    if (each.first) {
        row.integer(each.first->place);
        row.text(each.first->first);
        row.text(each.first->second);
    } else {
        row.empty();
        row.empty();
        row.empty();
    }
    row.text(each.what);
    row.end_row();
}

/// The one run that a path stands for.  Errors: those of open_run(); value_error for an archive of several; what is
/// damaged around the run in its archive is told.
[[nodiscard]] inline program_trial open_one_run(const std::string& path, const run_options& how, console& to) {
    const run_places places = places_of(path, how.storage);
    if (places.runs.size() != 1) {
        std::string message = path + " holds " + counted(places.runs.size(), "run") + ", and one is compared";
        for (std::size_t i = 0; i < std::min<std::size_t>(places.runs.size(), 5); ++i) {
            message += (i == 0 ? ": " : ", ") + places.runs[i].path;
        }
        throw value_error(message + (places.runs.size() > 5 ? ", ..." : ""), {.where = path});
    }
    program_trial run = open_run(places.runs.front(), how);
    if (!places.damage.empty()) {
        how.skip_damaged ? to.note(places.damage) : to.damage(places.damage);
    }
    return run;
}

/// Errors: invalid_worker: it has saved nothing in either run.
inline void check_worker_of(const std::string& wanted, const program_trial& first, const program_trial& second) {
    std::vector<std::string> workers = first.workers();
    for (const std::string& more : second.workers()) {
        if (std::find(workers.begin(), workers.end(), more) == workers.end()) {
            workers.push_back(more);
        }
    }
    check_worker(wanted, workers);
}

/// Tells what could not be read: the first few, and then their number.
class diff_damage {
public:
    void tell(const run_difference& each, const diff_arguments& args, console& to) {
        if (++told_ <= most) {
            const std::string& path = each.run == 1 ? args.first : args.second;
            to.damage(each.what + (each.what.find(path) == std::string::npos ? " [run " + path + "]" : ""));
        }
    }
    void finish(console& to) const {
        if (told_ > most) {
            to.note("and so on: " + std::to_string(told_) + " tensors or event files cannot be read");
        }
    }

private:
    static constexpr std::size_t most = 10;
    std::size_t told_ = 0;
};

/// Compares two runs that are open; the exit status.
[[nodiscard]] inline int diff_opened(const diff_arguments& args, const program_trial& first,
                                     const program_trial& second, console& to) {
    const no_refresh first_as_it_is{first};
    const no_refresh second_as_it_is{second};
    const bool table = args.how.format == output_format::table;
    const bool each_row = !table || args.all;
    diff_options options{.rtol = args.rtol, .atol = args.atol};
    if (args.tensors) {
        options.which.regex = *args.tensors;
    }
    if (args.collection) {
        options.which.collection = *args.collection;
    }
    if (args.worker) {
        check_worker_of(*args.worker, first, second);
        options.which.worker = *args.worker;
    }
    options.which.mode = args.mode;
    diff_story story;
    options.step_done = [&](const compared_step& step) { story.add(step); };
    if (table || !to.results_on_terminal()) {
        options.how.progress = [&](std::size_t done, std::size_t all) { to.progress("files of both runs", done, all); };
    }
    row_sink rows{to, args.how.format, diff_columns()};
    row_buffer row = rows.buffer();
    diff_damage damage;
    const diff_summary all = diff_runs(first, second, options, [&](const run_difference& each) {
        story.add(each);
        if (each.kind == run_difference_kind::unreadable) {
            damage.tell(each, args, to);
        }
        if (each_row) {
            add_difference(row, each);
            rows.take(row);
        }
    });
    damage.finish(to);
    if (all.compared == 0 && all.differences == 0 && all.unreadable == 0) {
        throw value_error("nothing was compared: neither run has a tensor at a step that is selected",
                          {.where = args.first});
    }
    if (table) {
        to.print(printable(story.sentence(all, args)) + "\n");  // names in it are untrusted
        if (args.all) {
            to.print(all.differences + all.unreadable > 0 ? "\n" : "");
            rows.finish("");
        } else {
            story.print_others(to);
            story.print_steps(to);
        }
    }
    for (const auto& [run, path] : {std::pair{&first, &args.first}, std::pair{&second, &args.second}}) {
        if (!run->loaded_all_steps()) {
            to.note("the job of " + *path + " has not ended: these are its steps so far");
        }
    }
    return to.status(all.differences > 0);
}

/// Runs the command; the exit status.
[[nodiscard]] inline int diff(const diff_arguments& given, console& to) {
    diff_arguments args = given;
    args.first = plain_path(args.first);
    args.second = plain_path(args.second);
    const auto note = [&](const std::string& text) { to.note(text); };
    std::array<std::optional<program_trial>, 2> runs;
    for (const auto& [run, path] : {std::pair{&runs[0], &args.first}, std::pair{&runs[1], &args.second}}) {
        try {
            run->emplace(open_one_run(*path, args.how, to));
            skipped_files{}.tell(**run, *path, note);
        } catch (const std::exception& wrong) {
            to.error(error_text(wrong, *path));
        }
    }
    if (!runs[0] || !runs[1]) {
        return exit_error;
    }
    try {
        return diff_opened(args, *runs[0], *runs[1], to);
    } catch (const usage_error&) {
        throw;
    } catch (const output_error&) {
        throw;
    } catch (const std::exception& wrong) {
        to.error(error_text(wrong, args.first));
        return exit_error;
    }
}

}  // namespace detail
}  // namespace cli
}  // namespace v1
}  // namespace smdebug
