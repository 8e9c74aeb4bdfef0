#include <smdebug/exporting/options.hpp>

#include "support/test.hpp"

using namespace smdebug;

TEST_CASE("export_options: by default all of a run, and nothing is replaced") {
    const export_options options;
    CHECK_FALSE(options.replace);
    CHECK_FALSE(options.values);
    CHECK_FALSE(options.tensors);
    CHECK(options.which.mode == mode::global);
    CHECK_FALSE(options.which.names.has_value());
    CHECK(options.how.threads == 1);
    const export_result nothing;
    CHECK(nothing.tensors + nothing.files + nothing.damaged + nothing.refused + nothing.without_values == 0);
}
