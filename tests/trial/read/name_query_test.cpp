#include <smdebug/trial/read/selected_tensors.hpp>

#include "support/erased_storage.hpp"
#include "support/run_builder.hpp"
#include "support/test.hpp"

#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/trial/load/loader.hpp>

using namespace smdebug;
using namespace smdebug::detail;
using namespace smdebug_test;
using names = std::vector<std::string>;

namespace {

std::shared_ptr<const catalog> run() {
    memory_storage store;
    run_builder{store}
        .collections({"worker_0"}, {{"losses", {"loss", "not_saved"}}, {"empty", {}}})
        .step({.step = 0, .tensors = {tensor_of<float>("loss", {1}), tensor_of<float>("relu_output", {1})}})
        .step({.step = 4,
               .tensors = {tensor_of<float>("loss", {1}), tensor_of<float>("eval_only", {1})},
               .mode = mode::eval,
               .mode_step = 0});
    const trial_options options;
    return std::make_shared<const catalog>(storage_loader{store, options}.open());
}

names ask(const tensor_names_options& which) {
    return query_names(which, [] { return run(); });
}

}  // namespace

TEST_CASE("tensor_names: by step, mode, regex and collection, and by several at once") {
    CHECK(ask({}) == names{"eval_only", "loss", "relu_output"});
    CHECK(ask({.step = 0}) == names{"loss", "relu_output"});
    CHECK(ask({.step = 0, .mode = mode::eval}) == names{"eval_only", "loss"});
    CHECK(ask({.mode = mode::eval}) == names{"eval_only", "loss"});
    CHECK(ask({.mode = mode::train}) == names{"loss", "relu_output"});
    CHECK(ask({.regex = "relu"}) == names{"relu_output"});
    CHECK(ask({.regex = {"relu", "^l"}}) == names{"loss", "relu_output"});
    CHECK(ask({.regex = "loss", .step = 4}) == names{"loss"});
    CHECK(ask({.collection = "losses"}) == names{"loss"});
    CHECK(ask({.collection = "losses", .step = 0}) == names{"loss"});
}

TEST_CASE("tensor_names: an unknown step, mode or collection has none, and nothing is created") {
    CHECK(ask({.step = 1}).empty());
    CHECK(ask({.step = 5, .mode = mode::train}).empty());
    CHECK(ask({.mode = mode::predict}).empty());
    CHECK(ask({.collection = "unknown"}).empty());
    CHECK(ask({.collection = "empty"}).empty());
    CHECK(ask({.regex = std::vector<std::string>{}}).empty());
}

TEST_CASE("tensor_names: a bad regex, or regex and collection together, are rejected before anything is loaded") {
    bool loaded = false;
    const auto load = [&] {
        loaded = true;
        return run();
    };
    CHECK_THROWS_AS(static_cast<void>(query_names({.regex = "a", .collection = "losses"}, load)), value_error);
    CHECK_THROWS_AS(static_cast<void>(query_names({.regex = "("}, load)), value_error);
    CHECK_FALSE(loaded);
}
