#include <program/command_line.hpp>

#include "program/captured.hpp"

#include <program/batch_progress.hpp>
#include <program/diff.hpp>
#include <program/evaluate_run.hpp>
#include <program/export.hpp>
#include <program/following.hpp>
#include <program/index.hpp>
#include <program/ls.hpp>
#include <program/manual.hpp>
#include <program/pack.hpp>
#include <program/report.hpp>
#include <program/rows.hpp>
#include <program/rule_list.hpp>
#include <program/rule_set.hpp>
#include <program/scan_arguments.hpp>
#include <program/show.hpp>
#include <program/stats.hpp>
#include <program/text.hpp>
#include <smdebug/learn/learned_facts.hpp>

#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug_test;
using texts = std::vector<std::string>;

namespace {

template <class Arguments>
Arguments parsed(texts arguments) {
    cli::detail::command_line line{known()};
    return cli::detail::arguments_of<Arguments>(line.parse(std::move(arguments)));
}

std::string refusal(texts arguments) {
    return what_of<cli::detail::usage_error>(
        [&] {
            cli::detail::command_line line{known()};
            static_cast<void>(line.parse(std::move(arguments)));
        },
        "accepted");
}

struct refused {
    texts arguments;
    std::string says;
};

/// Each is refused with a message that contains what it says.
void check_refused(const std::vector<refused>& all) {
    for (const refused& each : all) {
        CAPTURE(cli::detail::joined(each.arguments, " "));
        const std::string message = refusal(each.arguments);
        CHECK(message != "accepted");
        CHECK(contains(message, each.says));
    }
}

/// Each is refused with a message that begins with what it says.
void check_refused_with_beginning(const std::vector<refused>& all) {
    for (const refused& each : all) {
        CAPTURE(cli::detail::joined(each.arguments, " "));
        CHECK(refusal(each.arguments).substr(0, each.says.size()) == each.says);
    }
}

}  // namespace

TEST_CASE("command_line: ls") {
    const auto given = parsed<cli::detail::ls_arguments>({"ls", "a", "b", "--format", "json", "--skip-damaged"});
    CHECK(given.runs == texts{"a", "b"});
    CHECK(given.how.format == cli::detail::output_format::json);
    CHECK(given.how.skip_damaged);
    CHECK_FALSE(given.how.untrusted);
    CHECK(parsed<cli::detail::ls_arguments>({"ls", "a", "--untrusted"}).how.untrusted);
    CHECK(parsed<cli::detail::show_arguments>({"show", "a", "b", "--untrusted"}).how.untrusted);
    CHECK(parsed<cli::detail::stats_arguments>({"stats", "a", "--untrusted"}).how.untrusted);
    CHECK(parsed<cli::detail::diff_arguments>({"diff", "a", "b", "--untrusted"}).how.untrusted);
    CHECK(parsed<cli::detail::check_arguments>({"check", "a", "--rule", "exploding_tensor", "--untrusted"})
              .how.untrusted);
    CHECK(parsed<cli::detail::scan_arguments>({"scan", "a", "--untrusted"}).check.how.untrusted);
    const auto exported =
        parsed<cli::detail::export_arguments>({"export", "a", "--to", "npz", "-o", "b", "--untrusted"});
    CHECK(exported.how.untrusted);
    CHECK(exported.how.storage.formats.unpacking == archive_options::untrusted());
    CHECK(parsed<cli::detail::report_arguments>({"report", "a", "-o", "b", "--untrusted"}).check.how.untrusted);
    CHECK(parsed<cli::detail::ls_arguments>({"ls", "a"}).how.format == cli::detail::output_format::table);
    const auto some =
        parsed<cli::detail::ls_arguments>({"ls", "a", "--tensors", "^w", "--collection", "c", "--steps", "3:9"});
    CHECK(some.tensors == "^w");
    CHECK(some.collection == "c");
    CHECK(some.how.range.begin == 3);
    CHECK(some.how.range.end == 9);
    check_refused({{{"ls", "a", "--tensors", "("}, "--tensors: "},
                   {{"ls", "a", "--verify", "--steps", "3"}, "--verify looks at all of a run"},
                   {{"ls", "a", "--follow", "--collection", "c"}, "--follow lists every step"}});
}

