#include <smdebug/trial/tensor_reader.hpp>

#include "support/run_builder.hpp"

#include <smdebug/trial/basic_trial.hpp>

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace smdebug;
using namespace smdebug_test;

namespace {

memory_storage sample() {
    memory_storage store;
    run_builder build{store};
    build.collections({"worker_0", "worker_1"});
    for (const char* worker : {"worker_0", "worker_1"}) {
        build.step({.step = 4,
                    .tensors = {tensor_of<float>("w", {1, 2}), tensor_of<float>("smdebug/reductions/min/odd", {7}),
                                tensor_of<float>("smdebug/reductions/max/pair", {1, 2})},
                    .mode_step = 2,
                    .worker = worker});
    }
    build.end();
    return store;
}

}  // namespace

TEST_CASE("tensor_reader: finds the files of a step by global and by mode step, and one worker's") {
    const memory_trial run{sample()};
    const tensor_reader<memory_trial::state_type> w{run.state(), "w"};
    CHECK(w.look(4, mode::global).files.size() == 2);
    CHECK(w.look(2, mode::train).files.size() == 2);
    CHECK(w.look(2, mode::eval).files.empty());
    const auto second = w.locate(4, mode::global, "worker_1");
    REQUIRE(second.has_value());
    CHECK(second->from->workers[second->held->worker] == "worker_1");
    CHECK(w.read_values(*second)->elements<float>()[1] == 2);
    CHECK(w.locate(4, mode::global, "nobody").failure().where == "nobody");
    CHECK(w.compute(*second, {reduction::sum, false}).has_value());
}

TEST_CASE("tensor_reader: a saved reduction is read, one that is no single number is told") {
    const memory_trial run{sample()};
    CHECK(run.tensor("odd").reduction_value(4, reduction::min) == 7);
    const auto pair = run.tensor("pair").find_reduction(4, reduction::max);
    REQUIRE_FALSE(pair.has_value());
    CHECK(pair.failure().why == absence::wrong_dtype);
    CHECK(pair.failure().note.find("max") != std::string::npos);
}
