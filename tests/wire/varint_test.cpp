#include <smdebug/wire/field.hpp>

#include "support/test.hpp"

#include "messages.hpp"

namespace wire = smdebug::detail::wire;
using namespace std::literals;
using smdebug::byte_view;
using smdebug::status;

namespace {

constexpr auto max = std::numeric_limits<std::uint64_t>::max();

constexpr bool round_trips(std::uint64_t value) {
    const wire::varint_bytes encoded = wire::to_varint(value);
    byte_view rest = encoded.view();
    std::uint64_t decoded = ~value;
    return encoded.size == wire::varint_size(value) && wire::take_varint(rest, decoded) == status::ok &&
           decoded == value && rest.empty();
}

/// Bytes, and what take_varint() makes of them.
struct taken {
    std::string_view bytes;
    status code;
    std::uint64_t value;  ///< untouched, and so 7, after an error
};

void check(std::initializer_list<taken> all) {
    for (const taken& each : all) {
        CAPTURE(each.value);
        const auto bytes = messages::of(each.bytes);
        byte_view rest{bytes};
        std::uint64_t value = 7;
        CHECK(wire::take_varint(rest, value) == each.code);
        CHECK(value == each.value);
    }
}

}  // namespace

static_assert(round_trips(0) && round_trips(1) && round_trips(127) && round_trips(128) && round_trips(300));
static_assert(round_trips(max) && round_trips(max - 1) && round_trips(std::uint64_t{1} << 63));
static_assert(wire::varint_size(0) == 1 && wire::varint_size(127) == 1 && wire::varint_size(128) == 2);
static_assert(wire::varint_size(16383) == 2 && wire::varint_size(16384) == 3 && wire::varint_size(max) == 10);

TEST_CASE("take_varint: reads what protobuf's documentation shows") {
    check({{"\x01"sv, status::ok, 1},
           {"\x96\x01"sv, status::ok, 150},
           {"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"sv, status::ok, max}});  // -1 as an int64
}

TEST_CASE("take_varint: every number of bytes round-trips, and every prefix is truncated") {
    for (unsigned bit = 0; bit < 64; ++bit) {
        for (const std::uint64_t value : {std::uint64_t{1} << bit, (std::uint64_t{1} << bit) - 1}) {
            REQUIRE(round_trips(value));
            std::vector<std::byte> bytes;
            wire::append_varint(bytes, value);
            REQUIRE(bytes.size() == wire::varint_size(value));
            for (std::size_t size = 0; size < bytes.size(); ++size) {
                const auto cut = messages::prefix(bytes, size);
                byte_view rest{cut};
                std::uint64_t decoded = 42;
                REQUIRE(wire::take_varint(rest, decoded) == status::truncated);
                REQUIRE(decoded == 42);
                REQUIRE(rest.size() == size);
            }
        }
    }
}

TEST_CASE("take_varint: takes only its own bytes") {
    const auto bytes = messages::of("\x96\x01\x05"sv);
    byte_view rest{bytes};
    std::uint64_t value = 0;
    CHECK(wire::take_varint(rest, value) == status::ok);
    CHECK(rest.size() == 1);
    CHECK(wire::take_varint(rest, value) == status::ok);
    CHECK(value == 5);
}

TEST_CASE("take_varint: a longer form than needed is accepted") {
    check({{"\x80\x00"sv, status::ok, 0}, {"\x81\x80\x80\x80\x80\x80\x80\x80\x80\x00"sv, status::ok, 1}});
}

TEST_CASE("take_varint: more than 64 bits are malformed") {
    check({{"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02"sv, status::malformed, 7},
           {"\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01"sv, status::malformed, 7},
           {"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"sv, status::malformed, 7}});
}

TEST_CASE("take_varint: random numbers of every size round-trip") {
    std::mt19937_64 random{1};
    for (unsigned i = 0; i < 10000; ++i) {
        REQUIRE(round_trips(random() >> (i % 64)));
    }
}
