#include <smdebug/cli/check.hpp>

#include "cli/captured.hpp"

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

using namespace smdebug;
using namespace smdebug_test;
using texts = std::vector<std::string>;

namespace {

struct verdict {
    int status = 0;
    std::string out;
    std::string err;
};

verdict check_of(cli::check_arguments given, cli::output_format format = cli::output_format::csv) {
    captured run;
    given.how.format = format;
    const int status = cli::check(given, run.to);
    return {status, run.out.str(), run.err.str()};
}

std::vector<cli::built_in_rule> rules_of(const texts& named) {
    std::vector<cli::built_in_rule> rules;
    for (const std::string& text : named) {
        rules.push_back(cli::parse_rule(text));
    }
    return rules;
}

const texts& both() {
    static const texts names{"exploding_tensor", "vanishing_gradient"};
    return names;
}

}  // namespace

TEST_CASE("check: a row for each finding, rule by rule, and exit status 3") {
    const temporary_folder folder;
    write_sick_run(folder);
    const verdict got = check_of({.runs = {folder.path()}, .rules = rules_of(both())});
    CHECK(got.status == cli::exit_finding);
    CHECK(got.err.empty());
    CHECK(lines_of(got.out) ==
          texts{"run,rule,step,mode,mode_step,tensor,worker,value,threshold,message",
                folder.path() + ",exploding_tensor,1,EVAL,0,w,worker_0,NaN,,1 NaN and 0 infinite of 2 values",
                folder.path() + ",exploding_tensor,2,TRAIN,1,w,worker_0,Infinity,,0 NaN and 1 infinite of 2 values",
                folder.path() + ",vanishing_gradient,1,EVAL,0,g,worker_0,9.9999997171806854e-10,9.9999999999999995e-08,"
                                "the mean absolute gradient 1e-09 is below 1e-07"});
}

TEST_CASE("check: JSON rows; a table has a summary") {
    const temporary_folder folder;
    write_sick_run(folder);
    const verdict rows = check_of({.runs = {folder.path()}, .rules = rules_of({"exploding_tensor,only_nan=True"})},
                                  cli::output_format::json);
    CHECK(rows.out == "{\"run\":\"" + folder.path() +
                          "\",\"rule\":\"exploding_tensor\",\"step\":1,\"mode\":\"EVAL\",\"mode_step\":0,"
                          "\"tensor\":\"w\",\"worker\":\"worker_0\",\"value\":\"NaN\",\"threshold\":null,"
                          "\"message\":\"1 NaN and 0 infinite of 2 values\"}\n");
    const verdict table = check_of({.runs = {folder.path()}, .rules = rules_of(both())}, cli::output_format::table);
    CHECK(contains(table.out, "exploding_tensor                  3          2         2\n"));
    CHECK(contains(table.out, "vanishing_gradient                3          1         1\n"));
}

TEST_CASE("check: from start up to, not including, end") {
    const temporary_folder folder;
    write_sick_run(folder);
    const auto found = [&](step_number start, std::optional<step_number> end) {
        const verdict got =
            check_of({.runs = {folder.path()}, .rules = rules_of({"exploding_tensor"}), .start = start, .end = end});
        return std::pair{got.status, lines_of(got.out).size() - 1};
    };
    CHECK(found(0, 1) == std::pair{cli::exit_ok, std::size_t{0}});
    CHECK(found(0, 2) == std::pair{cli::exit_finding, std::size_t{1}});
    CHECK(found(2, {}) == std::pair{cli::exit_finding, std::size_t{1}});
    CHECK(found(3, {}) == std::pair{cli::exit_ok, std::size_t{0}});
}

TEST_CASE("check: nothing found") {
    const verdict got = check_of({.runs = {golden("torch_mlp")}, .rules = rules_of(both())}, cli::output_format::table);
    CHECK(got.status == cli::exit_ok);
    CHECK(got.out.starts_with("nothing found\n\nrun "));
}

TEST_CASE("check: a run that fails does not lose the others, and a finding wins over an error") {
    const temporary_folder folder;
    write_sick_run(folder);
    const verdict both_kinds = check_of({.runs = {"/nowhere", folder.path()}, .rules = rules_of(both())});
    CHECK(both_kinds.status == cli::exit_finding);
    CHECK(contains(both_kinds.err, "/nowhere"));
    const verdict failed = check_of({.runs = {"/nowhere"}, .rules = rules_of(both())}, cli::output_format::table);
    CHECK(failed.status == cli::exit_error);
    CHECK(failed.out.empty());  // nothing was checked, so nothing can be said
}

TEST_CASE("check: damage is noted and gives status 1 when nothing was found") {
    const verdict damaged =
        check_of({.runs = {golden("damaged/flipped_length")}, .rules = rules_of({"exploding_tensor"})});
    CHECK(damaged.status == cli::exit_error);
    CHECK(contains(damaged.err, "note: exploding_tensor: CorruptRecord: events/"));
    const verdict missing = check_of({.runs = {golden("missing_event")}, .rules = rules_of({"exploding_tensor"})});
    CHECK(missing.status == cli::exit_error);
    CHECK(contains(missing.err, "is missing"));
    // Reductions that prove nothing are no damage.
    const verdict unknown =
        check_of({.runs = {golden("missing_event")}, .rules = rules_of({"exploding_tensor"}), .end = 1});
    CHECK(unknown.status == cli::exit_ok);
    CHECK(contains(unknown.err, "note: "));
}

TEST_CASE("check: a job that has not ended is checked as it is, without waiting") {
    for (const char* run : {"sparse_running", "incomplete_workers", "missing_event_running"}) {
        const verdict got = check_of({.runs = {golden(run)}, .rules = rules_of(both())}, cli::output_format::table);
        CHECK_MESSAGE(got.status == cli::exit_ok, run);
        CHECK_MESSAGE(contains(got.err, "has not ended: checked what is there now"), run);
    }
    CHECK(contains(check_of({.runs = {golden("incomplete_workers")}, .rules = rules_of({"exploding_tensor"})}).err,
                   "not complete yet"));
}
