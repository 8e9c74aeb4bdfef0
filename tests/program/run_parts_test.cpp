#include <program/run_parts.hpp>

#include "program/captured.hpp"

#include <program/runs.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <filesystem>
#include <vector>

using namespace smdebug;
using namespace smdebug_test;

TEST_CASE("parts_of: ranges of whole steps, one behind another, for a run above the bound alone") {
    const temporary_folder folder;
    write_sick_run(folder);
    const auto run = cli::detail::open_run(folder.path(), {});
    using limits = cli::detail::part_limits;
    CHECK(cli::detail::parts_of(run, {}, {}).empty());
    CHECK(cli::detail::parts_of(run, {}, limits{.most = 10}).empty());  // small
    CHECK(cli::detail::parts_of(run, {}, limits{.above = 1, .most = 1}).empty());
    CHECK(cli::detail::parts_of(run, {}, limits{.above = 1, .most = 10, .records = 5}).empty());
    CHECK(cli::detail::parts_of(run, {}, limits{.above = 1, .most = 10, .records = 6}).size() == 3);
    const auto all = cli::detail::parts_of(run, {}, limits{.above = 1, .most = 10});
    REQUIRE(all.size() == 3);
    CHECK_FALSE(all[0].begin);
    CHECK(all[0].end == 1);
    CHECK(all[1].begin == 1);
    CHECK(all[1].end == 2);
    CHECK(all[2].begin == 2);
    CHECK_FALSE(all[2].end);
    const auto two = cli::detail::parts_of(run, {.begin = 0, .end = 9}, limits{.above = 1, .most = 2});
    REQUIRE(two.size() == 2);
    CHECK(two[0].begin == 0);
    CHECK(two[0].end == two[1].begin);
    CHECK(two[1].end == 9);
    CHECK(cli::detail::parts_of(run, {.begin = 2}, limits{.above = 1, .most = 10}).empty());  // one step
    CHECK(cli::detail::parts_of(run, {.begin = 3}, limits{.above = 1, .most = 10}).empty());  // none
}

TEST_CASE("parts_of: a run whose job goes on is not split") {
    const temporary_folder folder;
    write_sick_run(folder);
    std::filesystem::remove(folder.path() + "/END_OF_JOB.ts");
    std::filesystem::remove(folder.path() + "/training_job_end.ts");
    const auto run = cli::detail::open_run(folder.path(), {});
    CHECK(cli::detail::parts_of(run, {}, {.above = 1, .most = 10}).empty());
}
