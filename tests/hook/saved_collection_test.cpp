#include <smdebug/hook/collection_set.hpp>
#include <smdebug/hook/hook_options.hpp>

#include <doctest/doctest.h>

#include <map>
#include <string>
#include <vector>

using namespace smdebug;
using namespace smdebug::detail;

namespace {

using texts = std::vector<std::string>;

const std::map<mode, save_config_mode> every_third = save_config{.save_interval = 3};
const reduction_config min_alone{.reductions = {"min"}};

}  // namespace

TEST_CASE("saved_collection: what is not said is filled in") {
    const saved_collection bare{{.name = "g"}, every_third, min_alone};
    CHECK(bare.configured.save_config == every_third);
    CHECK(bare.configured.reduction_config == min_alone);
    CHECK(bare.plan.order == std::vector<reduction_key>{{reduction::min, false}});
    CHECK(bare.when[place_of(mode::predict)].save_interval == 3);
    CHECK_FALSE(bare.included);
    CHECK_FALSE(bare.used);

    const saved_collection own{{.name = "g",
                                .save_config = {{{mode::eval, {.save_interval = 2}}}},
                                .reduction_config = {{.save_shape = true}}},
                               every_third,
                               min_alone};
    CHECK(own.when[place_of(mode::eval)].save_interval == 2);
    CHECK(own.when[place_of(mode::train)].save_interval == 3);
    CHECK(own.plan.order.empty());
    CHECK(own.plan.shape);
}

TEST_CASE("saved_collection: takes tensors by names and by regexes, its own or those that go with its name") {
    const saved_collection built_in{{.name = "weights"}, every_third, min_alone};
    CHECK(built_in.takes("fc.weight"));
    CHECK_FALSE(built_in.takes("gradient/fc.weight"));
    const saved_collection named{{.name = "weights", .tensor_names = {"x"}}, every_third, min_alone};
    CHECK(named.takes("x"));
    CHECK_FALSE(named.takes("fc.weight"));
    const saved_collection own{{.name = "weights", .include_regex = {"^a", "b$"}}, every_third, min_alone};
    CHECK(own.takes("ax"));
    CHECK(own.takes("xb"));
    CHECK_FALSE(own.takes("fc.weight"));
    CHECK_FALSE(saved_collection({.name = "all"}, every_third, min_alone).takes("x"));
}

TEST_CASE("saved_collection: exports the names that it was given and those that it has noted, in order") {
    saved_collection group{{.name = "g", .tensor_names = {"m"}}, every_third, min_alone};
    CHECK(group.note("z"));
    CHECK(group.note("a"));
    CHECK_FALSE(group.note("z"));
    CHECK_FALSE(group.note("m"));
    CHECK(group.takes("z"));
    CHECK(group.exported().tensor_names == texts{"a", "m", "z"});
    CHECK(group.configured.tensor_names == texts{"m"});
}

TEST_CASE("saved_collection: is due by its mode's settings; gradients only where training goes on") {
    const saved_collection group{{.name = "g"}, every_third, min_alone};
    CHECK(group.is_due(mode::eval, 3));
    CHECK_FALSE(group.is_due(mode::eval, 4));
    const saved_collection gradients{{.name = "gradients"}, every_third, min_alone};
    CHECK(gradients.is_due(mode::train, 3));
    CHECK(gradients.is_due(mode::global, 3));
    CHECK_FALSE(gradients.is_due(mode::eval, 3));
    CHECK_FALSE(gradients.is_due(mode::predict, 3));
}

TEST_CASE("saved_collection: single numbers are saved as they are") {
    const saved_collection losses{{.name = "losses", .reduction_config = min_alone}, every_third, min_alone};
    CHECK(losses.plan.raw);
    CHECK(losses.plan.order.empty());
    CHECK_FALSE(losses.configured.save_histogram);
    CHECK(losses.configured.reduction_config == reduction_config{.save_raw_tensor = true});
}