TEST_CASE("command_line: show") {
    const auto given = parsed<cli::detail::show_arguments>(
        {"show", "a", "w", "--step", "010", "--mode", "eval", "--worker", "worker_1", "--values", "0"});
    CHECK(given.run == "a");
    CHECK(given.tensor == "w");
    CHECK(given.step == 10);  // decimal, whatever zeros stand before it
    CHECK(given.mode == mode::eval);
    CHECK(given.worker == "worker_1");
    CHECK(given.values == 0);
    CHECK(parsed<cli::detail::show_arguments>({"show", "a", "--", "-w"}).tensor == "-w");
    check_refused({{{"show", "a"}, "TENSOR is required"}, {{"show", "a", "w", "--mode", "test"}, "--mode must be"}});
    for (const char* step : {"-1", "1.5", "", "x", "99999999999999999999"}) {
        CHECK(refusal({"show", "a", "w", std::string{"--step="} + step}) != "accepted");
    }
}

TEST_CASE("command_line: diff") {
    const auto given = parsed<cli::detail::diff_arguments>(
        {"diff",         "a",        "b",       "--rtol",  "1e-5",   "--atol=0",      "--tensors", "^w",
         "--collection", "c",        "--steps", "3:9",     "--mode", "train",         "--worker",  "worker_1",
         "--all",        "--format", "csv",     "--width", "80",     "--skip-damaged"});
    CHECK(given.first == "a");
    CHECK(given.second == "b");
    CHECK(given.rtol == 1e-5);
    CHECK(given.atol == 0.0);
    CHECK(given.tensors == "^w");
    CHECK(given.collection == "c");
    CHECK(given.how.range.begin == 3);
    CHECK(given.how.range.end == 9);
    CHECK(given.mode == mode::train);
    CHECK(given.worker == "worker_1");
    CHECK(given.all);
    CHECK(given.how.format == cli::detail::output_format::csv);
    CHECK(given.how.width == 80U);
    CHECK(given.how.skip_damaged);
    const auto plain = parsed<cli::detail::diff_arguments>({"diff", "a", "a"});
    CHECK_FALSE(plain.rtol);
    CHECK_FALSE(plain.atol);
    CHECK_FALSE(plain.all);
    CHECK(refusal({"diff", "a", "b", "c"}) != "accepted");
    check_refused({{{"diff", "a"}, "RUN_B is required"},
                   {{"diff", "a", "b", "--rtol", "x"}, "--rtol must be a number"},
                   {{"diff", "a", "b", "--atol=-1"}, "--atol must be a number"},
                   {{"diff", "a", "b", "--tensors", "("}, "--tensors: "},
                   {{"diff", "a", "b", "--mode", "x"}, "--mode must be"}});
}

