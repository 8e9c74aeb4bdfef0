#include <smdebug/core/float_kinds.hpp>
#include <smdebug/rules/finding.hpp>

#include "support/test.hpp"

using namespace smdebug;

TEST_CASE("finding: a plain one says that nothing was found") {
    CHECK_FALSE(static_cast<bool>(finding{}));
    CHECK(static_cast<bool>(finding{.met = true}));
    CHECK(smdebug::is_nan(finding{}.value));
    CHECK(smdebug::is_nan(finding{}.threshold));
    CHECK_FALSE(finding{}.damaged);
}

TEST_CASE("has_value: NaN is a value of what says what it is of, and none of a rule that only says yes") {
    CHECK_FALSE(smdebug::detail::has_value({.met = true}));
    CHECK(smdebug::detail::has_value({.met = true, .value = 0}));
    CHECK(smdebug::detail::has_value({.met = true, .tensor = "t"}));
    CHECK(smdebug::detail::has_value({.met = true, .message = "m"}));
}
