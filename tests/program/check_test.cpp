#include <program/check.hpp>

#include "program/captured.hpp"

#include <program/command_options.hpp>
#include <program/evaluate_run.hpp>
#include <program/finding_actions.hpp>
#include <program/rows.hpp>
#include <program/rule_set.hpp>
#include <smdebug/index/locations.hpp>
#include <smdebug/learn/learned_facts.hpp>

#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug_test;
using texts = std::vector<std::string>;

namespace {

ended check_of(cli::detail::check_arguments given, cli::detail::output_format format = cli::detail::output_format::csv,
               const cli::program_rules& rules = known()) {
    given.how.format = format;
    return ended_by([&](auto& to) { return cli::detail::check(given, rules, to); });
}

std::vector<rule_request> rules_of(const texts& named) {
    std::vector<rule_request> rules;
    for (const std::string& text : named) {
        rules.push_back(cli::parse_rule(text));
    }
    return rules;
}

/// Notes something at each step, and throws at step 2.
struct noisy {
    [[nodiscard]] static constexpr std::string_view name() { return "noisy"; }
    [[nodiscard]] static constexpr std::string_view summary() { return "never"; }
    [[nodiscard]] static constexpr std::tuple<> settings() { return {}; }
    [[nodiscard]] std::vector<finding> operator()(const readable_trial auto& /*run*/, step_number step) const {
        if (step == 2) {
            throw std::runtime_error("a bug");
        }
        return std::vector<finding>(8, finding{.tensor = "w", .message = "cannot be judged"});
    }
};

const texts& both() {
    static const texts names{"exploding_tensor", "vanishing_gradient"};
    return names;
}

}  // namespace

TEST_CASE("check: a row for each finding, by step, then rule, and exit status 3") {
    const temporary_folder folder;
    write_sick_run(folder);
    const ended got = check_of({.runs = {folder.path()}, .rules = rules_of(both())});
    CHECK(got.status == cli::exit_finding);
    CHECK(got.err.empty());
    CHECK(lines_of(got.out) ==
          texts{"run,rule,step,mode,mode_step,tensor,worker,value,threshold,message",
                folder.path() + ",exploding_tensor,1,EVAL,0,w,worker_0,NaN,,1 NaN and 0 infinite of 2 values",
                folder.path() + ",vanishing_gradient,1,EVAL,0,g,worker_0,9.9999997171806854e-10,9.9999999999999995e-08,"
                                "the mean absolute gradient 1e-09 is below 1e-07",
                folder.path() + ",exploding_tensor,2,TRAIN,1,w,worker_0,Infinity,,0 NaN and 1 infinite of 2 values"});
    const ended turned =
        check_of({.runs = {folder.path()}, .rules = rules_of({"vanishing_gradient", "exploding_tensor"})});
    CHECK(contains(lines_of(turned.out)[1], "vanishing_gradient"));
}

TEST_CASE("check: JSON rows; a table has a summary") {
    const temporary_folder folder;
    write_sick_run(folder);
    const ended rows = check_of({.runs = {folder.path()}, .rules = rules_of({"exploding_tensor,only_nan=True"})},
                                cli::detail::output_format::json);
    CHECK(rows.out == "{\"run\":\"" + folder.path() +
                          "\",\"rule\":\"exploding_tensor\",\"step\":1,\"mode\":\"EVAL\",\"mode_step\":0,"
                          "\"tensor\":\"w\",\"worker\":\"worker_0\",\"value\":\"NaN\",\"threshold\":null,"
                          "\"message\":\"1 NaN and 0 infinite of 2 values\"}\n");
    const ended table =
        check_of({.runs = {folder.path()}, .rules = rules_of(both())}, cli::detail::output_format::table);
    CHECK(contains(squeezed(table.out), "\nrun rule status steps_evaluated steps_met findings\n"));
    CHECK(contains(squeezed(table.out), " exploding_tensor IssuesFound 3 2 2\n"));
    CHECK(contains(squeezed(table.out), " vanishing_gradient IssuesFound 3 1 1\n"));
    CHECK_FALSE(contains(table.out, "the first value that was not finite"));
    const std::string origin = "the first value that was not finite: step 1, w of worker_0, 1 NaN";
    for (const auto format : {cli::detail::output_format::table, cli::detail::output_format::csv}) {
        const ended first = check_of({.runs = {folder.path()}, .rules = rules_of({"nan_origin"})}, format);
        CHECK(contains(first.out, "\n" + origin) == (format == cli::detail::output_format::table));
    }
}

