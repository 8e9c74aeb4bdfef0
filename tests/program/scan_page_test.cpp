#include <program/scan_page.hpp>

#include "program/captured.hpp"

#include <program/program.hpp>
#include <program/program_trial.hpp>
#include <program/runs.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <vector>

using namespace smdebug;
using namespace smdebug_test;

namespace {

cli::detail::program_trial with_losses(const std::string& folder, const std::vector<float>& values) {
    local_storage store{folder};
    run_builder build{store};
    build.collections({"worker_0"}, {{"losses", {"loss"}}});
    for (std::size_t i = 0; i < values.size(); ++i) {
        build.step({.step = static_cast<step_number>(i), .tensors = {tensor_of<float>("loss", {values[i]})}});
    }
    build.end();
    return cli::detail::open_run(folder, {});
}

}  // namespace

TEST_CASE("loss_of: the loss over the steps, in some points, none of the largest and no NaN lost") {
    const temporary_folder few;
    const auto whole = cli::detail::loss_of(with_losses(few.path(), {3, 2, 1}), {});
    CHECK(whole.points == std::vector<float>{3, 2, 1});
    CHECK(whole.lost == -1);
    const temporary_folder many;
    std::vector<float> values(1000, 1);
    values[317] = 9;
    values[700] = std::numeric_limits<float>::quiet_NaN();
    const auto [line, lost] = cli::detail::loss_of(with_losses(many.path(), values), {});
    CHECK(lost == 700);
    REQUIRE(line.size() == cli::detail::loss_points);
    CHECK(std::count(line.begin(), line.end(), 9.0F) == 1);
    CHECK(std::count_if(line.begin(), line.end(), [](float each) { return std::isnan(each); }) == 1);
    CHECK(cli::detail::loss_of(cli::detail::open_run(golden("dtypes"), {}), {}).points.empty());
}

TEST_CASE("loss_of: a loss that is nowhere finite is there all the same") {
    constexpr float infinity = std::numeric_limits<float>::infinity();
    const temporary_folder up;
    const auto upwards = cli::detail::loss_of(with_losses(up.path(), {infinity, infinity}), {});
    CHECK(upwards.points == std::vector<float>{infinity, infinity});
    CHECK(upwards.lost == 0);
    const temporary_folder down;  // what is larger than all of it hides it nowhere, not even in its own point
    const auto downwards = cli::detail::loss_of(with_losses(down.path(), {1, -infinity}), {});
    REQUIRE(downwards.points.size() == 2);
    CHECK(std::isnan(downwards.points.back()));
    CHECK(downwards.lost == 1);
}

TEST_CASE("address_of: a file's name is no other address") {
    CHECK(cli::detail::address_of("run-1_a.html") == "run-1_a.html");
    CHECK(cli::detail::address_of("javascript:alert(1).html") == "javascript%3Aalert%281%29.html");
    CHECK(cli::detail::address_of("../a b.html") == "%2E.%2Fa%20b.html");
    CHECK(cli::detail::address_of("\xC3\xA9") == "%C3%A9");
}

TEST_CASE("scan --report: a row for each run, and the reports beside it are linked") {
    const temporary_folder place;
    const temporary_folder sick;
    write_sick_run(sick);
    place.write("torch_mlp.html", "a report");
    const std::string page = place.path() + "/batch.html";
    captured run;
    CHECK(cli::run_program({"scan", golden("torch_mlp"), sick.path(), "/nowhere/at/all", "--report", page}, run.out,
                           run.err) == cli::exit_finding_and_error);
    const std::string text = file_content(page);
    CHECK(contains(text, R"("isBatch":true)"));
    CHECK(contains(text, R"("link":"torch_mlp.html")"));
    CHECK(contains(text, R"("rule":"vanishing_gradient","status":"IssuesFound","findings":1,"first":1)"));
    CHECK(contains(text, R"("path":"/nowhere/at/all","state":"failed")"));
    CHECK(contains(text, "<title>3 runs</title>"));
    captured wrong;
    CHECK(cli::run_program({"scan", golden("torch_mlp"), "--reductions", "all", "--report", page}, wrong.out,
                           wrong.err) == cli::exit_usage);
}
