#include <program/finding_actions.hpp>

#include "support/temporary_folder.hpp"
#include "support/test.hpp"

#include <program/console.hpp>

using namespace smdebug;
using namespace smdebug_test;
using texts = std::vector<std::string>;

namespace {

std::string content_of(const std::string& path) {
    std::ifstream file{path};
    return {std::istreambuf_iterator<char>{file}, {}};
}

std::string refusal(const std::string& command) {
    return what_of<cli::detail::usage_error>([&] { return cli::detail::words_of_command(command); }, "accepted");
}

}  // namespace

TEST_CASE("words_of_command: blanks separate, quotes hold together, nothing is expanded") {
    CHECK(cli::detail::words_of_command("echo  a\tb") == texts{"echo", "a", "b"});
    CHECK(cli::detail::words_of_command("echo 'a b' \"c d\" e\\ f") == texts{"echo", "a b", "c d", "e f"});
    CHECK(cli::detail::words_of_command("x '' $HOME *") == texts{"x", "", "$HOME", "*"});
    CHECK(cli::detail::words_of_command("x 'a\\b' a'b'c") == texts{"x", "a\\b", "abc"});
    CHECK(refusal("echo 'a") == "--on-finding: a quote in \"echo 'a\" does not end");
    CHECK(refusal("  ") == "--on-finding: there is no program to run");
    CHECK(refusal("'' a") == "--on-finding: there is no program to run");
}

TEST_CASE("finding_actions: runs a command, and keeps the status file up to date") {
    const temporary_folder folder;
    const std::string out = folder.path() + "/out";
    const std::string status = folder.path() + "/status.json";
    cli::detail::finding_actions actions{
        {.command = {"/bin/sh", "-c", "echo \"$1|$2|$3\" >> \"$0\"", out, "{run}", "{rule}", "{tensor}"},
         .status_file = status},
        "runs/a/",
        {}};
    texts notes;
    const auto note = [&](const std::string& text) { notes.push_back(text); };
    actions.begin("runs/a", {"dead_relu", "all_zero"}, note);
    CHECK(content_of(status).find("InProgress") != std::string::npos);  // the first is written at once
    actions.act("runs/a", "dead_relu", {.met = true, .tensor = "x", .step = 3, .message = "dead"}, note);
    CHECK(content_of(out) == "runs/a|dead_relu|x\n");
    actions.flush(note);
    CHECK(content_of(status).find("IssuesFound") != std::string::npos);
    actions.finish("runs/a", "all_zero", rule_status::no_issues_found, "", note);
    actions.flush(note);
    CHECK(content_of(status).find("NoIssuesFound") != std::string::npos);
    CHECK(content_of(status).find("InProgress") == std::string::npos);
    CHECK(notes.empty());
}

TEST_CASE("finding_actions: with several runs the status file names each") {
    const temporary_folder folder;
    const std::string status = folder.path() + "/status.json";
    cli::detail::finding_actions actions{{.status_file = status}, "", {}};
    actions.begin("runs/a", {"dead_relu"}, [](const std::string&) {});
    CHECK(content_of(status).find("runs/a: dead_relu") != std::string::npos);
}

TEST_CASE("finding_actions: after a run fails none of its rules stays in progress; ended ones keep their status") {
    const temporary_folder folder;
    const std::string status = folder.path() + "/status.json";
    cli::detail::finding_actions actions{{.status_file = status}, "", {}};
    const auto note = [](const std::string&) {};
    actions.begin("runs/a", {"dead_relu", "all_zero"}, note);
    actions.begin("runs/b", {"dead_relu"}, note);
    actions.finish("runs/a", "all_zero", rule_status::no_issues_found, "", note);
    actions.fail("runs/a", {}, "it broke", note);
    actions.fail("runs/c", {}, "no run", note);
    actions.fail("runs/d", {"all_zero"}, "no run", note);
    actions.flush(note);
    const std::string got = content_of(status);
    const auto stands = [&](const std::string& name, const std::string& how) {
        return got.find("\"" + name + "\",\"RuleEvaluationStatus\":\"" + how + "\"") != std::string::npos;
    };
    CHECK(stands("runs/a: dead_relu", "Error"));
    CHECK(stands("runs/a: all_zero", "NoIssuesFound"));
    CHECK(stands("runs/b: dead_relu", "InProgress"));
    CHECK(stands("runs/c", "Error"));
    CHECK(stands("runs/d: all_zero", "Error"));
}

TEST_CASE("finding_actions: a failing action gives a note, and nothing else") {
    cli::detail::finding_actions actions{
        {.command = {"/nowhere/program"}, .post_url = "http://127.0.0.1:1/x", .status_file = "/proc/nowhere/status"},
        "",
        {}};
    texts notes;
    const auto note = [&](const std::string& text) { notes.push_back(text); };
    actions.act("runs/a", "dead_relu", {.met = true, .message = "dead"}, note);
    REQUIRE(notes.size() == 3);
    CHECK(notes[0].starts_with("--on-finding: "));
    CHECK(notes[1].starts_with("--post: "));
    CHECK(notes[2].starts_with("--status-file: "));
    actions.flush(note);
    CHECK(notes.size() == 3);  // it fails for the same reason
}

TEST_CASE("finding_actions: the service's actions are reported once per rule, and so are problems with them") {
    rule_request request{.label = "Mine", .rule = "dead_relu"};
    request.action_json = R"([{"name": "stoptraining", "training_job_prefix": "Job-1"}, {"name": "fax"}])";
    cli::detail::finding_actions actions{{}, "", {request}};
    texts notes;
    const auto note = [&](const std::string& text) { notes.push_back(text); };
    for (int i = 0; i < 2; ++i) {
        actions.act("runs/a", "Mine", {.met = true}, note);
    }
    REQUIRE(notes.size() == 2);
    CHECK(notes[0].find("stoptraining for Job-1") != std::string::npos);
    CHECK(notes[1].find("fax") != std::string::npos);
    request.action_json = "{";
    CHECK_THROWS_AS((cli::detail::finding_actions{{}, "", {request}}), cli::detail::usage_error);
}

TEST_CASE("finding_actions: an address that nothing can be sent to is refused before there is a finding") {
    CHECK_THROWS_WITH_AS(cli::detail::finding_actions(cli::detail::action_options{.post_url = "example.org/x"}, "", {}),
                         "--post must be a URL, http:// or https:// and a host, not \"example.org/x\"",
                         cli::detail::usage_error);
}
