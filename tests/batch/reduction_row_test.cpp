#include <smdebug/batch/row_spool.hpp>

#include "support/test.hpp"

namespace smd = smdebug;

TEST_CASE("reduction_row: a plain one has no values, and knows no shape and no reduction") {
    const smd::reduction_row row;
    CHECK(row.dtype.empty());
    CHECK_FALSE(row.shape.has_value());
    CHECK(row.reductions.computed.empty());
    CHECK(row.mode == smd::mode::global);
}
