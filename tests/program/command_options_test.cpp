#include <program/command_options.hpp>

#include <program/evaluate_run.hpp>
#include <program/option_texts.hpp>
#include <program/rows.hpp>
#include <program/runs.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

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
    cli::detail::option_texts wanted;
    const auto add = [&](CLI::App& app) { cli::detail::add_how(app, how, wanted); };
    REQUIRE(parses({"--format", "JSON", "--skip-damaged", "--endpoint-url", "http://127.0.0.1:1", "--no-sign-request",
                    "--cache", "/c", "--width", "72"},
                   add));
    CHECK(wanted.width == "72");
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

TEST_CASE("command_options: which rules, and what is done about findings; steps under either name") {
    cli::detail::check_arguments given;
    cli::detail::option_texts wanted;
    const auto add = [&](CLI::App& app) {
        cli::detail::add_rule_options(app, wanted);
        cli::detail::add_evaluation(app, given, wanted);
        cli::detail::add_follow(app, given.follow, wanted, "goes on");
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
    CHECK(wanted.rules == texts{"dead_relu", "all_zero,tensor_regex=x"});
    CHECK(wanted.rules_json == "f");
    CHECK(wanted.other_trials == texts{"a"});
    CHECK(wanted.start == "3");
    CHECK(wanted.end == "9");
    CHECK(wanted.on_finding == "echo {rule}");
    CHECK(given.actions.post_url == "http://x");
    CHECK(given.actions.status_file == "s");
    CHECK(given.stop_at_first);
    CHECK(given.first_offender);
    CHECK(given.follow.on);
    CHECK(wanted.give_up_after == "2h");
}

TEST_CASE("command_options: at least one run") {
    texts runs;
    const auto add = [&](CLI::App& app) { cli::detail::add_runs(app, runs); };
    CHECK_FALSE(parses({}, add));
    REQUIRE(parses({"a", "b"}, add));
    CHECK(runs == texts{"a", "b"});
}
