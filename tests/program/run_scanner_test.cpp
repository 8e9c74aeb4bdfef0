#include <program/run_scanner.hpp>

#include "program/captured.hpp"

#include <program/rule_set.hpp>
#include <program/scan_arguments.hpp>
#include <program/stats.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace smdebug;
using namespace smdebug_test;

namespace {

/// As a batch gives it to the only run on the only thread.
run_scope lonely_scope() { return {.threads = std::make_shared<thread_budget>(0)}; }

}  // namespace

TEST_CASE("run_scanner: a run's facts, a verdict for each rule, those without anything to look at among them") {
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

TEST_CASE("run_scanner: what cannot be opened says why, with what may have been meant") {
    const temporary_folder folder;
    write_sick_run(folder);
    const auto registry = cli::program_rules::built_in();
    const cli::detail::scan_arguments args;
    cli::detail::run_scanner scan{args, registry, 1};
    const run_result result = scan({.path = folder.path() + "/index"}, lonely_scope());
    CHECK(result.state == run_state::gone);  // or failed, where it never was: the database knows
    CHECK(contains(result.error, "It is a part of the run"));
    CHECK(result.verdicts.empty());
}

TEST_CASE("run_scanner: a large run is only opened where others share it; its parts say together what it says whole") {
    const temporary_folder folder;
    write_sick_run(folder);
    std::this_thread::sleep_for(std::chrono::milliseconds{50});  // what is newer has no version to be known by
    const auto registry = cli::program_rules::built_in();
    const cli::detail::scan_arguments args{.statistics = cli::detail::all_statistics()};
    cli::detail::run_scanner scan{args, registry, 1};
    scan.tell_versions();
    scan.split({.above = 1, .most = 2});
    const run_result opened = scan({.path = folder.path()}, lonely_scope());
    REQUIRE(opened.parts.size() == 2);
    CHECK_FALSE(opened.reductions);
    CHECK(opened.steps == 3);
    CHECK(opened.run.version.size() == 32);
    const run_result whole = scan({.path = folder.path(), .whole = true}, lonely_scope());
    CHECK(whole.parts.empty());
    std::vector<std::string> rows;
    const auto add = [&](const reduction_row& row) { rows.push_back(std::to_string(row.step) + row.name); };
    for (const step_range& steps : opened.parts) {
        const run_result part =
            scan({.path = folder.path(), .version = opened.run.version, .steps = steps}, lonely_scope());
        CHECK(part.state == opened.state);
        REQUIRE(part.reductions);
        part.reductions->for_each(add);
    }
    const std::vector<std::string> joined = std::exchange(rows, {});
    REQUIRE(whole.reductions);
    whole.reductions->for_each(add);
    CHECK(joined == rows);
    CHECK(joined.size() == 6);
    const run_result changed =
        scan({.path = folder.path(), .version = "old", .steps = opened.parts[0]}, lonely_scope());
    CHECK(changed.state == run_state::failed);
    CHECK(contains(changed.error, "has changed while it was looked at"));
    CHECK(scan({.path = folder.path(), .version = opened.run.version}, lonely_scope()).state == run_state::unchanged);
}

TEST_CASE("run_scanner: rules find what others have read of a large run, and read nothing") {
    const temporary_folder folder;
    write_sick_run(folder);
    const auto registry = cli::program_rules::built_in();
    cli::detail::scan_arguments args;
    cli::detail::run_scanner scan{args, registry, 1};
    scan.split({.above = 1, .most = 10});
    const run_result opened = scan({.path = folder.path()}, lonely_scope());
    REQUIRE(opened.parts.size() == 3);
    CHECK(opened.parts_inform);
    CHECK(opened.verdicts.empty());
    const run_result truth = scan({.path = folder.path(), .whole = true}, lonely_scope());
    auto known = std::make_shared<row_spool>();
    for (const step_range& steps : opened.parts) {
        const run_result part = scan({.path = folder.path(), .steps = steps}, lonely_scope());
        CHECK(part.state == opened.state);
        CHECK(part.messages.empty());
        REQUIRE(part.reductions);
        known->append(part.reductions);
    }
    CHECK(known->size() == 6);
    // Who reads the files now finds nothing but damage.
    for (const auto& each : std::filesystem::recursive_directory_iterator{folder.path() + "/events"}) {
        if (each.is_regular_file()) {
            const auto size = each.file_size();
            std::filesystem::resize_file(each.path(), 0);
            std::filesystem::resize_file(each.path(), size);
        }
    }
    const auto said = [&](const run_result& result) {
        std::string all;
        for (const rule_result& each : result.verdicts) {
            all += each.name + " " + std::to_string(each.outcome.met_at.size()) + " " +
                   std::to_string(each.outcome.unread) + " " + each.summary + "\n";
            for (const finding& found : each.outcome.findings) {
                all += found.message + "\n";
            }
        }
        return all;
    };
    const run_result told = scan({.path = folder.path(), .whole = true, .known = known}, lonely_scope());
    CHECK(said(told) == said(truth));
    CHECK(told.messages.size() == truth.messages.size());
    CHECK_FALSE(told.run.known);
    CHECK(said(scan({.path = folder.path(), .whole = true}, lonely_scope())) != said(truth));
    // Of another version nothing is known.
    scan.tell_versions();
    CHECK(said(scan({.path = folder.path(), .whole = true, .known = known, .known_of = "another"}, lonely_scope())) !=
          said(truth));
}
