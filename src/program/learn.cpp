#include <program/learn.hpp>

#include <program/command_line.hpp>
#include <program/command_options.hpp>
#include <program/learn_ranks.hpp>
#include <program/numbers.hpp>
#include <program/run_places.hpp>
#include <program/table.hpp>
#include <program/text.hpp>
#include <smdebug/batch/find_runs.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/core/function_ref.hpp>
#include <smdebug/core/json_text.hpp>
#include <smdebug/core/printable_text.hpp>
#include <smdebug/learn/learn.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <istream>
#include <memory>
#include <utility>
#include <vector>

namespace smdebug::inline v1::cli::detail {

namespace {

// The runs that the user names, a path, pattern or folder each: in arguments, then in the list.
std::vector<std::string> asked_runs(const learn_arguments& args) {
    std::vector<std::string> asked = args.runs;
    std::ifstream file;
    if (std::istream* const from = opened_list(args.list, file)) {
        run_list list{*from, "--list " + *args.list};
        try {
            while (auto line = list.next()) {
                asked.push_back(*std::move(line));
            }
        } catch (const error& wrong) {
            throw usage_error(wrong.message());
        }
    }
    std::vector<std::string> plain;
    for (const std::string& each : asked) {
        plain.push_back(plain_path(each));
    }
    std::sort(plain.begin(), plain.end());
    if (const auto twice = std::adjacent_find(plain.begin(), plain.end()); twice != plain.end()) {
        throw usage_error(*twice + " is given twice: each run counts once");
    }
    return asked;
}

// The facts of the files of --add.
learned_facts added_facts(const learn_arguments& args) {
    learned_facts facts;
    for (const std::string& path : args.add) {
        try {
            facts.join(learned_facts::load(path));
        } catch (const value_error& wrong) {
            const std::string text{wrong.message()};
            throw usage_error("--add " + (text.starts_with(path) ? text : path + ": " + text));
        } catch (const error& wrong) {
            throw usage_error("--add: " + std::string{wrong.message()});
        }
    }
    return facts;
}

text_list asked_numbers(const learn_arguments& args, const learned_facts& added) {
    if (!args.reductions) {
        return learn_options{}.reductions;
    }
    const text_list names{split(*args.reductions, ',')};
    try {
        const auto numbers = smdebug::detail::learn::numbers_named(names);
        if (!added.runs().empty() && numbers != smdebug::detail::learn::facts_access::data(added).reductions) {
            throw value_error("the files of --add keep other numbers.  Leave --reductions out");
        }
    } catch (const value_error& wrong) {
        throw usage_error("--reductions: " + std::string{wrong.message()});
    }
    return names;
}

std::string result_json(const learned_facts& facts, const std::vector<left_out_run>& left_out) {
    std::string text = "{\"runs\": " + std::to_string(facts.runs().size()) + ", \"tensors\": " +
                       std::to_string(smdebug::detail::learn::facts_access::data(facts).tensors.size()) +
                       ", \"left_out\": [";
    for (std::size_t i = 0; i < left_out.size(); ++i) {
        text += i == 0 ? "{\"run\": " : ", {\"run\": ";
        append_json_string(text, left_out[i].run);
        text += ", \"why\": ";
        append_json_string(text, left_out[i].why);
        text += '}';
    }
    text += "], \"suspects\": [";
    for (std::size_t i = 0; i < facts.suspects().size(); ++i) {
        text += i == 0 ? "" : ", ";
        append_json_string(text, facts.suspects()[i]);
    }
    return text + "]}\n";
}

int show(const learn_arguments& args, console& to) {
    learned_facts facts;
    try {
        facts = learned_facts::load(*args.show);
    } catch (const error& wrong) {
        throw usage_error("--show: " + std::string{wrong.message()});
    }
    const std::optional<std::string> tensor = args.runs.empty() ? std::nullopt : std::optional{args.runs.front()};
    if (tensor && smdebug::detail::learn::facts_access::data(facts).tensors.find(*tensor) ==
                      smdebug::detail::learn::facts_access::data(facts).tensors.end()) {
        throw usage_error(*args.show + " has no tensor \"" + *tensor + "\"." + near_or_all(*tensor, facts.tensors()));
    }
    to.print(learned_table(facts, tensor));
    return to.status();
}

// What each of many processes would do without the others.
constexpr std::string_view each_learns = "learn from all runs";

// How a process learns, what it says, and how it opens runs.
class learning {
public:
    /// Borrows all.  `tells`: on the console; if not, what is to be said is kept.
    learning(const learn_arguments& args, console& to, const std::stop_token& stop, bool tells = true)
        : args_(args),
          to_(to),
          says_(tells ? &to : nullptr),
          how_{.threads = threads_or_all(args.threads), .stop = stop},
          archives_(std::size_t{how_.threads} + 1) {
        how_.on_note = [this](const std::string& run, const std::string& note) { says_.note(run, note); };
        how_.progress = [this](std::size_t) { says_.count(1); };
        access_.open = [this](const std::string& path, const std::optional<any_storage>& store) -> trial {
            const run_place place = store ? run_place{path, store} : archives_.place_of(path, args_.how.storage);
            return open_run(place, args_.how);
        };
        access_.is_asked = [this](const std::string& path) { return !args_.shard || args_.shard->has(path); };
    }
    learning(const learning&) = delete;
    learning& operator=(const learning&) = delete;