TEST_CASE("command_line: stats") {
    const auto given =
        parsed<cli::detail::stats_arguments>({"stats", "--threads", "2", "--tensors", "[a-z],(b)", "--collection", "c",
                                              "--steps", "3:", "--reductions", "mean,nan", "--format=csv", "a", "b"});
    CHECK(given.runs == texts{"a", "b"});
    CHECK(given.threads == 2);
    CHECK(given.tensors == "[a-z],(b)");
    CHECK(given.collection == "c");
    CHECK(given.how.range.begin == 3);
    CHECK_FALSE(given.how.range.end.has_value());
    CHECK(given.statistics.size() == 2);
    const auto one_mode =
        parsed<cli::detail::stats_arguments>({"stats", "a", "--mode", "train", "--worker", "worker_1"});
    CHECK(one_mode.mode == mode::train);
    CHECK(one_mode.worker == "worker_1");
    CHECK(contains(refusal({"stats", "a", "--mode", "test"}), "--mode must be GLOBAL, TRAIN"));
    CHECK(parsed<cli::detail::stats_arguments>({"stats", "a"}).statistics.size() == 6);  // what a table has room for
    CHECK(parsed<cli::detail::stats_arguments>({"stats", "a", "--format", "csv"}).statistics.size() == 22);
    CHECK(parsed<cli::detail::stats_arguments>({"stats", "a", "--format", "json"}).statistics.size() == 22);
    CHECK(parsed<cli::detail::stats_arguments>({"stats", "a", "--reductions", "all"}).statistics.size() == 22);
    CHECK(parsed<cli::detail::stats_arguments>({"stats", "a", "--steps", ":5"}).how.range.end == 5);
    const auto one = parsed<cli::detail::stats_arguments>({"stats", "a", "--steps", "7"}).how.range;
    CHECK(one.begin == 7);
    CHECK(one.end == 8);
    for (const texts& wrong : {texts{"--threads", "0"}, texts{"--threads", "9999"}, texts{"--steps", "5:5"},
                               texts{"--steps", "a:b"}, texts{"--steps", "1:2:3"}, texts{"--reductions", "median"},
                               texts{"--tensors", "("}, texts{"--format", "xml"}, texts{"--more"}}) {
        texts all{"stats", "a"};
        all.insert(all.end(), wrong.begin(), wrong.end());
        CHECK_MESSAGE(refusal(all) != "accepted", wrong.front());
    }
}

TEST_CASE("command_line: check; options may stand between runs") {
    const temporary_folder folder;
    folder.write("rules.json", R"([{"rule": "exploding_tensor"}])");
    const auto given = parsed<cli::detail::check_arguments>(
        {"check", "a", "--rule", "vanishing_gradient,threshold=1e-3", "b", "--rule", "exploding_tensor", "--rules-json",
         folder.path() + "/rules.json", "--start", "2", "--end", "9"});
    CHECK(given.runs == texts{"a", "b"});
    CHECK(given.rules.size() == 3);
    CHECK(given.start == 2);
    CHECK(given.end == 9);
    const auto ranged = parsed<cli::detail::check_arguments>({"check", "a", "--rule", "dead_relu", "--steps", "2:9"});
    CHECK(ranged.start == 2);
    CHECK(ranged.end == 9);
    check_refused({{{"check", "a"}, "there are: vanishing_gradient, exploding_tensor"},
                   {{"check", "a", "--rule", "exploding_tensor", "--other-trials", "b"},
                    "none of the rules chosen compares runs"},
                   {{"check", "a", "--rule", "exploding_tensor", "--start", "5", "--end", "5"}, "--end must be"},
                   {{"check", "a", "--rule", "exploding_tensor,x=1"}, "has no parameter \"x\""},
                   {{"check", "--rule", "exploding_tensor"}, "RUN is required"},
                   {{"check", "a", "--rule", "dead_relu", "--steps", "2:9", "--start", "2"}, "one or the other"}});
    CHECK_FALSE(given.stop_at_first);
    CHECK_FALSE(given.first_offender);
    const auto brief = parsed<cli::detail::check_arguments>(
        {"check", "--stop-at-first", "a", "--rule", "dead_relu", "--first-offender"});
    CHECK(brief.stop_at_first);
    CHECK(brief.first_offender);
}

TEST_CASE("command_line: check; every rule by name, and the runs to compare with go to the rules that compare") {
    const temporary_folder folder;
    learned_facts{}.save(folder.path() + "/normal.json");
    for (const rule_info& info : known().infos()) {
        texts arguments{"check", "a", "--rule", info.service_name.empty() ? info.name : info.service_name};
        if (info.name == "learned") {
            CHECK(contains(refusal(arguments), "file is needed"));
            arguments.back() += ",file=" + folder.path() + "/normal.json";
        }
        if (info.name == "all_zero" || info.name == "unchanged_tensor" || info.name == "tensor_variance" ||
            info.name == "activation_outliers" || info.name == "attention_collapse" ||
            info.name == "expert_imbalance") {
            arguments.back() += ",collection_names=weights";
        }
        if (info.name == "tensor_variance") {
            arguments.back() += ",max_threshold=1";
        }
        if (info.name == "similar_across_runs") {
            CHECK(contains(refusal(arguments), "similar_across_runs"));
            arguments.insert(arguments.end(), {"--other-trials", "b", "--other-trials", "c"});
        }
        INFO(info.name);
        CHECK(refusal(arguments) == "accepted");
    }
    const auto given =
        parsed<cli::detail::check_arguments>({"check", "a", "--rule", "exploding_tensor", "--rule",
                                              "SimilarAcrossRuns,other_trial_0=x", "--other-trials", "b"});
    CHECK(given.rules[0].other_trials.empty());
    CHECK(given.rules[1].other_trials == texts{"x", "b"});
}

