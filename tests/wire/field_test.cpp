#include <smdebug/wire/field.hpp>

#include "support/test.hpp"

namespace wire = smdebug::detail::wire;
using wire::tag;
using wire::wire_type;

static_assert(tag{1, wire_type::varint}.code() == 0x08);
static_assert(tag{2, wire_type::length_delimited}.code() == 0x12);
static_assert(tag{1, wire_type::fixed64}.code() == 0x09);
static_assert(tag::from_code(0x2a) == tag{5, wire_type::length_delimited});
static_assert(tag::from_code(0x15) == tag{2, wire_type::fixed32});
static_assert(tag::from_code(tag{wire::max_field_number, wire_type::fixed32}.code()) ==
              tag{wire::max_field_number, wire_type::fixed32});

TEST_CASE("tag: number 0, numbers too large and unknown wire types are none") {
    struct row {
        const char* what;
        std::uint64_t code;
    };
    for (const row& each : {row{"number 0", 0x00},
                            {"number 0, with another wire type", 0x02},
                            {"wire type 6", 0x0e},
                            {"wire type 7", 0x0f},
                            {"the first number that is too large", (std::uint64_t{wire::max_field_number} + 1) << 3},
                            {"all bits", std::numeric_limits<std::uint64_t>::max()}}) {
        CAPTURE(each.what);
        CHECK_FALSE(tag::from_code(each.code));
    }
}

TEST_CASE("field: reads its bits as the type that the message declares") {
    wire::field f{3, wire_type::varint, std::numeric_limits<std::uint64_t>::max(), {}};
    CHECK(f.as_int64() == -1);
    CHECK(f.as_bool());
    CHECK(f.is(3, wire_type::varint));
    CHECK_FALSE(f.is(3, wire_type::fixed64));
    CHECK_FALSE(f.is(4, wire_type::varint));
    f.scalar = 0x3fc00000;
    CHECK(f.as_float() == 1.5F);
    f.scalar = 0xbff8000000000000;
    CHECK(f.as_double() == -1.5);
    f.bytes = smdebug::as_bytes("text");
    CHECK(f.as_text() == "text");
}
