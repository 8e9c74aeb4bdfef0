#include <program/run_scanner.hpp>

#include "program/captured.hpp"

#include <program/rule_set.hpp>
#include <program/scan_arguments.hpp>

#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug_test;

namespace {

/// As a batch gives it to the only run on the only thread.
run_scope lonely_scope() { return {.threads = std::make_shared<thread_budget>(0)}; }

}  // namespace

TEST_CASE("run_scanner: a run's facts, and a verdict for each rule, also for rules that are not applicable") {
    const temporary_folder folder;
    write_sick_run(folder);
    const auto registry = cli::program_rules::built_in();
    const cli::detail::scan_arguments args;
    std::atomic<int> told{0};
    cli::detail::run_scanner scan{args, registry, 1, [&](const std::string&, std::size_t, std::size_t) { ++told; }};
    const run_result result = scan({.path = folder.path()}, lonely_scope());
    CHECK(result.state == run_state::ended);
    CHECK(result.error.empty());
    CHECK(result.steps == 3);
    CHECK(result.last_step == 2);
    CHECK(result.workers == 1);
    CHECK(result.tensors == 2);
    CHECK(told == 3);
    CHECK(result.verdicts.size() == registry.infos().size());
    const auto about = [&](const std::string& rule) {
        return *std::find_if(result.verdicts.begin(), result.verdicts.end(),
                             [&](const rule_result& each) { return each.name == rule; });
    };
    CHECK(about("exploding_tensor").outcome.findings.size() == 2);
    CHECK(about("dead_relu").status == rule_status::not_applicable);
    CHECK(about("dead_relu").summary.starts_with("no tensor named like"));
}

TEST_CASE("run_scanner: a run that cannot be opened gives the reason, and a suggestion") {
    const temporary_folder folder;
    write_sick_run(folder);
    const auto registry = cli::program_rules::built_in();
    const cli::detail::scan_arguments args;
    cli::detail::run_scanner scan{args, registry, 1};
    const run_result result = scan({.path = folder.path() + "/index"}, lonely_scope());
    CHECK(result.state == run_state::failed);  // other data lie there
    CHECK(scan({.path = folder.path() + "/none"}, lonely_scope()).state == run_state::gone);
    CHECK(contains(result.error, "It is a part of the run"));
    CHECK(result.verdicts.empty());
}