TEST_CASE("command_line: scan") {
    const temporary_folder folder;
    folder.write("runs.txt", "c\n\n  # not this\n d e \n");
    const auto given = parsed<cli::detail::scan_arguments>(
        {"scan", "a", "--list", folder.path() + "/runs.txt", "b", "--rule", "exploding_tensor,only_nan=True",
         "--other-trials", "x", "--start", "3", "--stop-at-first", "--format", "json"});
    CHECK(given.check.runs == texts{"a", "b"});
    CHECK(given.list == folder.path() + "/runs.txt");
    CHECK(given.rows);
    CHECK(given.check.rules.size() == 1);
    CHECK(given.check.start == 3);
    CHECK(given.check.stop_at_first);
    CHECK(given.other_trials == texts{"x"});
    CHECK(given.check.how.format == cli::detail::output_format::json);
    CHECK(parsed<cli::detail::scan_arguments>({"scan", "a"}).check.rules.empty());
    CHECK_FALSE(parsed<cli::detail::scan_arguments>({"scan", "a"}).all);
    CHECK(parsed<cli::detail::scan_arguments>({"scan", "a", "--all"}).all);
    CHECK(refusal({"scan"}) ==
          "scan needs at least one run, or --list with a file that names some\nTry `smdebug scan --help`.");
    CHECK(parsed<cli::detail::scan_arguments>({"scan", "--list", "-"}).list == "-");
    const auto batch = parsed<cli::detail::scan_arguments>({"scan", "a", "-o", "r.db", "--threads", "3", "--shard",
                                                            "2/4", "--run-timeout", "90s", "--memory", "2G",
                                                            "--progress", "json", "--split-above", "1G"});
    CHECK(batch.split_above == std::uint64_t{1} << 30U);
    CHECK(parsed<cli::detail::scan_arguments>({"scan", "a", "--split-above", "0"}).split_above == 0);
    CHECK(batch.output == "r.db");
    CHECK_FALSE(batch.rows);
    CHECK(batch.threads == 3);
    CHECK(batch.shard == run_shard{2, 4});
    CHECK(batch.run_timeout == std::chrono::seconds{90});
    CHECK(batch.memory == std::uint64_t{2} << 30U);
    CHECK(batch.progress == cli::detail::progress_format::json);
    CHECK(parsed<cli::detail::scan_arguments>({"scan", "a", "-o", "r.db", "--format", "csv"}).rows);
    CHECK(parsed<cli::detail::scan_arguments>({"scan", "a", "--reductions", "all"}).statistics->size() == 22);
    CHECK(refusal({"scan", "a", "--follow"}) != "accepted");
    CHECK(refusal({"scan", "a", "--rule", "all_zero,threshold=50", "--rule", "UnchangedTensor"}) == "accepted");
    check_refused({{{"scan", "a", "--reductions", "mean", "--rule", "dead_relu"}, "give one or the other"},
                   {{"scan", "a", "--tensors", "w"}, "are for --reductions"},
                   {{"scan", "a", "--shard", "5/4"}, "--shard: "},
                   {{"scan", "a", "--memory", "much"}, "--memory must be a size"},
                   {{"scan", "a", "--split-above", "much"}, "--split-above must be a size"},
                   {{"scan", "a", "--progress", "bar"}, "--progress"},
                   {{"scan", "a", "--rule", "nope"}, "there is no rule \"nope\""},
                   {{"scan", "a", "--rule", "all_zero,threshold=101"}, "threshold is 101; it must be from 0"},
                   {{"check", "a", "--rule", "all_zero,threshold=50"}, "collection_names or tensor_regex is"}});
}

