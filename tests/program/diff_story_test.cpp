#include <program/diff_story.hpp>

#include "program/captured.hpp"

#include <smdebug/trial/diff_runs.hpp>

#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug_test;

TEST_CASE("place_text: a flat place in C order as one for each axis") {
    const std::vector<std::size_t> extents{2, 3, 4};
    CHECK(cli::detail::place_text(0, extents) == "[0, 0, 0]");
    CHECK(cli::detail::place_text(23, extents) == "[1, 2, 3]");
    CHECK(cli::detail::place_text(17, extents) == "[1, 1, 1]");
    CHECK(cli::detail::place_text(5, std::vector<std::size_t>{9}) == "[5]");
    CHECK(cli::detail::place_text(0, {}).empty());
}

TEST_CASE("diff_story: the first line is of the first step that differs, whatever comes behind it") {
    cli::detail::diff_story story;
    const diff_summary same{.steps = 2, .tensors = 1, .compared = 2, .bytes = 1'000};
    CHECK(story.sentence(same, {}, {}) == "the runs are the same: 2 steps, 1 tensor, 1.0 kB compared");
    CHECK(story.sentence(same, 0.5, {}) ==
          "the runs are the same within rtol 0.5 and atol 0: 2 steps, 1 tensor, 1.0 kB compared");
    story.add(run_difference{
        .kind = run_difference_kind::shape, .step = 4, .mode_step = 4, .tensor = "w", .what = "it is [1] and [2]"});
    story.add(run_difference{.kind = run_difference_kind::tensor, .step = 5, .tensor = "v", .run = 1, .what = "alone"});
    const diff_summary differ{.steps = 2, .differences = 2};
    CHECK(story.sentence(differ, {}, {}) == "the runs part at step 4 (GLOBAL 4): tensor w: it is [1] and [2]");
    captured shown;
    story.print_others(shown.to);
    CHECK(contains(shown.out.str(), "shape"));
    CHECK(contains(shown.out.str(), "alone"));
}
