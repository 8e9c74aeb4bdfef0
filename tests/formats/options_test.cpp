#include <smdebug/formats/options.hpp>

#include "support/test.hpp"

using namespace smdebug;

TEST_CASE("format_options: what lies at a path is found out, unless it is said") {
    const format_options usual;
    CHECK(usual.as == data_format::detect);
    CHECK(usual.step_regex.empty());
}