TEST_CASE("command_line: following") {
    using namespace std::chrono_literals;
    CHECK_FALSE(parsed<cli::detail::ls_arguments>({"ls", "a"}).follow.on);
    CHECK_FALSE(parsed<cli::detail::check_arguments>({"check", "a", "--rule", "exploding_tensor"}).follow.on);
    const auto listed = parsed<cli::detail::ls_arguments>({"ls", "a", "--follow"});
    CHECK(listed.follow.on);
    CHECK_FALSE(listed.follow.give_up_after.has_value());
    const auto checked = parsed<cli::detail::check_arguments>(
        {"check", "--follow", "a", "--give-up-after", "10m", "b", "--rule", "exploding_tensor"});
    CHECK(checked.follow.on);
    CHECK(checked.follow.give_up_after == 10min);
    CHECK(checked.runs == texts{"a", "b"});
    check_refused({{{"ls", "a", "--give-up-after", "10m"}, "--give-up-after is for --follow"},
                   {{"ls", "a", "--follow", "--give-up-after", "soon"}, "must be a time such as"}});
    CHECK(refusal({"show", "a", "w", "--follow"}) != "accepted");
    CHECK(refusal({"stats", "a", "--follow"}) != "accepted");
    CHECK(contains(parsed<cli::detail::printed_text>({"--help"}).text, "130 interrupted"));
}

TEST_CASE("command_line: every command's tables may be given a width") {
    CHECK(parsed<cli::detail::ls_arguments>({"ls", "a", "--width", "80"}).how.width == 80);
    CHECK(parsed<cli::detail::show_arguments>({"show", "a", "w", "--width", "80"}).how.width == 80);
    CHECK(parsed<cli::detail::stats_arguments>({"stats", "a", "--width", "80"}).how.width == 80);
    CHECK(parsed<cli::detail::check_arguments>({"check", "a", "--rule", "dead_relu", "--width", "0"}).how.width == 0);
    CHECK(parsed<cli::detail::scan_arguments>({"scan", "a", "--width", "80"}).check.how.width == 80);
    CHECK(parsed<cli::detail::rules_arguments>({"rules", "--width", "80"}).width == 80);
    CHECK_FALSE(parsed<cli::detail::ls_arguments>({"ls", "a"}).how.width.has_value());
    CHECK(contains(refusal({"ls", "a", "--width", "wide"}), "--width must be a whole number"));
}

TEST_CASE("command_line: requests for help and version are not errors") {
    for (const char* const version : {"--version", "version"}) {
        cli::detail::command_line line{known()};
        CHECK_FALSE(line.parse({version}).arguments.has_value());
    }
    CHECK(contains(parsed<cli::detail::printed_text>({"--help"}).text, "Exit status: 0 nothing found"));
    for (const char* name : {"ls", "show", "stats", "diff", "check", "scan", "rules"}) {
        const std::string help = parsed<cli::detail::printed_text>({name, "--help"}).text;
        CHECK_MESSAGE(contains(help, std::string{"smdebug "} + name), name);
        CHECK_MESSAGE(contains(help, "--format"), name);
        CHECK_MESSAGE(contains(help, "3 a rule's condition was met, or two runs differ; 4 both 3 and 1"), name);
        CHECK_MESSAGE(!contains(help, "COMMAND --help"), name);
        CHECK(parsed<cli::detail::printed_text>({"help", name}).text == help);
    }
    CHECK(parsed<cli::detail::printed_text>({"help"}).text == parsed<cli::detail::printed_text>({"--help"}).text);
    CHECK(contains(refusal({"help", "stat"}), "Did you mean stats"));
}

