#include <smdebug/report/run_series.hpp>

#include "support/test.hpp"

using namespace smdebug;
using report::detail::axis_step;
using report::detail::step_axes;

namespace {

/// Steps 0, 10, 20, ...; every tenth is an evaluation.
std::vector<axis_step> steps(std::size_t count) {
    std::vector<axis_step> all;
    step_number train = 0;
    step_number eval = 0;
    for (std::size_t i = 0; i < count; ++i) {
        const bool evaluates = i % 10 == 9;
        all.push_back({.step = static_cast<step_number>(10 * i),
                       .mode_step = evaluates ? eval++ : train++,
                       .mode = evaluates ? mode::eval : mode::train});
    }
    return all;
}

}  // namespace

TEST_CASE("step_axes: an axis for each mode, a bucket for each step where there is room") {
    step_axes axes{steps(20), 100};
    REQUIRE(axes.all().size() == 2);
    CHECK(axes.all()[0].mode == mode::train);
    CHECK(axes.all()[0].steps == 18);
    REQUIRE(axes.all()[0].buckets.size() == 18);
    CHECK(axes.all()[0].buckets[9].first == 100);  // 90 is an evaluation
    CHECK(axes.all()[0].buckets[9].last == 100);
    CHECK(axes.all()[0].buckets[9].mode_step == 9);
    CHECK(axes.all()[0].buckets[9].last_mode_step == 9);
    CHECK(axes.all()[0].buckets[9].count == 1);
    REQUIRE(axes.all()[1].buckets.size() == 2);
    CHECK(axes.all()[1].buckets[1].first == 190);
    CHECK(axes.place_of(190)->axis == 1);
    CHECK(axes.place_of(190)->bucket == 1);
    CHECK(axes.place_of(0)->bucket == 0);
    CHECK_FALSE(axes.place_of(195));
    CHECK_FALSE(axes.place_of(200));
}

TEST_CASE("step_axes: where there is less room, steps share buckets, as evenly as can be, and none is lost") {
    step_axes axes{steps(1000), 7};
    for (const auto& axis : axes.all()) {
        REQUIRE(axis.buckets.size() == 7);
        std::size_t count = 0;
        step_number last = -1;
        for (const auto& each : axis.buckets) {
            count += each.count;
            CHECK(each.first > last);
            CHECK(each.last >= each.first);
            CHECK(each.last_mode_step - each.mode_step + 1 == static_cast<step_number>(each.count));
            CHECK(each.count >= axis.steps / 7);
            CHECK(each.count <= axis.steps / 7 + 1);
            last = each.last;
        }
        CHECK(count == axis.steps);
    }
    for (const axis_step& each : steps(1000)) {
        const auto where = axes.place_of(each.step);
        REQUIRE(where);
        const auto& bucket = axes.all()[where->axis].buckets[where->bucket];
        CHECK(bucket.first <= each.step);
        CHECK(each.step <= bucket.last);
    }
}

TEST_CASE("step_axes: some steps of each mode, with the first and the last") {
    const step_axes axes{steps(1000), 100};
    const std::vector<step_number> some = axes.some(20);
    CHECK(some.size() == 18 + 8);  // a mode with few steps has eight
    CHECK(some.front() == 0);
    CHECK(some.back() == 9990);
    CHECK(axes.some(5000).size() == 1000);
    CHECK(step_axes{steps(1), 5}.some(3) == std::vector<step_number>{0});
}

TEST_CASE("step_axes: a run without steps") {
    step_axes axes{{}, 10};
    CHECK(axes.all().empty());
    CHECK_FALSE(axes.place_of(0));
    CHECK(axes.some(3).empty());
}
