#include <smdebug/index/collection.hpp>

#include "support/test.hpp"

using namespace smdebug;

TEST_CASE("collection: the defaults are the Python package's") {
    const save_config_mode when;
    CHECK(when.save_interval == 500);
    CHECK(when.save_steps.empty());
    CHECK_FALSE(when.start_step.has_value());
    const collection group{.name = "g"};
    CHECK(group.save_histogram);
    CHECK(group.include_regex.empty());
    CHECK_FALSE(group.save_config.has_value());
    CHECK_FALSE(group.reduction_config.has_value());
}

TEST_CASE("collection: compares by everything it holds") {
    const collection group{.name = "g", .reduction_config = {{.norms = {"l1"}}}};
    collection other = group;
    CHECK(other == group);
    other.reduction_config->abs_norms = {"l1"};
    CHECK_FALSE(other == group);
}