TEST_CASE("check: from start up to, not including, end") {
    const temporary_folder folder;
    write_sick_run(folder);
    const auto found = [&](step_number start, std::optional<step_number> end) {
        const ended got =
            check_of({.runs = {folder.path()}, .rules = rules_of({"exploding_tensor"}), .start = start, .end = end});
        return std::pair{got.status, lines_of(got.out).size() - 1};
    };
    CHECK(found(0, 1) == std::pair{cli::exit_ok, std::size_t{0}});
    CHECK(found(0, 2) == std::pair{cli::exit_finding, std::size_t{1}});
    CHECK(found(2, {}) == std::pair{cli::exit_finding, std::size_t{1}});
    CHECK(found(3, {}) == std::pair{cli::exit_usage, std::size_t{0}});
    CHECK(contains(check_of({.runs = {folder.path()}, .rules = rules_of({"exploding_tensor"}), .start = 1000}).err,
                   "note: none of the steps of " + folder.path() + " is evaluated; they are 0-2\n"));
}

TEST_CASE("check: a collection missing from the run is noted: finding nothing in it does not mean healthy") {
    const temporary_folder folder;
    write_sick_run(folder);
    const ended got =
        check_of({.runs = {folder.path()}, .rules = rules_of({"exploding_tensor,collection_names=wieghts;gradients"})});
    CHECK(contains(got.err,
                   "smdebug: note: exploding_tensor: Collection wieghts was not saved. Did you mean weights? [run "));
    CHECK(lines_of(got.err).size() == 1);
}

TEST_CASE("check: looks at the first worker, as the service does, and says so where there are more") {
    const temporary_folder folder;
    write_run_of_two_workers(folder);
    const std::string said = "exploding_tensor: only 1 of 2 workers was checked; all_workers=true checks all";
    const ended first =
        check_of({.runs = {folder.path()}, .rules = rules_of({"exploding_tensor"})}, cli::detail::output_format::table);
    CHECK(first.status == cli::exit_ok);
    CHECK(contains(first.out, "NoIssuesFound, 1 of 2 workers"));
    CHECK(contains(first.err, said));
    const ended all = check_of({.runs = {folder.path()}, .rules = rules_of({"exploding_tensor,all_workers=true"})},
                               cli::detail::output_format::table);
    CHECK(all.status == cli::exit_finding);
    CHECK_FALSE(contains(all.out + all.err, "workers was checked"));
    CHECK_FALSE(contains(all.out, "1 of 2 workers"));
}

TEST_CASE("check: nothing found") {
    const ended got =
        check_of({.runs = {golden("torch_mlp")}, .rules = rules_of(both())}, cli::detail::output_format::table);
    CHECK(got.status == cli::exit_ok);
    CHECK(got.out.starts_with("nothing found\n\nrun "));
}

TEST_CASE("check: a failing run does not affect the others; neither a finding nor an error hides the other") {
    const temporary_folder folder;
    write_sick_run(folder);
    const ended both_kinds = check_of({.runs = {"/nowhere", folder.path()}, .rules = rules_of(both())});
    CHECK(both_kinds.status == cli::exit_finding_and_error);
    CHECK(contains(both_kinds.err, "/nowhere"));
    const ended counted = check_of(
        {.runs = {"/nowhere", folder.path(), golden("missing_event"), golden("torch_mlp")}, .rules = rules_of(both())},
        cli::detail::output_format::table);
    CHECK(counted.out.ends_with("\n\n4 runs: findings in 1; 1 could be evaluated in part only; 1 not at all\n"));
    const ended failed = check_of({.runs = {"/nowhere"}, .rules = rules_of(both())}, cli::detail::output_format::table);
    CHECK(failed.status == cli::exit_error);
    CHECK(failed.out.empty());  // nothing was checked, so nothing can be said
}

TEST_CASE("check: damage is noted and gives status 1 when nothing was found") {
    const ended damaged =
        check_of({.runs = {golden("damaged/flipped_length")}, .rules = rules_of({"exploding_tensor"})});
    CHECK(damaged.status == cli::exit_error);
    CHECK(contains(damaged.err, "note: exploding_tensor: CorruptRecord: events/"));
    const ended missing = check_of({.runs = {golden("missing_event")}, .rules = rules_of({"exploding_tensor"})});
    CHECK(missing.status == cli::exit_error);
    CHECK(contains(missing.err, "is missing"));
    // Reductions that prove nothing are no damage.
    const ended unknown =
        check_of({.runs = {golden("missing_event")}, .rules = rules_of({"exploding_tensor"}), .end = 1});
    CHECK(unknown.status == cli::exit_ok);
    CHECK(contains(unknown.err, "note: "));
}

