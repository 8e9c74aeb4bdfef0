#include <program/merge.hpp>

#include "program/captured.hpp"
#include "program/database/results.hpp"

#include <program/database/results_database.hpp>
#include <program/program.hpp>
#include <smdebug/core/error.hpp>

#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug_test;

TEST_CASE("merge: joins databases, and reports what it did") {
    const temporary_folder place;
    const std::string a = place.path() + "/a.db";
    const std::string b = place.path() + "/b.db";
    const std::string all = place.path() + "/all.db";
    {
        results_database first{a};
        first.write(some_result(1), "q");
        first.write(some_result(2), "q");
        results_database second{b};
        second.write(some_result(2), "q");
        second.write(failed_result(3), "q");
    }
    const ended run = run_to_end({"merge", a, b, "-o", all});
    CHECK(run.status == cli::exit_ok);
    CHECK(run.out == "merged 2 databases of 4 runs into " + all +
                         ": 3 runs; 1 run gave way to another one of the same path; 1 run not looked at to the end\n");
    CHECK(run.err.empty());
    const ended again = run_to_end({"merge", a, b, "-o", all});
    CHECK(again.status == cli::exit_error);
    CHECK(contains(again.err, "is there already"));
    const ended replaced = run_to_end({"merge", a, "-o", all, "--replace"});
    CHECK(replaced.status == cli::exit_ok);
    CHECK(replaced.out == "merged 1 database of 2 runs into " + all + ": 2 runs\n");
}

TEST_CASE("merge: wrong usage, and being interrupted") {
    const temporary_folder place;
    captured run;
    CHECK(cli::run_program({"merge", "a.db"}, run.out, run.err) == cli::exit_usage);
    CHECK(cli::run_program({"merge", "-o", "a.db"}, run.out, run.err) == cli::exit_usage);
    CHECK(cli::run_program({"merge", place.path() + "/none.db", "-o", place.path() + "/all.db"}, run.out, run.err) ==
          cli::exit_error);
    CHECK(contains(run.err.str(), "there is no database"));
    { const results_database made{place.path() + "/a.db"}; }
    std::stop_source stop;
    stop.request_stop();
    CHECK(cli::status_of(run.to, [&] {
              return cli::detail::merge({.sources = {place.path() + "/a.db"}, .output = place.path() + "/all.db"},
                                        run.to, stop.get_token());
          }) == cli::exit_interrupted);
    CHECK(contains(run.err.str(), "nothing was written"));
    CHECK_FALSE(std::filesystem::exists(place.path() + "/all.db"));
}
