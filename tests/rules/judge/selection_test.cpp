#include <smdebug/rules/judge/saved_tensor.hpp>

#include "support/run_builder.hpp"
#include "support/test.hpp"

#include <smdebug/trial/basic_trial.hpp>

using namespace smdebug;
using namespace smdebug::rules::detail;
using namespace smdebug::rules;
using namespace smdebug_test;
using names = std::vector<std::string>;

TEST_CASE("selection: the union of collections and regexes, of what was saved at the step") {
    memory_storage store;
    run_builder build{store};
    build.collections({"worker_0", "worker_1"}, {{"gradients", {"g1", "g2"}}});
    for (const std::string worker : {"worker_0", "worker_1"}) {
        build.step({.step = 0,
                    .tensors = {tensor_of<float>("g1", {1}), tensor_of<float>("loss", {1}), tensor_of<float>("w", {1})},
                    .worker = worker});
    }
    build.end();
    const memory_trial run{store};
    CHECK(rules::tensors_to_check(run, 0, {}) == names{"g1", "loss", "w"});
    CHECK(rules::tensors_to_check(run, 0, {.collection_names = "gradients"}) == names{"g1"});
    CHECK(rules::tensors_to_check(run, 0, {.collection_names = {"gradients", "never_exported"}}) == names{"g1"});
    CHECK(rules::tensors_to_check(run, 0, {.tensor_regex = "^l"}) == names{"loss"});
    CHECK(rules::tensors_to_check(run, 0, {.collection_names = "gradients", .tensor_regex = {"^g", "^w"}}) ==
          names{"g1", "w"});
    CHECK(rules::tensors_to_check(run, 7, {}).empty());
    CHECK_THROWS_AS(static_cast<void>(rules::tensors_to_check(run, 0, {.tensor_regex = "("})), value_error);
    CHECK(workers_to_check(run.tensor("w"), 0, false) == names{"worker_0"});
    CHECK(workers_to_check(run.tensor("w"), 0, true) == names{"worker_0", "worker_1"});
}

TEST_CASE("selection: media without values, and tables of histograms, are passed over") {
    memory_storage store;
    run_builder build{store};
    build.collections({"worker_0"}, {{"media", {"image", "music"}}, {"histograms", {"w"}}});
    build.step({.step = 0,
                .tensors = {tensor_of<float>("music", {1}), tensor_of<float>("w", {1}),
                            tensor_of<float>("w [buckets]", {1}), tensor_of<float>("v [buckets]", {1})},
                .shapes = {{"image", "image", {3}}}});
    build.end();
    const memory_trial run{store};
    CHECK(run.tensor("image").has_only_shape(0));
    CHECK_FALSE(run.tensor("w").has_only_shape(0));
    CHECK(rules::tensors_to_check(run, 0, {}) ==
          names{"music", "v [buckets]", "w"});  // any user may have a collection "media"
    CHECK(rules::tensors_to_check(run, 0, {.tensor_regex = "i|w"}) == names{"music", "w"});
    CHECK(rules::tensors_to_check(run, 0, {.collection_names = "media"}) == names{"music"});
}

TEST_CASE("selection: a note distinguishes damage from absence; a dtype without the reduction gives none") {
    const finding damaged = note_about("t", "w", 3, {.why = lookup_failure_kind::damaged, .where = "events/x"});
    CHECK(damaged.damaged);
    CHECK_FALSE(damaged.met);
    CHECK(damaged.message.starts_with("CorruptRecord: events/x"));
    CHECK(note_about("t", "w", 3, {.why = lookup_failure_kind::event_file_missing, .where = "events/x"}).damaged);
    const finding missing = note_about("t", "w", 3, {.why = lookup_failure_kind::tensor_not_saved});
    CHECK_FALSE(missing.damaged);
    CHECK(missing.message.starts_with("TensorUnavailableForStep"));
    CHECK(note_about("t", "w", 3, {.why = lookup_failure_kind::wrong_dtype}).message.empty());
}
