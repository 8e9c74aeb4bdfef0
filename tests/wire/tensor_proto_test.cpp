#include <smdebug/wire/tensor_proto.hpp>

#include "support/test.hpp"

#include "messages.hpp"

namespace wire = smdebug::detail::wire;
using namespace std::literals;
using smdebug::as_bytes;
using smdebug::as_text;
using smdebug::dtype;
using smdebug::shape_type;
using smdebug::status;
using wire::field_writer;

static_assert(wire::list_of(dtype::float32) == 5 && wire::list_of(dtype::float64) == 6);
static_assert(wire::list_of(dtype::int8) == 7 && wire::list_of(dtype::uint16) == 7);
static_assert(wire::list_of(dtype::uint32) == 16 && wire::list_of(dtype::uint64) == 17);
static_assert(wire::list_of(dtype::float8_e4m3fn) == 18 && wire::list_of(dtype::float8_e5m2) == 18);
static_assert(wire::list_of(dtype::bfloat16) == 13 && wire::list_of(dtype::float16) == 13);
static_assert(wire::list_of(dtype::invalid) == 0);

TEST_CASE("tensor_proto: writes what the Python package writes for a scalar") {
    const auto content = messages::of("\x00\x00\xa0\x3f"sv);
    const wire::tensor_fields fields{dtype::float32, {{}, "f/float32_0d"}, content, {}};
    const auto bytes = messages::written([&](field_writer& w) { encode(w, fields); });
    CHECK(bytes == messages::of("\x08\x01\x12\x00\x22\x04\x00\x00\xa0\x3f"sv));
    CHECK(bytes.size() == encoded_size(fields));
}

TEST_CASE("tensor_proto: writes what the Python package writes for strings: no dtype") {
    const std::array strings{"a"sv, ""sv};
    const shape_type extents{2};
    const wire::tensor_fields fields{dtype::invalid, {extents, "s"}, {}, strings};
    const auto bytes = messages::written([&](field_writer& w) { encode(w, fields); });
    CHECK(bytes == messages::of("\x12\x09\x12\x07\x08\x02\x12\x03s_2\x42\x01"
                                "a\x42\x00"sv));
    CHECK(bytes.size() == encoded_size(fields));
}

TEST_CASE("tensor_proto: finds dtype, shape and content, and which lists are there") {
    const auto bytes = messages::written([](field_writer& w) {
        w.write_varint(1, 3);
        w.write_text(2, "shape");
        w.write_varint(3, 1);
        w.write_text(4, "content");
        w.write_varint(7, 5);
        w.write_varint(40, 5);
    });
    const auto tensor = wire::decode_tensor_proto(bytes);
    REQUIRE(tensor.ok());
    CHECK(tensor->dtype_code == 3);
    CHECK(as_text(*tensor->shape) == "shape");
    CHECK(as_text(tensor->content) == "content");
    CHECK(tensor->has(wire::tensor_field::int_val));
    CHECK_FALSE(tensor->has(wire::tensor_field::float_val));
    CHECK_FALSE(tensor->has(40));
    CHECK(tensor->message.data() == bytes.data());
}

TEST_CASE("tensor_proto: an absent shape is not an empty one") {
    CHECK_FALSE(wire::decode_tensor_proto({})->shape.has_value());
    const auto bytes = messages::of("\x12\x00"sv);
    CHECK(wire::decode_tensor_proto(bytes)->shape.has_value());
}

TEST_CASE("tensor_proto: if a field occurs twice, the last one counts") {
    const auto bytes = messages::of("\x08\x01\x12\x01x\x22\x01p\x08\x02\x12\x01y\x22\x01q"sv);
    const auto tensor = wire::decode_tensor_proto(bytes);
    REQUIRE(tensor.ok());
    CHECK(tensor->dtype_code == 2);
    CHECK(as_text(*tensor->shape) == "y");
    CHECK(as_text(tensor->content) == "q");
}

TEST_CASE("tensor_proto: a field in another layout than declared is an unknown field") {
    const auto bytes = messages::of("\x0a\x01\x01\x20\x05"sv);  // dtype as text, content as a varint
    const auto tensor = wire::decode_tensor_proto(bytes);
    REQUIRE(tensor.ok());
    CHECK(tensor->dtype_code == 0);
    CHECK(tensor->content.empty());
}

TEST_CASE("tensor_proto: prefixes are truncated or shorter messages") {
    const auto whole = messages::of("\x08\x01\x12\x00\x22\x04\x00\x00\xa0\x3f"sv);
    for (std::size_t size = 0; size < whole.size(); ++size) {
        const auto cut = messages::prefix(whole, size);
        REQUIRE(wire::decode_tensor_proto(cut).code() ==
                (size == 0 || size == 2 || size == 4 ? status::ok : status::truncated));
    }
}