TEST_CASE("check: a rule that looks at nothing is not healthy: its own status, a suggestion, exit status 2") {
    const temporary_folder folder;
    write_sick_run(folder);
    struct row {
        std::string rule;
        std::string_view said;
    };
    for (const auto& [rule, said] :
         {row{"exploding_tensor,tensor_regex=wieghts/.*",
              "no tensor matches tensor_regex wieghts/.*. There is a collection weights: collection_names. [run "},
          row{"all_zero,tensor_regex=^G$", "Did you mean g or w?"},
          row{"exploding_tensor,collection_names=gradeints", "Did you mean gradients?"},
          row{"dead_relu",
              "dead_relu has looked at nothing: None of the tensors of 3 steps is what the rule is set to look at"}}) {
        CAPTURE(rule);
        const ended got =
            check_of({.runs = {folder.path()}, .rules = rules_of({rule})}, cli::detail::output_format::table);
        CAPTURE(got.err);
        CHECK(got.status == cli::exit_usage);
        CHECK(contains(got.out, " NotApplicable "));
        CHECK(contains(got.err, said));
    }
    // Beside a rule that finds something that is the exit status.
    CHECK(check_of({.runs = {folder.path()}, .rules = rules_of({"exploding_tensor", "dead_relu"})}).status ==
          cli::exit_finding);
    // Where any run has something to look at, the rule was not mistyped.
    const temporary_folder none;
    local_storage store{none.path()};
    run_builder{store}.collections().step({.step = 0, .tensors = {tensor_of<float>("other", {1})}}).end();
    CHECK(check_of({.runs = {none.path(), folder.path()}, .rules = rules_of({"exploding_tensor,tensor_regex=^g"})})
              .status == cli::exit_ok);
}

TEST_CASE("check: a job that has not ended is checked as it is, without waiting") {
    for (const std::string run : {"sparse_running", "incomplete_workers", "missing_event_running"}) {
        const ended got = check_of({.runs = {golden(run)}, .rules = rules_of({"exploding_tensor"})},
                                   cli::detail::output_format::table);
        const bool lost = run == "missing_event_running";  // it may still come, but was not looked at
        CHECK_MESSAGE(got.status == (lost ? cli::exit_error : cli::exit_ok), run);
        CHECK_MESSAGE(contains(got.out, " Incomplete") == lost, run);
        CHECK_MESSAGE(contains(got.out, " Incomplete, 1 of 2 workers ") == lost, run);
        CHECK_MESSAGE(contains(got.err, "has not ended: checked what is there now"), run);
    }
    CHECK(contains(check_of({.runs = {golden("incomplete_workers")}, .rules = rules_of({"exploding_tensor"})}).err,
                   "not complete yet"));
}

TEST_CASE("check: options end each rule at its first bad step, or at the first finding of a step") {
    const temporary_folder folder;
    write_sick_run(folder);
    cli::detail::check_arguments given{.runs = {folder.path()},
                                       .rules = rules_of({"exploding_tensor", "all_zero,tensor_regex=.*,threshold=0"}),
                                       .stop_at_first = true};
    const ended first = check_of(given, cli::detail::output_format::table);
    CHECK(contains(squeezed(first.out), " exploding_tensor IssuesFound 2 1 1\n"));
    CHECK(contains(squeezed(first.out), " all_zero IssuesFound 1 1 2\n"));  // w and g, at step 0
    given.first_offender = true;
    CHECK(contains(squeezed(check_of(given, cli::detail::output_format::table).out), " all_zero IssuesFound 1 1 1\n"));
}

TEST_CASE("check: rules have their own names, steps and parameters") {
    const temporary_folder folder;
    write_sick_run(folder);
    std::vector<rule_request> rules = rules_of({"ExplodingTensor,start_step=2", "exploding_tensor,end_step=2"});
    rules[0].label = "late";
    const ended got = check_of({.runs = {folder.path()}, .rules = rules});
    const texts lines = lines_of(got.out);
    REQUIRE(lines.size() == 3);
    CHECK(lines[1].starts_with(folder.path() + ",exploding_tensor,1,"));
    CHECK(lines[2].starts_with(folder.path() + ",late,2,"));
}

