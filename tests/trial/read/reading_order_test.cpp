#include <smdebug/trial/read/reading_plan.hpp>

#include "support/run_builder.hpp"
#include "support/test.hpp"

#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/trial/basic_trial.hpp>
#include <smdebug/trial/trial_access.hpp>

using namespace smdebug;
using namespace smdebug::detail;
using namespace smdebug_test;
using texts = std::vector<std::string>;

TEST_CASE("reading_order: tensors come once, those with only a shape last; their reductions by index") {
    memory_storage store;
    run_builder{store}
        .collections()
        .step({.tensors = {tensor_of<float>("b", {1}), tensor_of<float>("smdebug/reductions/max/r", {4}, {}),
                           tensor_of<float>("b", {2}), tensor_of<float>("a", {3}),
                           tensor_of<float>("smdebug/reductions/min/r", {1}, {})},
               .shapes = {{"only", "only:0", {3}}, {"a", "a:0", {1}}}})
        .end();
    const memory_trial run{store};
    const auto from = catalog_of(run);
    const catalog::file& file = *from->files_in({}).at(0);
    texts seen;
    const auto note = [&](name_id name, const layout::entry* entry) {
        std::string line = (*from->names)[name];
        line += entry == nullptr ? " alone" : entry->what.kind == 0 ? " values" : "";
        each_saved(*from, file, name, reduction_set::all(), [&](reduction_key key, const layout::entry& saved) {
            CHECK(saved.what.name == name);
            line += " " + key.name();
        });
        seen.push_back(line);
    };
    each_tensor(
        *from, file, [](name_id) { return true; }, note);
    CHECK(seen == texts{"b values", "a values", "r min max", "only alone"});
    seen.clear();
    each_tensor(
        *from, file, [&](name_id name) { return (*from->names)[name] == "only"; }, note);
    CHECK(seen == texts{"only alone"});
}
