#include <smdebug/hook/hook_options.hpp>

#include "support/test.hpp"

#include <smdebug/core/error.hpp>

using namespace smdebug;

namespace {

std::string wrong_with(const hook_options& options) {
    return smdebug_test::message_of<value_error>([&] { check(options); });
}

bool has(const std::string& text, std::string_view piece) { return text.find(piece) != std::string::npos; }

}  // namespace

TEST_CASE("hook_options: the defaults are the Python package's, and good") {
    const hook_options options;
    CHECK(wrong_with(options).empty());
    CHECK(options.save_config.save_interval == 500);
    CHECK_FALSE(options.reduction_config.has_value());
    CHECK(options.include_workers == include_workers::one);
    CHECK(options.worker.empty());  // worker_0, or as a launcher says: with_rank_test.cpp
    CHECK(options.payload_checksum == record::footer_kind::package_constant);
    CHECK(options.background.pool_bytes == 0);
    CHECK(options.mark_end_of_job);
}

TEST_CASE("hook_options: reads as the call of a function with named arguments") {
    const hook_options options{.out_dir = "runs/mlp",
                               .save_config = {.save_interval = 10},
                               .reduction_config = {{.reductions = {"mean"}, .norms = {"l2"}}},
                               .collections = {{.name = "relu", .include_regex = {"relu"}}},
                               .include_collections = {"weights", "relu"},
                               .background = {.pool_bytes = 1U << 20U, .when_full = full_pool::drop}};
    CHECK(wrong_with(options).empty());
}

TEST_CASE("hook_options: a worker's name has to come back from a file's name as it was") {
    for (const char* good :
         {"worker_0", "w", "rank-3", "_odd", "/job:worker/replica:0/task:1/device:GPU:0", "w\xC3\xA4"}) {
        CAPTURE(good);
        CHECK(wrong_with({.worker = good}).empty());
    }
    CHECK(wrong_with({.worker = ""}).empty());  // the launcher says it
    CHECK(wrong_with({.worker = std::string(200, 'w')}).empty());
    CHECK(has(wrong_with({.worker = std::string(201, 'w')}), "a name of 201 bytes"));
    CHECK(wrong_with({.worker = std::string(100'000, 'w')}).size() < 200);
    CHECK(has(wrong_with({.worker = "a/b"}), "worker is \"a/b\": only the name of a TensorFlow device"));
    CHECK(has(wrong_with({.worker = "../w"}), "only the name of a TensorFlow device"));
    CHECK(has(wrong_with({.worker = ".."}), "no file or folder can have that name"));
    CHECK(has(wrong_with({.worker = "w\xFF"}), "not UTF-8"));
    CHECK(has(wrong_with({.worker = std::string{"a\0b", 3}}), "byte 0"));
    CHECK(has(wrong_with({.worker = "_job-a_replica-0"}), "would be taken for \"/job:a/replica:0\""));
    CHECK(has(wrong_with({.worker = "/job:a_b/replica:0"}), "would be taken for \"/job:a/b/replica:0\""));
}

TEST_CASE("hook_options: numbers out of range are refused by name and value") {
    CHECK(wrong_with({.num_workers = 0}) == "num_workers is 0: a job has 1 or more");
    CHECK(wrong_with({.init_step = -1}) == "init_step is -1: steps are counted from 0 up to 4611686018427387903");
    CHECK(has(wrong_with({.tensorboard_interval = std::chrono::milliseconds{-5}}), "tensorboard_interval is -5 ms"));
    CHECK(has(wrong_with({.save_config = {.save_interval = 0}}), "save_config.save_interval is 0"));
    CHECK(has(wrong_with({.collections = {{.name = "g", .save_config = {{{mode::eval, {.end_step = -1}}}}}}}),
              "collection \"g\": save_config[EVAL].end_step is -1"));
}

TEST_CASE("hook_options: errors for unknown reductions and invalid regexes name their place") {
    CHECK(has(wrong_with({.reduction_config = {{.reductions = {"median"}}}}),
              "reduction_config.reductions names \"median\""));
    CHECK(has(wrong_with({.collections = {{.name = "g", .reduction_config = {{.norms = {"l9"}}}}}}),
              "collection \"g\": reduction_config.norms names \"l9\""));
    CHECK(has(wrong_with({.loss_regex = {"(("}}), "loss_regex: the regular expression \"((\""));
    CHECK(has(wrong_with({.include_regex = {"ok", "(("}}), "include_regex: the regular expression \"((\""));
    CHECK(has(wrong_with({.collections = {{.name = "g", .include_regex = {"[a"}}}}),
              "collection \"g\": include_regex: the regular expression \"[a\""));
}

TEST_CASE("hook_options: collections have names, each its own") {
    CHECK(has(wrong_with({.collections = {{.name = ""}}}), "empty name"));
    CHECK(has(wrong_with({.include_collections = {""}}), "empty name"));
    CHECK(has(wrong_with({.include_collections = {"\xFF"}}), "not UTF-8"));
    CHECK(has(wrong_with({.collections = {{.name = "g", .tensor_names = {"\xFF"}}}}), "not UTF-8"));
    CHECK(wrong_with({.collections = {{.name = "g"}, {.name = "h"}, {.name = "g"}}}) ==
          "collection \"g\" is configured twice");
}

TEST_CASE(
    "hook_options: a collection that is included under a misspelt name is refused, with those that may be meant") {
    CHECK(wrong_with({.include_collections = {"weights", "wieghts"}}) ==
          "include_collections: there is no collection \"wieghts\". Did you mean weights? One of your own goes into "
          "`collections`, too");
    CHECK(has(wrong_with({.include_collections = {"bias"}}), "Did you mean biases?"));
    CHECK(has(wrong_with({.include_collections = {"Gradients"}}), "Did you mean gradients?"));
    CHECK(
        has(wrong_with({.collections = {{.name = "tanhs"}}, .include_collections = {"tanh"}}), "Did you mean tanhs?"));
    // What is not near to any waits for what is put into it by name; so does what begins with one.
    check(hook_options{.include_collections = {"mine", "big", "weights_2", "optimizer_variables", "labels"}});
    check(hook_options{.collections = {{.name = "wieghts"}}, .include_collections = {"wieghts"}});
}

TEST_CASE("hook_options: of several workers it has to be clear which one writes, and where they go on") {
    hook_options options{.worker = "rank_1", .num_workers = 2};
    CHECK_THROWS_WITH_AS(
        check(options),
        "SMDebugValueError: worker is \"rank_1\" and include_workers is one: of several workers worker_0 "
        "writes, so name them worker_0, worker_1, ..., or include all",
        value_error);
    options.include_workers = include_workers::all;
    CHECK_NOTHROW(check(options));
    options.existing = existing_run::resume;
    CHECK_THROWS_AS(check(options), value_error);
    options.init_step = 12;
    CHECK_NOTHROW(check(options));
    CHECK_NOTHROW(check(hook_options{.worker = "rank_1"}));
    CHECK_NOTHROW(check(hook_options{.worker = "worker_17", .num_workers = 18}));
    CHECK_NOTHROW(check(hook_options{.existing = existing_run::resume}));
}
