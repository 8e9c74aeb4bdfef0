#include <program/scan_page.hpp>

#include "program/captured.hpp"

#include <program/runs.hpp>
#include <smdebug/rules/invoke_rules.hpp>
#include <smdebug/trial/trial.hpp>

#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug_test;

namespace {

trial with_losses(const std::string& folder, const std::vector<float>& values) {
    local_storage store{folder};
    run_builder build{store};
    build.collections({"worker_0"}, {{"losses", {"loss"}}});
    for (std::size_t i = 0; i < values.size(); ++i) {
        build.step({.step = static_cast<step_number>(i), .tensors = {tensor_of<float>("loss", {values[i]})}});
    }
    build.end();
    return cli::detail::open_run(folder, {});
}

// What is noted while nothing else is evaluated.
cli::detail::loss_line line_of(const trial& run) {
    cli::detail::loss_recorder recorder{run};
    const auto results = invoke_rules(run, std::vector{recorder.rule()});
    CHECK(results[0].failure.empty());
    return recorder.line();
}

}  // namespace

TEST_CASE("loss_recorder: the loss over the steps in a few points, keeping the largest values and NaN") {
    const temporary_folder few;
    const auto whole = line_of(with_losses(few.path(), {3, 2, 1}));
    CHECK(whole.points == std::vector<float>{3, 2, 1});
    CHECK(whole.lost == std::nullopt);
    const temporary_folder many;
    std::vector<float> values(1000, 1);
    values[317] = 9;
    values[700] = std::numeric_limits<float>::quiet_NaN();
    const auto [line, lost] = line_of(with_losses(many.path(), values));
    CHECK(lost == 700);
    REQUIRE(line.size() == cli::detail::loss_points);
    CHECK(std::count(line.begin(), line.end(), 9.0F) == 1);
    CHECK(std::count_if(line.begin(), line.end(), [](float each) { return std::isnan(each); }) == 1);
    CHECK(line_of(cli::detail::open_run(golden("dtypes"), {})).points.empty());
}

TEST_CASE("loss_recorder: a loss that is never finite is still recorded") {
    constexpr float infinity = std::numeric_limits<float>::infinity();
    const temporary_folder up;
    const auto upwards = line_of(with_losses(up.path(), {infinity, infinity}));
    CHECK(upwards.points == std::vector<float>{infinity, infinity});
    CHECK(upwards.lost == 0);
    const temporary_folder down;  // what is larger than all of it hides it nowhere, not even in its own point
    const auto downwards = line_of(with_losses(down.path(), {1, -infinity}));
    REQUIRE(downwards.points.size() == 2);
    CHECK(std::isnan(downwards.points.back()));
    CHECK(downwards.lost == 1);
}