TEST_CASE("check: a rule keeps state for one run only; failing to open a run to compare with is an error") {
    const temporary_folder folder;
    write_sick_run(folder);
    const ended twice = check_of({.runs = {folder.path(), folder.path() + "/"},
                                  .rules = rules_of({"unchanged_tensor,tensor_regex=g,num_steps=2"})},
                                 cli::detail::output_format::table);
    CHECK(twice.status == cli::exit_ok);
    const ended same =
        check_of({.runs = {folder.path()}, .rules = rules_of({"similar_across_runs,other_trial_0=" + folder.path()})});
    CHECK(same.err.empty());
    const ended none =
        check_of({.runs = {folder.path()}, .rules = rules_of({"similar_across_runs,other_trial_0=/nowhere"})});
    CHECK(none.status == cli::exit_error);
    CHECK(contains(none.err, "/nowhere"));
    const ended others =
        check_of({.runs = {folder.path()},
                  .rules = rules_of({"similar_across_runs,other_trial_0=/nowhere", "exploding_tensor"})},
                 cli::detail::output_format::table);
    CHECK(others.status == cli::exit_finding_and_error);
    CHECK(contains(squeezed(others.out), " similar_across_runs Error 0 0 0\n"));
    CHECK(contains(squeezed(others.out), " exploding_tensor IssuesFound 3 2 2\n"));
}

