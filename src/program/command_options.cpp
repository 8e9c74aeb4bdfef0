#include <program/command_options.hpp>

#include <program/batch_progress.hpp>
#include <program/check.hpp>
#include <program/evaluate_run.hpp>
#include <program/stats.hpp>
#include <program/text.hpp>
#include <smdebug/core/near_names.hpp>
#include <smdebug/core/version.hpp>
#include <smdebug/reduce/dispatched_kernel.hpp>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstddef>
#include <map>
#include <string_view>

namespace smdebug {
inline namespace v1 {
namespace cli {
namespace detail {

std::string release_text() {
    return std::to_string(SMDEBUG_VERSION_MAJOR) + "." + std::to_string(SMDEBUG_VERSION_MINOR) + "." +
           std::to_string(SMDEBUG_VERSION_PATCH);
}

std::string version_text() {
    return release_text() + ", reduces with " + std::string{dispatched_kernel{}.instruction_set()};
}

namespace {

// CLI11 has no place for them but the name of a check, which it prints nowhere.
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

CLI::Option* add_text(CLI::App& app, const std::string& flag, std::optional<std::string>& to, const std::string& type,
                      const std::string& help) {
    return app
        .add_option_function<std::string>(
            flag, [&to](const std::string& text) { to = text; }, help)
        ->type_name(type);
}

void add_mode(CLI::App& app, option_texts& texts, const std::string& help) {
    offer(add_text(app, "--mode", texts.mode, "M", help), {{"GLOBAL", "TRAIN", "EVAL", "PREDICT"}});
}

void add_reductions(CLI::App& app, option_texts& texts, const std::string& help) {
    std::vector<std::string> names{"all"};
    for (const statistic& each : all_statistics()) {
        names.push_back(each.name);
    }
    offer(add_text(app, "--reductions", texts.reductions, "LIST", help), {names, true});
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

void add_format(CLI::App& app, output_format& format, option_texts& texts) {
    accept(app.add_option_function<std::string>(
                  "--format",
                  [&format, &texts](const std::string& text) {
                      texts.format_is_set = true;
                      const char first = text.front();  // the check below lets nothing else through, in whatever case
                      format = first == 'c' || first == 'C'
                                   ? output_format::csv
                                   : (first == 'j' || first == 'J' ? output_format::json : output_format::table);
                  },
                  "table (default), csv, or json: one object a line")
               ->type_name("FORMAT"),
           {"table", "csv", "json"}, true);
    add_text(app, "--width", texts.width, "N",
             "tables: how many characters a line may have; 0: any number; default: as the terminal, or COLUMNS, has; "
             "in a file or pipe, and with --follow, any");
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
            how.storage.formats.npz = archive_options::untrusted();
            how.storage.formats.most_record_bytes = size_limits::untrusted().record;
        },
        "the run may come from anybody: tight limits on what is read of it; see docs/limits.md");
}

void add_how(CLI::App& app, run_options& how, option_texts& texts) {
    add_format(app, how.format, texts);
    add_trust(app, how);
    add_formats(app, how.storage.formats);
    add_storage(app, how.storage);
}

void add_runs(CLI::App& app, std::vector<std::string>& runs) {
    app.add_option("RUN", runs, "training runs: folders, or s3://bucket/prefix")->required()->type_name("");
}

void add_names(CLI::App& app, std::optional<std::string>& regex, std::optional<std::string>& collection) {
    add_text(app, "--tensors", regex, "REGEX", "only tensors in whose name this is found");
    add_text(app, "--collection", collection, "C", "only tensors of this collection");
}

void add_steps(CLI::App& app, option_texts& texts) {
    add_text(app, "--steps", texts.steps, "A:B",
             "only global steps, of a log its own, from A up to, not including, B; either may be left out");
}

void add_follow(CLI::App& app, follow_options& follow, option_texts& texts, const std::string& help) {
    app.add_flag("--follow", follow.on, help);
    add_text(app, "--give-up-after", texts.give_up_after, "T",
             "with --follow: give a run up when nothing new has come for so long: 500ms, 90s, 10m, 2h, 3d, or "
             "seconds; default: never");
}

void add_rule_options(CLI::App& app, option_texts& texts, const std::vector<std::string>& known) {
    offer(
        app.add_option("--rule", texts.rules, "a rule and its parameters: NAME,key=value,key=value; may be given again")
            ->type_name("RULE")
            ->allow_extra_args(false),
        {known});
    add_text(app, "--rules-json", texts.rules_json, "FILE",
             "rules from a file: the DebugRuleConfigurations of a CreateTrainingJob request, or "
             R"([{"rule": NAME, "parameters": {"key": "value", "list": ["a", "b"]}}, ...])");
}

void add_evaluation(CLI::App& app, check_arguments& to, option_texts& texts) {
    app.add_option("--other-trials", texts.other_trials, "runs to compare with, for rules that compare runs")
        ->type_name("RUN2")
        ->allow_extra_args(false);
    add_text(app, "--start,--start-step", texts.start, "S", "the first global step, of a log its own; default: 0");
    add_text(app, "--end,--end-step", texts.end, "E",
             "the global step, of a log its own, to stop before; default: the end of the run");
    add_text(app, "--on-finding", texts.on_finding, "COMMAND",
             "run a program for each finding, without a shell; {run} {rule} {step} {tensor} {worker} {value} "
             "{message} in its arguments are filled in");
    app.add_option("--post", to.actions.post_url, "send each finding to this address, as JSON")->type_name("URL");
    app.add_option("--status-file", to.actions.status_file,
                   "keep a file with the status of each rule, as SageMaker words it")
        ->type_name("FILE");
    app.add_flag("--stop-at-first", to.stop_at_first, "a rule ends at the first step that meets its condition");
    app.add_flag("--first-offender", to.first_offender, "of each such step the first finding only");
}

void add_new_text(CLI::App& app, const std::string& flag, std::optional<std::string>& to, const std::string& type,
                  const std::string& help) {
    if (app.get_option_no_throw(flag) == nullptr) {
        add_text(app, flag, to, type, help);
    }
}

void add_batch(CLI::App& app, scan_arguments& to, option_texts& texts) {
    if (app.get_option_no_throw("--output") == nullptr && app.get_option_no_throw("-o") == nullptr) {
        app.add_option("-o,--output", to.output,
                       "results go into this database of SQLite, and to standard output only where --format is given; "
                       "what is there already, and has not changed, is not done again")
            ->type_name("FILE.db");
    }
    add_new_text(app, "--shard", texts.shard, "I/N",
                 "only the I-th of N parts of the runs; array: that of this job in an array of Slurm or AWS Batch");
    add_new_text(app, "--threads", texts.threads, "N",
                 "that work at once; default: one for each CPU.  Results do not depend on it");
    add_new_text(app, "--run-timeout", texts.run_timeout, "T",
                 "give a run up that takes longer: 90s, 10m, 2h; what was found until then is kept; default: none");
    add_new_text(app, "--memory", texts.memory, "SIZE",
                 "give a run up that needs more memory: 500M, 2G; default: none");
    if (app.get_option_no_throw("--progress") != nullptr) {
        return;
    }
    accept(app.add_option_function<std::string>(
                  "--progress",
                  [&to](const std::string& text) {
                      to.progress = text == "json"   ? progress_format::json
                                    : text == "none" ? progress_format::none
                                                     : progress_format::people;
                  },
                  "auto (default): on a terminal a line that changes, else one a minute; json: an object a line, one a "
                  "second; none.  On standard error")
               ->type_name("HOW"),
           {"auto", "json", "none"});
}

}  // namespace detail
}  // namespace cli
}  // namespace v1
}  // namespace smdebug