TEST_CASE("command_line: archives that get an index, here or in S3") {
    using wanted = cli::detail::index_arguments;
    CHECK(parsed<wanted>({"index", "a.tar", "s3://b/c.tgz"}).archives == texts{"a.tar", "s3://b/c.tgz"});
    CHECK(parsed<wanted>({"index", "a.tar", "--no-sign-request"}).storage.s3.anonymous);
    CHECK(refusal({"index"}) != "accepted");
    const std::string help = parsed<cli::detail::printed_text>({"index", "--help"}).text;
    CHECK(contains(help, "smdebug index"));
    CHECK(contains(help, "3 a rule's condition was met, or two runs differ; 4 both 3 and 1"));
}

TEST_CASE("command_line: a command that is missing or misspelt") {
    CHECK(refusal({"stat", "a"}).ends_with("?\nTry `smdebug --help`."));
    CHECK(parsed<cli::detail::rules_arguments>({"rules", "--format", "csv"}).format == cli::detail::output_format::csv);
    CHECK(parsed<cli::detail::rules_arguments>({"rules", "AllZero", "dead_relu"}).rules ==
          texts{"all_zero", "dead_relu"});
    check_refused({{{}, "a command is missing"},
                   {{"stat", "a"}, "Did you mean stats"},
                   {{"--bogus"}, "--help"},
                   {{"rules", "alzero"}, "there is no rule \"alzero\". Did you mean all_zero?"}});
}

TEST_CASE("command_line: the error for an unknown option suggests similar ones") {
    check_refused({{{"stats", "a", "-step", "c"}, "Did you mean --steps or"},
                   {{"scan", "--rules", "x", "a"}, "scan has no option --rules. Did you mean --rule or"},
                   {{"show", "a", "b", "c"}, "c"}});
    check_refused_with_beginning(
        {{{"stats", "a", "--colection", "c"}, "stats has no option --colection. Did you mean --collection?"},
         {{"stats", "a", "--thread=2"}, "stats has no option --thread. Did you mean --threads?"},
         {{"--versoin"}, "smdebug has no option --versoin. Did you mean --version?"},
         {{"rules", "--quite-another"}, "rules has no option --quite-another\n"},
         {{"ls", "a", "-v"}, "ls has no option -v. Did you mean --verify?"},
         {{"ls", "a", "-o", "x"}, "ls has no option -o\n"}});
}

TEST_CASE("command_line: an option of other commands is an error that names these; --json and --csv suggest --format") {
    check_refused_with_beginning(
        {{{"check", "a", "--threads", "2"},
          "check has no option --threads; stats, scan, learn, report, pack, export have it\n"},
         {{"ls", "a", "--mode=TRAIN"}, "ls has no option --mode; show, stats, diff, export have it\n"},
         {{"show", "a", "w", "--steps", "3"}, "show has no option --steps. Did you mean --step?"},
         {{"scan", "a", "--json"}, "scan has no option --json. Write --format json\n"},
         {{"ls", "a", "--csv"}, "ls has no option --csv. Write --format csv\n"}});
}

TEST_CASE("command_line: completion prints a shell's script, manual pages of the program and of its commands") {
    for (const char* const shell : {"bash", "zsh", "fish"}) {
        const std::string script = parsed<cli::detail::printed_text>({"completion", shell}).text;
        CHECK(contains(script, std::string{"printed by `smdebug completion "} + shell + "`"));
    }
    CHECK(contains(parsed<cli::detail::printed_text>({"complete", "--", "check", "--rule", ""}).text,
                   "\nexploding_tensor\t"));
    CHECK(contains(parsed<cli::detail::printed_text>({"complete"}).text, "\nls\twhat runs hold"));
    const auto pages = [](texts arguments) {
        return parsed<cli::detail::manual_arguments>(std::move(arguments)).pages;
    };
    REQUIRE(pages({"manual"}).size() == 1);
    CHECK(pages({"manual"}).front().file == "smdebug.1");
    CHECK(pages({"manual", "scan"}).front().file == "smdebug-scan.1");
    check_refused({{{"completion"}, "SHELL is required"},
                   {{"completion", "csh"}, "csh"},
                   {{"manual", "nothing"}, "nothing"},
                   {{"manual", "scan", "-o", "folder"}, "excludes"}});
    const auto all = parsed<cli::detail::manual_arguments>({"manual", "-o", "folder"});
    CHECK(all.folder == "folder");
    CHECK(all.pages.size() == 18);
    CHECK(contains(parsed<cli::detail::printed_text>({"help", "manual"}).text, "smdebug manual"));
}