TEST_CASE("check: missing event files do not count as a healthy run, in table, status file and exit status") {
    const temporary_folder folder;
    write_sick_run(folder);
    cli::detail::check_arguments given{
        .runs = {folder.path()},
        .rules = rules_of({"exploding_tensor,only_nan=True", "vanishing_gradient", "all_zero,tensor_regex=w"})};
    given.actions.status_file = folder.path() + "/status.json";
    folder.remove(smdebug::detail::locations::event_key(2, "worker_0"));
    const ended part = check_of(given, cli::detail::output_format::table);
    CHECK(part.status == cli::exit_finding_and_error);
    CHECK(contains(squeezed(part.out), " exploding_tensor IssuesFound 3 1 1\n"));
    CHECK(contains(squeezed(part.out), " all_zero Incomplete 3 0 0\n"));
    CHECK(contains(
        part.err,
        "smdebug: error: not everything could be read: exploding_tensor lacks 2 of 6 tensors, "
        "vanishing_gradient lacks 1 of 3 tensors, all_zero lacks 1 of 3 tensors; 1 event file missing; first: "));
    CHECK(contains(part.err, smdebug::detail::locations::event_key(2, "worker_0")));
    const std::string statuses = file_content(given.actions.status_file);
    CHECK(contains(
        statuses,
        R"("RuleConfigurationName":"all_zero","RuleEvaluationStatus":"Error","StatusDetails":"1 of 3 tensors)"));
    CHECK(contains(statuses, "1 of 3 tensors could not be read, first: "));
    for (const step_number step : {0, 1}) {
        folder.remove(smdebug::detail::locations::event_key(step, "worker_0"));
    }
    const ended none = check_of(given, cli::detail::output_format::table);
    CHECK(none.status == cli::exit_error);
    for (const char* rule : {"exploding_tensor", "vanishing_gradient", "all_zero"}) {
        CHECK(contains(squeezed(none.out), std::string{" "} + rule + " Error 3 0 0\n"));
    }
    CHECK(contains(none.err, "exploding_tensor lacks 6 of 6 tensors"));
    CHECK(lines_of(none.err).size() == 7);  // five notes, how many more, and the error
    CHECK_FALSE(contains(file_content(given.actions.status_file), "NoIssuesFound"));
}

TEST_CASE("check: a run that cannot be opened is an error in the status file, too") {
    const temporary_folder folder;
    cli::detail::check_arguments given{.runs = {"/nowhere"}, .rules = rules_of(both())};
    given.actions.status_file = folder.path() + "/status.json";
    CHECK(check_of(given).status == cli::exit_error);
    const std::string statuses = file_content(given.actions.status_file);
    for (const std::string& rule : both()) {
        CHECK(contains(statuses, "\"" + rule + "\",\"RuleEvaluationStatus\":\"Error\""));
    }
}

TEST_CASE("check: a failing rule is an error that says where; the first notes are printed, then a count") {
    const temporary_folder folder;
    write_sick_run(folder);
    cli::program_rules rules;
    rules.add<noisy>();
    rules.add<rules::exploding_tensor>();
    const ended got =
        check_of({.runs = {folder.path()}, .rules = rules_of({"noisy"})}, cli::detail::output_format::table, rules);
    CHECK(got.status == cli::exit_error);
    CHECK(contains(got.err, "smdebug: error: noisy failed at step 2: a bug [run " + folder.path() + "]\n"));
    CHECK(contains(got.err, "note: noisy: w of step 0: cannot be judged [run " + folder.path() + "]\n"));
    CHECK(contains(got.err, "note: noisy: 6 more such notes [run " + folder.path() + "]\n"));
    CHECK(lines_of(got.err).size() == 12);
    CHECK(contains(squeezed(got.out), " noisy Error 2 0 0\n"));
    const ended both_rules = check_of({.runs = {folder.path()}, .rules = rules_of({"noisy", "exploding_tensor"})},
                                      cli::detail::output_format::table, rules);
    CHECK(both_rules.status == cli::exit_finding_and_error);
    CHECK(contains(squeezed(both_rules.out), " exploding_tensor IssuesFound 3 2 2\n"));
}

TEST_CASE("check: all built-in rules at once on the golden runs") {
    texts all;
    const temporary_folder folder;
    const std::string learned_file = folder.path() + "/normal.json";
    learned_facts{}.save(learned_file);
    for (const rule_info& info : known().infos()) {
        const bool everything =
            info.name == "all_zero" || info.name == "unchanged_tensor" || info.name == "tensor_variance";
        const bool chosen =
            info.name == "activation_outliers" || info.name == "attention_collapse" || info.name == "expert_imbalance";
        all.push_back(info.name +
                      (everything ? ",tensor_regex=.*"
                       : chosen   ? ",collection_names=outputs"
                                  : "") +
                      (info.name == "tensor_variance" ? ",max_threshold=1" : "") +
                      (info.name == "learned" ? ",file=" + learned_file : "") +
                      (info.name == "similar_across_runs" ? ",other_trial_0=" + golden("torch_mlp") : ""));
    }
    for (const char* run : {"torch_mlp", "torch_ddp", "xgboost_like", "reductions_only"}) {
        const ended got = check_of({.runs = {golden(run)}, .rules = rules_of(all)}, cli::detail::output_format::table);
        INFO(run << ": " << got.err);
        CHECK(got.status != cli::exit_error);
        CHECK_FALSE(contains(got.out, " Error "));
        CHECK(contains(got.out, "feature_importance_overweight"));
    }
}

TEST_CASE(
    "check: acts on findings: a command, a status file, and what the configuration of a rule asks the service for") {
    const temporary_folder folder;
    write_sick_run(folder);
    folder.write("rules.json", R"({"DebugRuleConfigurations": [{"RuleConfigurationName": "ExplodingTensor",
        "RuleParameters": {"rule_to_invoke": "ExplodingTensor", "end_step": "2",
                           "action_json": "{\"name\": \"sms\", \"endpoint\": \"+491234\"}"}}]})");
    cli::detail::check_arguments given{.runs = {folder.path()}};
    given.rules = cli::detail::requested_rules({.rules = {"vanishing_gradient"}, .json = folder.path() + "/rules.json"},
                                               known(), false);
    given.actions.command =
        cli::detail::words_of_command("/bin/sh -c 'echo \"$0 $1\" >> " + folder.path() + "/found' {rule} {step}");
    given.actions.status_file = folder.path() + "/status.json";
    const ended got = check_of(given);
    CHECK(got.status == cli::exit_finding);
    CHECK(contains(got.err, "exploding_tensor: action sms for +491234 is SageMaker's to do"));
    const auto content = [&](const std::string& name) {
        std::ifstream file{folder.path() + name};
        return std::string{std::istreambuf_iterator<char>{file}, {}};
    };
    const std::string found = content("/found");
    CHECK(contains(found, "exploding_tensor 1\n"));
    CHECK(contains(found, "vanishing_gradient 1\n"));
    CHECK_FALSE(contains(found, "exploding_tensor 2\n"));
    const std::string status = content("/status.json");
    CHECK(contains(status, "exploding_tensor"));
    CHECK(contains(status, "IssuesFound"));
    CHECK_FALSE(contains(status, "InProgress"));
}