    /// Learns from the runs that the arguments name, and writes and prints the result.  `learn` makes the facts.
    int run(function_ref<learned_facts(run_finder&)> learn);

    [[nodiscard]] const learn_options& how() const noexcept { return how_; }
    [[nodiscard]] const learn_access& access() const noexcept { return access_; }
    [[nodiscard]] learn_reports& says() noexcept { return says_; }

private:
    int finish(const learned_facts& facts);

    const learn_arguments& args_;
    console& to_;
    learn_reports says_;
    learn_options how_;
    opened_archives archives_;
    learn_access access_;
};

int learning::run(function_ref<learned_facts(run_finder&)> learn) {
    const std::vector<std::string> asked = asked_runs(args_);
    how_.add_to = added_facts(args_);
    how_.reductions = asked_numbers(args_, how_.add_to);
    run_finder found{asked, run_finder::settings{.storage = args_.how.storage}};
    learned_facts facts;
    try {
        facts = learn(found);
    } catch (const stopped_error&) {
        to_.clear_progress();
        to_.error("interrupted: nothing is written");
        return exit_interrupted;
    } catch (const value_error& wrong) {
        throw usage_error(wrong.message());
    }
    to_.clear_progress();
    if (const std::string beside = left_out_text(found.left_out()); !beside.empty()) {
        to_.note("files beside the runs are not looked at: " + beside);
    }
    return finish(facts);
}

// "2 of 20 runs would raise an alarm if learned from the others: runs/a runs/b".
std::string suspects_text(const learned_facts& facts) {
    const std::size_t runs = facts.runs().size();
    if (runs == 1) {
        return "one run: no envelopes";
    }
    const auto& suspects = facts.suspects();
    std::string text = (suspects.empty() ? "none" : std::to_string(suspects.size())) + " of " + std::to_string(runs) +
                       " runs would raise an alarm if learned from the others";
    for (std::size_t i = 0; i < suspects.size(); ++i) {
        text += (i == 0 ? ": " : " ") + printable(suspects[i]);
    }
    return text;
}

int learning::finish(const learned_facts& facts) {
    if (facts.runs().empty()) {
        to_.error("no run is left to learn from: nothing is written");
    } else {
        facts.save(*args_.output);
    }
    if (args_.how.format == output_format::json) {
        to_.print(result_json(facts, says_.left_out()));
    } else if (!facts.runs().empty()) {
        to_.print("learned from " + counted(facts.runs().size(), "run") + ": " +
                  counted(smdebug::detail::learn::facts_access::data(facts).tensors.size(), "tensor") + ", into " +
                  printable(*args_.output) + "\n" + suspects_text(facts) + "\n");
        if (!facts.suspects().empty()) {
            to_.print("look at these runs, and leave them out if they are not healthy\n");
        }
    }
    return to_.status();
}

}  // namespace

int learn_on_ranks(const learn_arguments& args, console& to, const std::stop_token& stop, rank_channel& channel) {
    check_size(channel, each_learns);
    learning work{args, to, stop, channel.rank() == 0};
    if (channel.rank() > 0) {
        learn_as_other_rank(channel, work.access(), work.how(), work.says());
        return exit_ok;
    }
    run_giver giver{channel};  // ends the other ranks, whatever happens here
    return work.run([&](run_finder& found) {
        return learn_as_rank_0(giver, channel, found, work.access(), work.how(), work.says());
    });
}

int learn_runs(const learn_arguments& args, console& to, const std::stop_token& stop, const rank_starter& ranks) {
    if (args.show) {
        return show(args, to);
    }
    if (const std::size_t processes = launched_processes(); processes > 1) {
        return on_ranks(ranks, processes, each_learns, to,
                        [&](rank_channel& channel) { return learn_on_ranks(args, to, stop, channel); });
    }
    learning work{args, to, stop};
    return work.run([&](run_finder& found) {
        return smdebug::detail::learn::learn_found(
            found, work.access().open, work.how(), [&](const left_out_run& one) { work.says().leave_out(one); },
            work.access().is_asked);
    });
}

void declare_learn(command_line& line) {
    const auto args = std::make_shared<learn_arguments>();
    CLI::App& app = line.add(
        "learn", "what runs that went well have in common, for the rule learned", args,
        [](const learn_arguments& given) {
            if (given.show) {
                if (given.runs.size() > 1 || given.list || given.output || !given.add.empty()) {
                    throw usage_error("--show prints a file, or one TENSOR of it, and takes nothing else");
                }
                return;
            }
            if (!given.output) {
                throw usage_error("--output is required: the file to write", "Try `smdebug learn --help`.");
            }
            if (given.runs.empty() && !given.list && given.add.empty()) {
                throw usage_error("learn needs at least one run, --list with a file that names some, or --add",
                                  "Try `smdebug learn --help`.");
            }
        },
        [](const learn_arguments& given, const run_context& with) {
            return learn_runs(given, with.to, with.stop(), with.ranks);
        });
    add_arguments(
        app, "RUN", args->runs,
        "healthy runs, archives, folders with runs in them, patterns such as 'jobs/**/run-?'; s3://, too; with "
        "--show: a tensor",
        false);
    add_text(app, "-o,--output", args->output, "FILE",
             "the file to write, which is replaced when the new one is whole");
    add_texts(app, "--add", args->add, "FILE",
              "add to what this file has learned; may be given again: files are merged");
    add_text(app, "--list", args->list, "FILE",
             "more runs: a file with a path, pattern or folder a line; -: standard input");
    offer(add_text(app, "--reductions", args->reductions, "LIST",
                   "the numbers that are kept, with commas between them: abs_max, abs_mean, l1, l2, max, mean, min, "
                   "std, zeros; default: abs_max,l2,zeros, or those of --add"),
          {{"abs_max", "abs_mean", "l1", "l2", "max", "mean", "min", "std", "zeros"}, true});
    add_text(app, "--show", args->show, "FILE", "print what was learned, or one TENSOR of it, as a table");
    add_shard(app, args->shard, "only the I-th of N parts of the runs; the parts' files are merged by --add");
    add_threads(app, args->threads,
                "runs that are read at once; default: one for each CPU.  The file does not depend on it");
    add_steps(app, args->how.range);
    add_how(app, args->how);
    add_runs_from_folders(app, args->how.storage.formats);
    add_notes(
        app,
        "A run of which anything cannot be read is left out whole, and named.  A run that would raise an alarm if it\n"
        "were learned from the others is named, too: look at it, and leave it out if it is not healthy.\n"
        "Example: smdebug learn runs/2024-* -o normal.json\n"
        "         smdebug check runs/new --rule learned,file=normal.json\n");
}

namespace {

namespace learn = smdebug::detail::learn;

std::string shape_words(const learn::entry_facts& entry) {
    if (!entry.shape || !entry.shape->extents) {
        return entry.shape ? "-" : "any";
    }
    std::string text;
    for (const auto& extent : *entry.shape->extents) {
        text.append(text.empty() ? "" : "x").append(extent ? std::to_string(*extent) : "?");
    }
    return text.empty() ? "()" : text;
}

std::string dtype_words(const learn::entry_facts& entry) {
    if (!entry.dtypes) {
        return "any";
    }
    return entry.dtypes->empty() ? "-" : joined(*entry.dtypes, " ");
}

// The facts that hold, each with how often it was seen.
std::string fact_words(const learn::entry_facts& entry) {
    std::string text;
    const auto add = [&](const char* name, const std::optional<std::uint64_t>& count) {
        if (count.value_or(0) > 0) {
            text.append(text.empty() ? "" : " ").append(name).append(":").append(std::to_string(*count));
        }
    };
    add("finite", entry.finite);
    add("nonnegative", entry.nonnegative);
    add("nonpositive", entry.nonpositive);
    add("constant", entry.constant);
    add("changing", entry.changing);
    add("replicas", entry.replicas);
    return text.empty() ? "-" : text;
}

std::string margin_words(const std::optional<double>& margin) { return margin ? short_text(*margin) : "none"; }

std::string all_tensors(const learned_facts& facts) {
    const std::vector<column> columns{{"tensor"}, {"mode"},  {"runs", true}, {"every", true},
                                      {"dtype"},  {"shape"}, {"facts"},      {"numbers"}};
    std::vector<std::string> cells;
    for (const auto& [name, tensor] : learn::facts_access::data(facts).tensors) {
        for (const mode in : learn::modes_by_name) {
            const learn::entry_facts* const entry = tensor.find(in);
            if (entry == nullptr) {
                continue;
            }
            std::string numbers;
            for (const auto& [which, series] : entry->numbers) {
                numbers.append(numbers.empty() ? "" : " ").append(learn::name_of(which));
            }
            for (const std::string& cell :
                 {printable(name), std::string{name_of(in)}, std::to_string(entry->runs),
                  std::to_string(entry->every.steps), dtype_words(*entry), shape_words(*entry), fact_words(*entry),
                  numbers.empty() ? std::string{"-"} : numbers}) {
                cells.push_back(cell);
            }
        }
    }
    return table_text(columns, cells);
}

std::string windows_of(const learn::number_series& series, learn::number which) {
    const std::vector<column> columns{{"from", true},     {"to", true},    {"runs", true}, {"least", true},
                                      {"greatest", true}, {"lower", true}, {"upper", true}};
    std::vector<std::string> cells;
    for (std::size_t i = 0; i < series.windows.size(); ++i) {
        const learn::window_facts window = series.windows[i];
        const step_number first = learn::first_step_of(window.window);
        const auto envelope = series.envelope_at(which, first, 1);
        const auto bound = [&](const std::optional<double>& margin, double learn::healthy_envelope::*side) {
            return envelope && margin ? short_text((*envelope).*side) : std::string{"-"};
        };
        for (const std::string& cell :
             {std::to_string(first), std::to_string(learn::last_step_of(window.window)), std::to_string(window.runs),
              short_text(window.low[0].number), short_text(window.high[0].number),
              bound(series.down, &learn::healthy_envelope::lower), bound(series.up, &learn::healthy_envelope::upper)}) {
            cells.push_back(cell);
        }
    }
    return table_text(columns, cells);
}

std::string one_tensor(const learned_facts& facts, const std::string& name) {
    std::string text;
    const learn::tensor_facts& tensor = learn::facts_access::data(facts).tensors.find(name)->second;
    for (const mode in : learn::modes_by_name) {
        const learn::entry_facts* const entry = tensor.find(in);
        if (entry == nullptr) {
            continue;
        }
        text += (text.empty() ? "" : "\n") + printable(name) + " in " + std::string{name_of(in)} + ": in " +
                counted(entry->runs, "run") + ", every " + std::to_string(entry->every.saves) + " saves and " +
                std::to_string(entry->every.steps) + " steps; dtype " + dtype_words(*entry) + ", shape " +
                shape_words(*entry) + "; " + fact_words(*entry) + "\n";
        for (const auto& [which, series] : entry->numbers) {
            text.append("\n").append(learn::name_of(which)).append(": margins down ");
            text.append(margin_words(series.down)).append(", up ").append(margin_words(series.up));
            if (series.widen) {
                text.append(", widened by ").append(short_text(*series.widen));
            }
            text.append("\n").append(windows_of(series, which));
        }
    }
    for (const learn::tied_class& each : learn::facts_access::data(facts).tied) {
        for (const std::string& one : each.tensors) {
            if (one == name) {
                text += "\nequal in each of " + counted(each.saves, "save") + ": " +
                        printable(joined(each.tensors, " ")) + "\n";
            }
        }
    }
    return text;
}

}  // namespace

std::string learned_table(const learned_facts& facts, const std::optional<std::string>& tensor) {
    if (tensor) {
        return one_tensor(facts, *tensor);
    }
    std::string text = all_tensors(facts);
    for (const learn::tied_class& each : learn::facts_access::data(facts).tied) {
        text += "equal in each of " + counted(each.saves, "save") + ": " + printable(joined(each.tensors, " ")) + "\n";
    }
    return text + counted(facts.runs().size(), "run") + "; " + suspects_text(facts) + "\n";
}

}  // namespace smdebug::inline v1::cli::detail
