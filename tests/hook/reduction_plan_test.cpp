#include <smdebug/hook/tensor_record.hpp>

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

using namespace smdebug;
using namespace smdebug::detail;

namespace {

std::vector<std::string> names(const reduction_plan& plan) {
    std::vector<std::string> out;
    for (const reduction_key key : plan.order) {
        out.push_back(key.name());
    }
    return out;
}

std::string wrong_with(const reduction_config& config) {
    try {
        static_cast<void>(make_reduction_plan(config, "here"));
    } catch (const value_error& thrown) {
        return std::string{thrown.message()};
    }
    return "";
}

}  // namespace

TEST_CASE(
    "reduction_plan: the order is plain, norms, of magnitudes, norms of magnitudes, as the Python package writes") {
    const std::vector<std::string> expected{"min", "max", "mean",    "std",      "variance", "sum",   "prod",
                                            "l1",  "l2",  "abs_min", "abs_mean", "abs_l1",   "abs_l2"};
    const reduction_plan four_lists =
        make_reduction_plan({.reductions = {"min", "max", "mean", "std", "variance", "sum", "prod"},
                             .abs_reductions = {"min", "mean"},
                             .norms = {"l1", "l2"},
                             .abs_norms = {"l1", "l2"},
                             .save_raw_tensor = true});
    CHECK(names(four_lists) == expected);
    CHECK(four_lists.raw);
    CHECK_FALSE(four_lists.shape);
    // As one text in a file: whatever order that has.
    const reduction_plan one_list =
        make_reduction_plan({.reductions = {"abs_l1_norm", "min", "max", "l1_norm", "mean", "std", "abs_min",
                                            "variance", "sum", "l2", "prod", "abs_mean", "abs_l2"},
                             .save_shape = true});
    CHECK(names(one_list) == expected);
    CHECK(one_list.wanted == four_lists.wanted);
    CHECK_FALSE(one_list.raw);
    CHECK(one_list.shape);
}

TEST_CASE("reduction_plan: within a group the config's order stays, and each is there once") {
    const reduction_plan plan = make_reduction_plan(
        {.reductions = {"mean", "min", "mean", "l2", "l2_norm"}, .abs_reductions = {"max"}, .norms = {"l2", "l1"}});
    CHECK(names(plan) == std::vector<std::string>{"mean", "min", "l2", "l1", "abs_max"});
    CHECK(plan.wanted == (reduction_set{reduction::mean} | reduction::min | reduction::l2 | reduction::l1 |
                          reduction_set{reduction::max, true}));
}

TEST_CASE("reduction_plan: an empty config writes nothing") {
    CHECK(make_reduction_plan({}).empty());
    CHECK_FALSE(make_reduction_plan({.save_shape = true}).empty());
}

TEST_CASE("reduction_plan: adds what another one writes, each once") {
    reduction_plan plan = make_reduction_plan({.reductions = {"min", "abs_max"}});
    plan.add(make_reduction_plan({.reductions = {"abs_max", "mean"}, .save_shape = true}));
    CHECK(names(plan) == std::vector<std::string>{"min", "abs_max", "mean"});
    CHECK(plan.shape);
    CHECK_FALSE(plan.raw);
    plan.add({.raw = true});
    CHECK(plan.raw);
    plan.clear();
    CHECK(plan.empty());
    CHECK(plan.wanted.empty());
}

TEST_CASE("reduction_plan: unknown names are refused with a list of the known ones") {
    CHECK(wrong_with({.reductions = {"median"}}) ==
          "here.reductions names \"median\", which is none of: min, max, mean, std, variance, sum, prod, l1_norm, "
          "l2_norm, nor one of these behind abs_");
    CHECK(wrong_with({.norms = {"min"}}) == "here.norms names \"min\", which is none of: l1, l2");
    CHECK(wrong_with({.abs_norms = {"l3"}}) == "here.abs_norms names \"l3\", which is none of: l1, l2");
    CHECK(wrong_with({.abs_reductions = {"l1"}}) ==
          "here.abs_reductions names \"l1\", which is none of: min, max, mean, std, variance, sum, prod");
    for (const char* bad : {"", "abs_", "min_norm", "_norm", "l1_norm_norm", "abs_abs_min", "abs_mean_norm", "Min"}) {
        CAPTURE(bad);
        CHECK_FALSE(wrong_with({.reductions = {bad}}).empty());
    }
}
