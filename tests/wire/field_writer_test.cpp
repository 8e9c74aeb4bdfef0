#include <smdebug/wire/field.hpp>

#include "support/test.hpp"

#include "messages.hpp"

namespace wire = smdebug::detail::wire;
using namespace std::literals;
using wire::field_writer;

static_assert(wire::tag_size(15) == 1 && wire::tag_size(16) == 2 && wire::tag_size(wire::max_field_number) == 5);
static_assert(wire::varint_field_size(1, 150) == 3);
static_assert(wire::fixed32_field_size(1) == 5 && wire::fixed64_field_size(16) == 10);
static_assert(wire::delimited_field_size(2, 7) == 9 && wire::delimited_field_size(2, 128) == 131);

TEST_CASE("field_writer: writes the bytes that protobuf's documentation shows") {
    struct row {
        const char* what;
        void (*write)(field_writer&);
        std::string_view bytes;
    };
    for (const row& each :
         {row{"varint", [](field_writer& w) { w.write_varint(1, 150); }, "\x08\x96\x01"sv},
          {"text", [](field_writer& w) { w.write_text(2, "testing"); }, "\x12\x07testing"sv},
          {"message",
           [](field_writer& w) {
               w.begin_message(3, 3);
               w.write_varint(1, 150);
           },
           "\x1a\x03\x08\x96\x01"sv},
          {"int", [](field_writer& w) { w.write_int(1, -2); }, "\x08\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01"sv},
          {"float", [](field_writer& w) { w.write_float(1, 1.5F); }, "\x0d\x00\x00\xc0\x3f"sv},
          {"double", [](field_writer& w) { w.write_double(1, 1.5); }, "\x09\x00\x00\x00\x00\x00\x00\xf8\x3f"sv}}) {
        CAPTURE(each.what);
        CHECK(messages::written(each.write) == messages::of(each.bytes));
    }
}

TEST_CASE("field_writer: the sizes computed in advance are those written") {
    for (const wire::field_number number : {1U, 15U, 16U, 2047U, 2048U, wire::max_field_number}) {
        for (const std::uint64_t value : {std::uint64_t{0}, std::uint64_t{128}, ~std::uint64_t{0}}) {
            CHECK(messages::written([&](field_writer& w) { w.write_varint(number, value); }).size() ==
                  wire::varint_field_size(number, value));
        }
        CHECK(messages::written([&](field_writer& w) { w.write_float(number, 1); }).size() ==
              wire::fixed32_field_size(number));
        CHECK(messages::written([&](field_writer& w) { w.write_double(number, 1); }).size() ==
              wire::fixed64_field_size(number));
        for (const std::size_t size : {0U, 127U, 128U, 20000U}) {
            CHECK(messages::written([&](field_writer& w) { w.write_text(number, std::string(size, 'x')); }).size() ==
                  wire::delimited_field_size(number, size));
        }
    }
}

TEST_CASE("field_writer: appends behind what the buffer holds") {
    messages::bytes buffer = messages::of("before");
    field_writer{buffer}.write_varint(1, 1);
    CHECK(buffer == messages::of("before\x08\x01"sv));
}
