#include <smdebug/tensor/proto_decoder.hpp>

#include "support/log_builder.hpp"
#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug_test;
using smdebug::detail::histogram_rows;
using smdebug::detail::read_histogram_message;

TEST_CASE("read_histogram_message: packed or one by one, without the empty buckets at both ends") {
    const std::string packed = proto::packed(6, {1, 2, 3}) + proto::packed(7, {0, 5, 0});
    std::string single;
    for (const double limit : {1.0, 2.0, 3.0}) {
        single += proto::fixed(6, limit);
    }
    for (const double count : {0.0, 5.0, 0.0}) {
        single += proto::fixed(7, count);
    }
    for (const std::string& lists : {packed, single}) {
        histogram_rows out;
        REQUIRE(read_histogram_message(as_bytes(proto::fixed(1, -1.0) + proto::fixed(2, 9.0) + lists), out) ==
                status::ok);
        CHECK(out.rows == std::vector<double>{-1, 9, 5});
    }
    histogram_rows out;
    CHECK(read_histogram_message({}, out) == status::ok);
    CHECK(out.buckets() == 0);
    CHECK(read_histogram_message(as_bytes(proto::packed(6, {1, 2}) + proto::packed(7, {1})), out) == status::malformed);
    CHECK(read_histogram_message(as_bytes(proto::text(6, "1234567")), out) == status::malformed);
}
