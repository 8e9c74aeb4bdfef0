#include <smdebug/rules/judge/learned_judge.hpp>

#include "rules/built_in/history_runs.hpp"

#include <smdebug/trial/basic_trial.hpp>

#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug_test;
namespace data = smdebug::detail::learn;

namespace {

data::number_set l2_alone() {
    data::number_set kept;
    kept.insert(data::number::l2);
    return kept;
}

lookup<rules::detail::learned_save> look_at(const memory_storage& store, const std::string& tensor) {
    const trial run{store};
    const auto handle = run.tensor(tensor);
    const std::string worker = "worker_0";
    return rules::detail::look_at_save(rules::detail::saved_tensor{handle, tensor, 0, worker}, l2_alone());
}

memory_storage with(const written_tensor& tensor) { return run_of({{.step = 0, .tensors = {tensor}}}); }

}  // namespace

TEST_CASE("a learned save: values, with the wanted numbers") {
    const auto found = look_at(with(tensor_of<float>("w", {3, 4}, {2})), "w");
    REQUIRE(found);
    CHECK(found->look.has_values);
    CHECK(found->look.type == dtype::float32);
    CHECK(*found->shape == shape_type{2});
    CHECK(found->look[data::number::l2] == 5);
    CHECK_FALSE(found->look.has.contains(data::number::zeros));
    CHECK(found->look.bad == false);
    CHECK(found->look.least == 3);
}

TEST_CASE("a learned save: saved reductions, a shape alone, text") {
    const auto reduced = look_at(with(tensor_of<float>("smdebug/reductions/l2/w", {7}, {})), "w");
    REQUIRE(reduced);
    CHECK_FALSE(reduced->look.has_values);
    CHECK(reduced->look[data::number::l2] == 7);
    CHECK_FALSE(reduced->shape.has_value());
    CHECK(reduced->look.content.what == data::save_content::kind::reductions);
    const auto shape = look_at(run_of({{.step = 0,
                                        .tensors = {tensor_of<float>("v", {1})},
                                        .shapes = {{.name = "w", .original_name = "w", .extents = {2, 3}}}}}),
                               "w");
    REQUIRE(shape);
    CHECK(*shape->shape == shape_type{2, 3});
    CHECK(shape->look.size == 6U);
    CHECK(shape->look.content.what == data::save_content::kind::none);
    const auto text = look_at(with({.name = "w", .type = dtype::string, .shape = {1}, .strings = {"a"}}), "w");
    REQUIRE(text);
    CHECK(text->look.is_void);
}

TEST_CASE("a learned save: what cannot be read") {
    memory_storage store = with(tensor_of<float>("w", {3, 4}));
    damage(store, 0);
    const auto lost = look_at(store, "w");
    REQUIRE_FALSE(lost);
    CHECK(is_lost(lost.error()));
}
