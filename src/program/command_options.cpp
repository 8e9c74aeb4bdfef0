#include <program/command_options.hpp>

#include <program/batch_progress.hpp>
#include <program/check.hpp>
#include <program/console.hpp>
#include <program/evaluate_run.hpp>
#include <program/finding_actions.hpp>
#include <program/following.hpp>
#include <program/numbers.hpp>
#include <program/stats.hpp>
#include <program/text.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/core/printable_text.hpp>
#include <smdebug/core/version.hpp>
#include <smdebug/index/regex.hpp>
#include <smdebug/reduce/dispatched_kernel.hpp>
#include <smdebug/registry/rule_registry.hpp>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstddef>
#include <map>
#include <string_view>
#include <thread>

namespace smdebug::inline v1::cli::detail {

std::string release_text() {
    return std::to_string(SMDEBUG_VERSION_MAJOR) + "." + std::to_string(SMDEBUG_VERSION_MINOR) + "." +
           std::to_string(SMDEBUG_VERSION_PATCH);
}

std::string version_text() {
    return release_text() + ", reduces with " + std::string{dispatched_kernel{}.instruction_set()};
}

namespace {

// CLI11 has no place for them except the name of a check, which it never prints.
constexpr std::string_view offer_mark = "offered:";
constexpr std::string_view offer_some_mark = "offered with commas:";

}  // namespace

CLI::Option* offer(CLI::Option* option, const offered& words) {
    const std::string_view mark = words.with_commas ? offer_some_mark : offer_mark;
    return option->check(
        CLI::Validator{[](std::string&) { return std::string{}; }, "", std::string{mark} + joined(words.values, ",")});
}

CLI::Option* accept(CLI::Option* option, const std::vector<std::string>& words, bool in_any_case) {
    const auto check = [&](auto&&... how) {
        CLI::Validator member = CLI::IsMember(words, how...);
        option->check(member.description("").name(std::string{offer_mark} + joined(words, ",")));
    };
    in_any_case ? check(CLI::ignore_case) : check();
    return option;
}

offered offered_for(CLI::Option& option) {
    std::string name;
    try {
        name = option.get_validator("")->get_name();
    } catch (const CLI::OptionNotFound&) {  // it has none
        return {};
    }
    for (const std::string_view mark : {offer_mark, offer_some_mark}) {
        if (name.starts_with(mark)) {
            return {CLI::detail::split(name.substr(mark.size()), ','), mark == offer_some_mark};
        }
    }
    return {};
}

CLI::Option* add_read(CLI::App& app, const std::string& flags, std::function<void(const std::string&)> read,
                      const std::string& type, const std::string& help) {
    return app.add_option_function<std::string>(flags, std::move(read), help)->type_name(type);
}

CLI::Option* add_texts(CLI::App& app, const std::string& flags, std::vector<std::string>& to, const std::string& type,
                       const std::string& help) {
    return app.add_option(flags, to, help)->type_name(type)->allow_extra_args(false);
}

CLI::Option* add_flag(CLI::App& app, const std::string& flags, bool& to, const std::string& help) {
    return app.add_flag(flags, to, help);
}

CLI::Option* add_argument(CLI::App& app, const std::string& name, std::string& to, const std::string& help) {
    return app.add_option(name, to, help)->required()->type_name("");
}

CLI::Option* add_arguments(CLI::App& app, const std::string& name, std::vector<std::string>& to,
                           const std::string& help, bool required) {
    return app.add_option(name, to, help)->required(required)->type_name("");
}

void add_choice(CLI::App& app, const std::string& flag, const std::string& type, const std::vector<std::string>& words,
                const std::string& help, std::function<void(const std::string&)> take) {
    accept(add_read(app, flag, std::move(take), type, help)->required(), words);
}

void add_output(CLI::App& app, std::string& to, const std::string& type, const std::string& help) {
    app.add_option("-o,--output", to, help)->required()->type_name(type);
}

void add_notes(CLI::App& app, const std::string& lines) { app.footer(lines + "\n" + std::string{conventions}); }

void add_mode(CLI::App& app, smdebug::mode& to, const std::string& help) {
    offer(add_parsed(app, "--mode", to, "M", help,
                     [](const std::string& text) {
                         std::string upper = text;
                         std::transform(upper.begin(), upper.end(), upper.begin(), [](char c) {
                             return c >= 'a' && c <= 'z' ? static_cast<char>(c - ('a' - 'A')) : c;
                         });
                         const auto parsed = mode_named(upper);
                         if (!parsed) {
                             throw usage_error("--mode must be GLOBAL, TRAIN, EVAL or PREDICT, not \"" + text + "\"");
                         }
                         return *parsed;
                     }),
          {{"GLOBAL", "TRAIN", "EVAL", "PREDICT"}});
}

void add_reductions(CLI::App& app, std::optional<std::vector<statistic>>& to, const std::string& help) {
    std::vector<std::string> names{"all"};
    for (const statistic& each : all_statistics()) {
        names.push_back(each.name);
    }
    offer(add_parsed(app, "--reductions", to, "LIST", help,
                     [](const std::string& text) { return text == "all" ? all_statistics() : parse_statistics(text); }),
          {names, true});
}

namespace {

unsigned parse_threads(const std::string& text) {
    const auto threads = whole_number<unsigned>("--threads", text, 1);
    if (threads > 1024) {
        throw usage_error("--threads must be 1024 or less");
    }
    return threads;
}

}  // namespace

void add_threads(CLI::App& app, unsigned& to, const std::string& help) {
    add_parsed(app, "--threads", to, "N", help, parse_threads);
}

unsigned threads_or_all(unsigned threads) {
    return threads > 0 ? threads : std::max(1U, std::thread::hardware_concurrency());
}

void add_shard(CLI::App& app, std::optional<run_shard>& to, const std::string& help) {
    add_parsed(app, "--shard", to, "I/N", help, [](const std::string& text) {
        try {
            return parse_shard(text);
        } catch (const value_error& wrong) {
            throw usage_error("--shard: " + std::string{wrong.message()});
        }
    });
}

namespace {

// The long names of an app's options.
std::vector<std::string> option_names(const CLI::App& app) {
    std::vector<std::string> names;
    for (const CLI::Option* each : app.get_options()) {
        names.insert(names.end(), each->get_lnames().begin(), each->get_lnames().end());
    }
    return names;
}

// A hint for an unknown option: options of a similar name (for one letter: that begin with it), or commands that have
// it.
std::string instead_of(const std::string& option, const CLI::App& app, const std::vector<CLI::App*>& others) {
    std::vector<std::string> names = option_names(app);
    if ((option == "json" || option == "csv") && std::find(names.begin(), names.end(), "format") != names.end()) {
        return ". Write --format " + option;
    }
    if (option.size() == 1) {
        std::erase_if(names, [&](const std::string& name) { return !name.starts_with(option); });
    }
    std::string hint;
    for (const std::string& near : near_matches(option, names, 3)) {
        hint.append(hint.empty() ? ". Did you mean --" : " or --").append(near);
    }
    if (!hint.empty()) {
        return hint + "?";
    }
    std::vector<std::string> owners;
    for (const CLI::App* each : others) {
        if (const auto theirs = option_names(*each); std::find(theirs.begin(), theirs.end(), option) != theirs.end()) {
            owners.push_back(each->get_name());
        }
    }
    return owners.empty() ? hint : "; " + joined(owners, ", ") + (owners.size() == 1 ? " has it" : " have it");
}

}  // namespace

std::string text_of_error(const CLI::Error& wrong, const CLI::App& app, const std::vector<CLI::App*>& others) {
    for (const std::string& extra : app.remaining()) {
        const std::size_t dashes = extra.find_first_not_of('-');
        if (dashes == 0 || dashes == std::string::npos) {
            continue;
        }
        const std::string wanted = extra.substr(0, extra.find('='));
        return app.get_name() + " has no option " + wanted + instead_of(wanted.substr(dashes), app, others);
    }
    return wrong.what();
}

void add_table_format(CLI::App& app, output_format& format, std::optional<std::size_t>& width, bool* is_given) {
    accept(add_read(
               app, "--format",
               [&format, is_given](const std::string& text) {
                   if (is_given != nullptr) {
                       *is_given = true;
                   }
                   const char first = text.front();  // accept() lets nothing else through, in whatever case
                   format = first == 'c' || first == 'C'
                                ? output_format::csv
                                : (first == 'j' || first == 'J' ? output_format::json : output_format::table);
               },
               "FORMAT", "table (default), csv, or json: one object a line"),
           {"table", "csv", "json"}, true);
    add_parsed(app, "--width", width, "N",
               "tables: how many characters a line may have; 0: any number; default: as the terminal, or COLUMNS, has; "
               "in a file or pipe, and with --follow, any",
               [](const std::string& text) { return whole_number<std::size_t>("--width", text, 0); });
}

void add_formats(CLI::App& app, format_options& formats) {
    static const std::map<std::string, data_format> names{{"detect", data_format::detect},
                                                          {"smdebug", data_format::smdebug},
                                                          {"events", data_format::event_files},
                                                          {"tensorboard", data_format::tensorboard},
                                                          {"checkpoints", data_format::checkpoints}};
    accept(
        app.add_option_function<std::string>(
               "--as", [&formats](const std::string& name) { formats.as = names.at(name); },
               "what lies there: detect (default), smdebug, events (a run without its index), tensorboard, checkpoints")
            ->type_name("FORMAT"),
        {"detect", "smdebug", "events", "tensorboard", "checkpoints"});
    app.add_option("--step-regex", formats.step_regex,
                   "checkpoints: the step in a path, as the only group; default: the last number of checkpoint-500, "
                   "step_500, epoch=3-step=500")
        ->type_name("REGEX");
}

void add_storage(CLI::App& app, storage_options& storage) {
    app.add_option_function<std::string>(
           "--endpoint-url", [&storage](const std::string& url) { storage.s3.endpoint = url; },
           "for s3://: the server; default: AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL, the profile, Amazon's")
        ->type_name("URL");
    app.add_flag("--no-sign-request", storage.s3.anonymous, "for s3://: ask without keys, as for public buckets");
    app.add_option("--cache", storage.cache_folder,
                   "keep in this folder, for the next time, what was read of s3://, and indexes of archives; default: "
                   "SMDEBUG_CACHE_DIR")
        ->type_name("DIR");
}

void add_runs_from_folders(CLI::App& app, format_options& formats) {
    app.add_flag_callback(
        "--runs-from-folders", [&formats] { formats.folders_are_workers = false; },
        "TensorBoard logs: each folder is a run of its own, and not a worker; train and validation are parts of one");
}

void add_trust(CLI::App& app, run_options& how) {
    app.add_flag("--skip-damaged", how.skip_damaged,
                 "go on without index files that are damaged, and name them; else they are an error");
    app.add_flag_callback(
        "--untrusted",
        [&how] {
            how.untrusted = true;
            how.storage.archive = archive_options::untrusted();
            how.storage.formats.unpacking = archive_options::untrusted();
            how.storage.formats.most_record_bytes = size_limits::untrusted().record;
        },
        "the run may come from anybody: tight limits on what is read of it; see docs/limits.md");
}

void add_how(CLI::App& app, run_options& how) {
    add_table_format(app, how.format, how.width, &how.format_is_given);
    add_trust(app, how);
    add_formats(app, how.storage.formats);
    add_storage(app, how.storage);
}

void add_runs(CLI::App& app, std::vector<std::string>& runs) {
    app.add_option("RUN", runs, "training runs: folders, or s3://bucket/prefix")->required()->type_name("");
}

void add_names(CLI::App& app, std::optional<std::string>& regex, std::optional<std::string>& collection) {
    add_parsed(app, "--tensors", regex, "REGEX", "only tensors in whose name this is found",
               [](const std::string& pattern) {
                   try {
                       static_cast<void>(smdebug::regex{pattern});
                   } catch (const value_error& bad) {
                       throw usage_error("--tensors: " + std::string{bad.message()});
                   }
                   return pattern;
               });
    add_text(app, "--collection", collection, "C", "only tensors of this collection");
}

namespace {

constexpr const char* steps_help =
    "only global steps, of a log its own, from A up to, not including, B; either may be left out";

}  // namespace

void add_steps(CLI::App& app, step_range& to) { add_parsed(app, "--steps", to, "A:B", steps_help, parse_range); }

void add_steps(CLI::App& app, step_options& to) {
    add_parsed(app, "--steps", to.steps, "A:B", steps_help, parse_range);
}

void add_follow(CLI::App& app, follow_options& follow, const std::string& help) {
    add_flag(app, "--follow", follow.on, help);
    add_parsed(app, "--give-up-after", follow.give_up_after, "T",
               "with --follow: give a run up when nothing new has come for so long: 500ms, 90s, 10m, 2h, 3d, or "
               "seconds; default: never",
               [](const std::string& text) { return parse_duration("--give-up-after", text); });
}

void check_follow(const follow_options& follow, std::size_t runs) {
    if (follow.give_up_after && !follow.on) {
        throw usage_error("--give-up-after is for --follow: without it nothing is waited for");
    }
    if (follow.on && runs > most_followed_runs) {
        throw usage_error("--follow can follow " + std::to_string(most_followed_runs) + " runs at once, not " +
                          std::to_string(runs));
    }
}

void add_rule_options(CLI::App& app, rule_options& to, const std::vector<std::string>& known) {
    offer(app.add_option("--rule", to.rules, "a rule and its parameters: NAME,key=value,key=value; may be given again")
              ->type_name("RULE")
              ->allow_extra_args(false),
          {known});
    add_text(app, "--rules-json", to.json, "FILE",
             "rules from a file: the DebugRuleConfigurations of a CreateTrainingJob request, or "
             R"([{"rule": NAME, "parameters": {"key": "value", "list": ["a", "b"]}}, ...])");
}

void add_other_trials(CLI::App& app, rule_options& to) {
    app.add_option("--other-trials", to.other_trials, "runs to compare with, for rules that compare runs")
        ->type_name("RUN2")
        ->allow_extra_args(false);
}

std::vector<rule_request> requested_rules(const rule_options& asked, const program_rules& registry, bool by_scan) {
    std::vector<rule_request> rules;
    for (const std::string& text : asked.rules) {
        rules.push_back(parse_rule(text));
    }
    if (asked.json) {
        for (rule_request& more : read_rules_json(*asked.json)) {
            rules.push_back(std::move(more));
        }
    }
    for (rule_request& each : rules) {
        if (takes_other_trials(registry, each)) {
            each.other_trials.insert(each.other_trials.end(), asked.other_trials.begin(), asked.other_trials.end());
        }
        rule_request evaluated = each;
        if (by_scan) {
            smdebug::detail::supply_parameters(evaluated);
            smdebug::detail::supply_collections(evaluated);
        }
        check_request(registry, evaluated);
        each.label = name_in_reports(registry, each);
    }
    return rules;
}

void add_evaluation(CLI::App& app, check_arguments& to, rule_options& rules, step_options& steps) {
    add_other_trials(app, rules);
    const auto step_of = [](const std::string& flag) {
        return [flag](const std::string& text) { return whole_number<step_number>(flag, text, 0); };
    };
    add_parsed(app, "--start,--start-step", steps.start, "S", "the first global step, of a log its own; default: 0",
               step_of("--start"));
    add_parsed(app, "--end,--end-step", steps.end, "E",
               "the global step, of a log its own, to stop before; default: the end of the run", step_of("--end"));
    add_parsed(app, "--on-finding", to.actions.command, "COMMAND",
               "run a program for each finding, without a shell; {run} {rule} {step} {tensor} {worker} {value} "
               "{message} in its arguments are filled in",
               words_of_command);
    add_text(app, "--post", to.actions.post_url, "URL", "send each finding to this address, as JSON");
    add_text(app, "--status-file", to.actions.status_file, "FILE",
             "keep a file with the status of each rule, as SageMaker words it");
    add_flag(app, "--stop-at-first", to.stop_at_first, "a rule ends at the first step that meets its condition");
    add_flag(app, "--first-offender", to.first_offender, "of each such step the first finding only");
}

void take_steps(check_arguments& args, const step_options& asked) {
    if (asked.steps && (asked.start || asked.end)) {
        throw usage_error("--steps A:B is --start A --end B: give one or the other");
    }
    args.start = asked.steps ? asked.steps->begin.value_or(0) : asked.start.value_or(0);
    args.end = asked.steps ? asked.steps->end : asked.end;
    if (asked.end && *args.end <= args.start) {
        throw usage_error("--end must be above --start, as it is not included");
    }
}

void add_batch(CLI::App& app, scan_arguments& to) {
    const auto is_free = [&](const std::string& flag) { return app.get_option_no_throw(flag) == nullptr; };
    const auto add_free = [&](const std::string& flag, auto& target, const std::string& type, const std::string& help,
                              auto parse) {
        if (is_free(flag)) {
            add_parsed(app, flag, target, type, help, parse);
        }
    };
    if (is_free("--output") && is_free("-o")) {
        add_text(app, "-o,--output", to.output, "FILE.db",
                 "results go into this database of SQLite, and to standard output only where --format is given; "
                 "what is there already, and has not changed, is not done again");
    }
    if (is_free("--shard")) {
        add_shard(app, to.shard,
                  "only the I-th of N parts of the runs; array: that of this job in an array of Slurm or AWS Batch");
    }
    add_free("--threads", to.threads, "N", "that work at once; default: one for each CPU.  Results do not depend on it",
             parse_threads);
    add_free("--run-timeout", to.run_timeout, "T",
             "give a run up that takes longer: 90s, 10m, 2h; what was found until then is kept; default: none",
             [](const std::string& text) { return parse_duration("--run-timeout", text); });
    add_free("--memory", to.memory, "SIZE", "give a run up that needs more memory: 500M, 2G; default: none",
             [](const std::string& text) { return parse_size("--memory", text); });
    if (is_free("--progress")) {
        accept(add_parsed(app, "--progress", to.progress, "HOW",
                          "auto (default): on a terminal a line that changes, else one a minute; json: an object a "
                          "line, one a second; none.  On standard error",
                          [](const std::string& text) {
                              return text == "json"   ? progress_format::json
                                     : text == "none" ? progress_format::none
                                                      : progress_format::people;
                          }),
               {"auto", "json", "none"});
    }
}

}  // namespace smdebug::inline v1::cli::detail
