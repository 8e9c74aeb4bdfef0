#include <program/command_options.hpp>

#include <program/evaluate_run.hpp>
#include <program/rows.hpp>
#include <program/runs.hpp>

#include "support/test.hpp"

using namespace smdebug;
using texts = std::vector<std::string>;

namespace {

/// Parses arguments with the options that `add` describes.
template <class Add>
bool parses(texts arguments, Add&& add) {
    CLI::App app;
    add(app);
    std::reverse(arguments.begin(), arguments.end());
    try {
        app.parse(arguments);
    } catch (const CLI::Error&) {
        return false;
    }
    return true;
}

}  // namespace

TEST_CASE("command_options: how runs are read") {
    cli::detail::run_options how;
    const auto add = [&](CLI::App& app) { cli::detail::add_how(app, how); };
    REQUIRE(parses({"--format", "JSON", "--skip-damaged", "--endpoint-url", "http://127.0.0.1:1", "--no-sign-request",
                    "--cache", "/c", "--width", "72"},
                   add));
    CHECK(how.width == 72U);
    CHECK(how.format_is_given);
    CHECK(how.format == cli::detail::output_format::json);
    CHECK(how.skip_damaged);
    CHECK(how.storage.s3.endpoint == "http://127.0.0.1:1");
    CHECK(how.storage.s3.anonymous);
    CHECK(how.storage.cache_folder == "/c");
    CHECK_FALSE(parses({"--format", "xml"}, add));
    CHECK_FALSE(how.untrusted);
    CHECK(cli::detail::options_for(how).limits == size_limits{});
    REQUIRE(parses({"--untrusted"}, add));
    CHECK(cli::detail::options_for(how).limits == size_limits::untrusted());
    CHECK(how.storage.archive == archive_options::untrusted());
    CHECK(how.storage.formats.most_record_bytes == size_limits::untrusted().record);
}

TEST_CASE("command_options: rules, actions on findings, and steps under either name") {
    cli::detail::check_arguments given;
    cli::detail::rule_options rules;
    cli::detail::step_options steps;
    const auto add = [&](CLI::App& app) {
        cli::detail::add_rule_options(app, rules);
        cli::detail::add_evaluation(app, given, rules, steps);
        cli::detail::add_follow(app, given.follow, "goes on");
    };
    REQUIRE(parses({"--rule",
                    "dead_relu",
                    "--rule",
                    "all_zero,tensor_regex=x",
                    "--rules-json",
                    "f",
                    "--other-trials",
                    "a",
                    "--start-step",
                    "3",
                    "--end",
                    "9",
                    "--on-finding",
                    "echo {rule}",
                    "--post",
                    "http://x",
                    "--status-file",
                    "s",
                    "--stop-at-first",
                    "--first-offender",
                    "--follow",
                    "--give-up-after",
                    "2h"},
                   add));
    CHECK(rules.rules == texts{"dead_relu", "all_zero,tensor_regex=x"});
    CHECK(rules.json == "f");
    CHECK(rules.other_trials == texts{"a"});
    CHECK(steps.start == 3);
    CHECK(steps.end == 9);
    CHECK(given.actions.command == texts{"echo", "{rule}"});
    CHECK(given.actions.post_url == "http://x");
    CHECK(given.actions.status_file == "s");
    CHECK(given.stop_at_first);
    CHECK(given.first_offender);
    CHECK(given.follow.on);
    CHECK(given.follow.give_up_after == std::chrono::hours{2});
}

TEST_CASE("command_options: at least one run") {
    texts runs;
    const auto add = [&](CLI::App& app) { cli::detail::add_runs(app, runs); };
    CHECK_FALSE(parses({}, add));
    REQUIRE(parses({"a", "b"}, add));
    CHECK(runs == texts{"a", "b"});
}