TEST_CASE("command_line: --follow limits the number of runs, and --give-up-after needs --follow") {
    texts many{"ls", "--follow", "--give-up-after", "2h"};
    many.insert(many.end(), cli::detail::most_followed_runs, "a");
    CHECK(parsed<cli::detail::ls_arguments>(many).follow.give_up_after == std::chrono::hours{2});
    many.emplace_back("b");
    CHECK(refusal(many) == "--follow can follow 256 runs at once, not 257");
    many.erase(many.begin() + 1, many.begin() + 4);
    CHECK(refusal(many) == "accepted");
    CHECK(contains(refusal({"ls", "a", "--give-up-after", "2h"}), "--give-up-after is for --follow"));
}

TEST_CASE("command_line: rules come from options and JSON, with runs to compare with if they compare") {
    const temporary_folder folder;
    folder.write("rules.json", R"([{"RuleConfigurationName": "Mine", "RuleParameters":
        {"rule_to_invoke": "SimilarAcrossRuns", "other_trial_0": "a", "start_step": "4"}}])");
    const auto check =
        parsed<cli::detail::check_arguments>({"check", "r", "--rules-json", folder.path() + "/rules.json", "--rule",
                                              "dead_relu,end_step=9", "--other-trials", "b"});
    REQUIRE(check.rules.size() == 2);
    CHECK(check.rules[0].label == "dead_relu");
    CHECK(check.rules[0].end_step == 9);
    CHECK(check.rules[0].other_trials.empty());
    CHECK(check.rules[1].label == "Mine");
    CHECK(check.rules[1].start_step == 4);
    CHECK(check.rules[1].other_trials == texts{"a", "b"});
    check_refused({{{"check", "r", "--rule", "dead_relu", "--other-trials", "b"},
                    "--other-trials: none of the rules chosen compares runs"},
                   {{"check", "r", "--rules-json", folder.path()}, "cannot be read"}});
}

TEST_CASE("command_line: errors name the option") {
    check_refused({{{"stats", "a", "--threads", "2000"}, "--threads must be 1024 or less"},
                   {{"pack", "a", "-o", "b", "--level", "0"}, "--level"},
                   {{"pack", "a", "-o", "b", "--level", "high"}, "--level"},
                   {{"ls", "a", "--verify", "--follow"}, "--verify and --follow exclude each other"},
                   {{"check", "a"}, "check needs at least one rule"},
                   {{"check", "a"}, "\nTry `smdebug check --help`."},
                   {{"check", "a", "--rule", "all_zero"}, "all_zero"},
                   {{"scan"}, "scan needs at least one run"},
                   {{"scan", "a", "--start", "3", "--end", "3"}, "--end must be above --start"},
                   {{"report", "a", "-o", "b", "--max-size", "large"}, "--max-size must be"},
                   {{"report", "a", "-o", "b", "--interval", "1s"}, "--interval is for --follow"},
                   {{"report", "a", "-o", "b", "--follow", "--interval", "soon"}, "--interval must be"}});
    const auto pack = parsed<cli::detail::pack_arguments>({"pack", "a", "-o", "b", "--threads", "3", "--level", "19"});
    CHECK(pack.threads == 3);
    CHECK(pack.level == 19);
    const auto show = parsed<cli::detail::show_arguments>({"show", "a", "b"});
    CHECK_FALSE(show.step.has_value());
    CHECK(show.values == 10);
    CHECK(parsed<cli::detail::stats_arguments>({"stats", "a"}).threads == 1);
}
