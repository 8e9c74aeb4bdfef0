#include <program/evaluate_run.hpp>

#include "program/captured.hpp"

#include <program/rule_set.hpp>
#include <program/runs.hpp>

#include <smdebug/trial/trial.hpp>
#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug_test;

TEST_CASE("evaluate_run: reports the rules at the start, each finding as it comes, and each result at the end") {
    const temporary_folder folder;
    write_sick_run(folder);
    const auto registry = cli::program_rules::built_in();
    const trial run = cli::detail::open_run(folder.path(), {});
    cli::detail::rule_maker maker{registry, {}};
    std::vector<std::string> told;
    const cli::detail::evaluation_hooks hooks{
        .begin =
            [&](const std::vector<std::string>& rules) {
                for (const std::string& each : rules) {
                    told.push_back("begin " + each);
                }
            },
        .on_finding = [&](const std::string& rule,
                          const finding& found) { told.push_back(rule + " at " + std::to_string(found.step)); },
        .finish = [&](const rule_result& result) { told.push_back("end " + result.name); }};
    captured said;
    const std::vector<rule_request> rules{{.label = "exploding_tensor", .rule = "exploding_tensor"}};
    const auto results = cli::detail::evaluate_run(maker, rules, run, folder.path(), {}, hooks, said.to);
    REQUIRE(results.size() == 1);
    CHECK(results[0].outcome.findings.size() == 2);
    CHECK(told == std::vector<std::string>{"begin exploding_tensor", "exploding_tensor at 1", "exploding_tensor at 2",
                                           "end exploding_tensor"});
    std::stop_source stop;
    stop.request_stop();
    const auto stopped =
        cli::detail::evaluate_run(maker, rules, run, folder.path(), {}, {.stop = stop.get_token()}, said.to);
    REQUIRE(stopped.size() == 1);
    CHECK(stopped[0].outcome.end == invoke_end::stopped);
    CHECK(stopped[0].outcome.evaluated == 0);
}

TEST_CASE("evaluate_run: an observer sees every step, and has no result") {
    const temporary_folder folder;
    write_sick_run(folder);
    const auto registry = cli::program_rules::built_in();
    const trial run = cli::detail::open_run(folder.path(), {});
    cli::detail::rule_maker maker{registry, {}};
    const std::vector<rule_request> rules{{.label = "exploding_tensor", .rule = "exploding_tensor"}};
    captured alone;
    const auto truth = cli::detail::evaluate_run(maker, rules, run, folder.path(), {}, {}, alone.to);
    int steps = 0;
    const any_rule<trial> observer{[&](const trial&, step_number step) {
        ++steps;
        if (step == 1) {
            throw tensor_unavailable{"nothing of that name"};
        }
        return finding::note("by the way");
    }};
    captured said;
    const auto results =
        cli::detail::evaluate_run(maker, rules, run, folder.path(), {}, {.observer = &observer}, said.to);
    CHECK(steps == 3);
    REQUIRE(results.size() == 1);
    CHECK(results[0].summary == truth[0].summary);
    CHECK(said.err.str() == alone.err.str());
    const any_rule<trial> broken{[](const trial&, step_number) -> finding { throw std::runtime_error{"no"}; }};
    captured still;
    CHECK(cli::detail::evaluate_run(maker, rules, run, folder.path(), {}, {.observer = &broken}, still.to).size() == 1);
    CHECK(still.err.str() == alone.err.str());
}
