#include <smdebug/core/float_kinds.hpp>
#include <smdebug/rules/finding.hpp>

#include <doctest/doctest.h>

#include <cmath>

using namespace smdebug;

TEST_CASE("finding: a plain one says that nothing was found") {
    CHECK_FALSE(static_cast<bool>(finding{}));
    CHECK(static_cast<bool>(finding{.met = true}));
    CHECK(smdebug::is_nan(finding{}.value));
    CHECK(smdebug::is_nan(finding{}.threshold));
    CHECK_FALSE(finding{}.damaged);
}
