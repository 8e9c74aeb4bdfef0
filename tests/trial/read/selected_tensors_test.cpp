#include <smdebug/trial/read/selected_tensors.hpp>

#include "support/run_builder.hpp"
#include "support/test.hpp"

#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/trial/basic_trial.hpp>
#include <smdebug/trial/trial_access.hpp>

using namespace smdebug;
using namespace smdebug::detail;
using namespace smdebug_test;
using texts = std::vector<std::string>;

namespace {

std::shared_ptr<const catalog> a_catalog() {
    memory_storage store;
    run_builder{store}
        .collections({"worker_0"}, {{"weights", {"w1", "w2"}}, {"empty", {}}})
        .step({.step = 3,
               .tensors = {tensor_of<float>("w1", {1}), tensor_of<float>("w2", {1}), tensor_of<float>("loss", {1})},
               .shapes = {{"shaped", "original", {2}}}})
        .step({.step = 4, .tensors = {tensor_of<float>("w1", {1})}, .mode = mode::eval, .mode_step = 0})
        .end();
    return catalog_of(memory_trial{store});
}

texts names_of(const tensor_selection& which) {
    const auto from = a_catalog();
    const smdebug::detail::selected_tensors chosen{which, *from};
    texts found;
    for (const std::string& name : from->tensor_names(mode::global)) {
        if (chosen.contains(*from->names->find(name))) {
            found.push_back(name);
        }
    }
    CHECK(chosen.empty() == found.empty());
    return found;
}

std::vector<step_number> steps_of(const tensor_selection& which) {
    const auto from = a_catalog();
    const smdebug::detail::selected_tensors chosen{which, *from};
    std::vector<step_number> found;
    for (const catalog::file* held : from->files_in({})) {
        if (chosen.contains(*held)) {
            found.push_back(held->step);
        }
    }
    return found;
}

}  // namespace

TEST_CASE("selected_tensors: a name must match every given criterion") {
    CHECK(names_of({}) == texts{"loss", "shaped", "w1", "w2"});
    CHECK(names_of({.names = texts{"w2", "absent"}}) == texts{"w2"});
    CHECK(names_of({.regex = {"^w", "loss"}}) == texts{"loss", "w1", "w2"});
    CHECK(names_of({.regex = texts{}}).empty());
    CHECK(names_of({.collection = "weights"}) == texts{"w1", "w2"});
    CHECK(names_of({.collection = "empty"}).empty());
    CHECK(names_of({.names = texts{"w1", "loss"}, .regex = "1", .collection = "weights"}) == texts{"w1"});
    CHECK(names_of({.regex = "original"}).empty());  // the framework's name of a tensor is not a tensor
    CHECK_THROWS_WITH_AS(names_of({.collection = "wieghts"}),
                         "CollectionUnavailable: Collection wieghts was not saved. Did you mean weights?", not_found);
    CHECK_THROWS_WITH_AS(names_of({.collection = "x"}),
                         "CollectionUnavailable: Collection x was not saved. There are: empty, weights", not_found);
    CHECK_THROWS_AS(names_of({.regex = "["}), value_error);
}

TEST_CASE("selected_tensors: tables of histograms are selected on request only") {
    memory_storage store;
    run_builder{store}
        .collections({"worker_0"}, {{"weights", {"w"}}, {"histograms", {"w"}}})
        .step({.step = 3,
               .tensors = {tensor_of<float>("w", {1}), tensor_of<float>("w [buckets]", {1}), tensor_of<float>("v", {1}),
                           tensor_of<float>("v [buckets]", {1})}})
        .end();
    const auto from = catalog_of(memory_trial{store});
    struct choice {
        tensor_selection which;
        texts names;
    };
    for (const auto& [which, names] : {choice{{}, {"v", "v [buckets]", "w"}},  // v is not a histogram
                                       {{.tables = true}, {"v", "v [buckets]", "w", "w [buckets]"}},
                                       {{.regex = "w"}, {"w"}},
                                       {{.regex = "^w$", .tables = true}, {"w", "w [buckets]"}},
                                       {{.regex = "v", .tables = true}, {"v", "v [buckets]"}},
                                       {{.collection = "weights"}, {"w"}},
                                       {{.names = texts{"w [buckets]"}}, {"w [buckets]"}}}) {
        const smdebug::detail::selected_tensors chosen{which, *from};
        texts found;
        for (const std::string& name : from->tensor_names(mode::global)) {
            if (chosen.contains(*from->names->find(name))) {
                found.push_back(name);
            }
        }
        CHECK(found == names);
    }
}

TEST_CASE("selected_tensors: everything is selected without a list of names") {
    const auto from = a_catalog();
    CHECK(smdebug::detail::selected_tensors{{.range = {4, {}}}, *from}.names() == nullptr);
    CHECK(smdebug::detail::selected_tensors{{.regex = "w"}, *from}.names() != nullptr);
}

TEST_CASE("selected_tensors: files by step, mode and worker") {
    using steps = std::vector<step_number>;
    CHECK(steps_of({}) == steps{3, 4});
    CHECK(steps_of({.range = {4, {}}}) == steps{4});
    CHECK(steps_of({.range = {{}, 4}}) == steps{3});
    CHECK(steps_of({.mode = mode::eval}) == steps{4});
    CHECK(steps_of({.mode = mode::predict}).empty());
    CHECK(steps_of({.worker = "worker_0"}) == steps{3, 4});
    CHECK(steps_of({.worker = "worker_1"}).empty());
}
