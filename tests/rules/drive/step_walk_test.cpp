#include <smdebug/rules/drive/step_walk.hpp>

#include "support/fake_trial.hpp"
#include "support/run_builder.hpp"

#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/trial/basic_trial.hpp>

#include <doctest/doctest.h>

#include <vector>

using namespace smdebug;
using namespace smdebug_test;
using steps_list = std::vector<step_number>;

namespace {

/// Notes which steps it is told of, and how often it is asked for all.
struct told_trial : fake_trial {
    using fake_trial::fake_trial;
    mutable steps_list told = {};
    mutable int asked = 0;
    void read_ahead(step_number step) const { told.push_back(step); }
    [[nodiscard]] steps_list steps(const steps_options& which) const {
        ++asked;
        return fake_trial::steps(which);
    }
};

fake_tensor::values_by_step at_steps(const steps_list& steps) {
    fake_tensor::values_by_step made;
    for (const step_number step : steps) {
        made[step] = {1};
    }
    return made;
}

memory_storage stored(const steps_list& steps, bool ended) {
    memory_storage store;
    run_builder build{store};
    build.collections();
    for (const step_number step : steps) {
        build.step({.step = step, .tensors = {tensor_of<float>("w", {1})}});
    }
    if (ended) {
        build.end();
    }
    return store;
}

}  // namespace

static_assert(detail::waits_for_steps<memory_trial> && !detail::waits_for_steps<fake_trial>);
static_assert(detail::reads_steps_ahead<told_trial> && !detail::reads_steps_ahead<fake_trial>);

TEST_CASE("step_walk: the next saved step from any number on, asked for in bulk") {
    const told_trial run{{{"a", at_steps({0, 3, 10, 11})}}};
    detail::step_walk walk{run};
    CHECK(walk.next(0) == 0);
    CHECK(walk.next(1) == 3);
    CHECK(walk.next(4) == 10);
    CHECK(walk.next(11) == 11);
    CHECK(run.asked == 1);
    CHECK_FALSE(walk.next(12).has_value());
    CHECK(run.asked == 2);
}

TEST_CASE("step_walk: tells a trial of the next four steps, of each once, of none from the end on") {
    const told_trial run{{{"a", at_steps({0, 2, 4, 6, 8, 10, 12})}}};
    detail::step_walk walk{run};
    CHECK(walk.next(0) == 0);
    walk.read_ahead({});
    CHECK(run.told == steps_list{2, 4, 6, 8});
    CHECK(walk.next(1) == 2);
    walk.read_ahead(11);
    CHECK(run.told == steps_list{2, 4, 6, 8, 10});
    CHECK(walk.next(3) == 4);
    walk.read_ahead(11);
    CHECK(run.told == steps_list{2, 4, 6, 8, 10});
}

TEST_CASE("step_walk: finds steps that came after it had walked all that it knew, when the trial has seen them") {
    memory_storage store = stored({0, 1}, false);
    const memory_trial run{store};
    detail::step_walk walk{run};
    CHECK(walk.next(0) == 0);
    CHECK(walk.next(1) == 1);
    run_builder{store}.step({.step = 5, .tensors = {tensor_of<float>("w", {1})}});
    CHECK_FALSE(walk.next(2).has_value());  // the wait is what looks
    run.refresh();
    CHECK(walk.next(2) == 5);
}
