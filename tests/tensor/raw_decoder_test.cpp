#include <smdebug/tensor/proto_decoder.hpp>

#include "support/test.hpp"

#include "../wire/messages.hpp"

using namespace std::literals;
using smdebug::decode_content;
using smdebug::decoded_tensor;
using smdebug::dtype;
using smdebug::shape_type;
using smdebug::status;

namespace {

decoded_tensor of(dtype type, shape_type shape) {
    decoded_tensor out;
    out.type = type;
    out.shape = std::move(shape);
    return out;
}

}  // namespace

TEST_CASE("decode_content: elements stay where they are") {
    for (const dtype type : {dtype::float32, dtype::int8, dtype::complex128, dtype::boolean}) {
        const messages::bytes content(6 * size_of(type), std::byte{1});
        decoded_tensor out = of(type, {2, 3});
        REQUIRE(decode_content(content, true, out) == status::ok);
        CHECK(out.bytes.data() == content.data());
        CHECK(out.view().count() == 6);
        CHECK_FALSE(out.owns_elements());
    }
}

TEST_CASE("decode_content: a byte too few or too many is a mismatch") {
    for (const std::size_t size : {0U, 1U, 23U, 25U, 28U}) {
        decoded_tensor out = of(dtype::float32, {2, 3});
        CHECK(decode_content(messages::bytes(size), true, out) == status::size_mismatch);
    }
}

TEST_CASE("decode_content: shapes that overflow are too large") {
    const messages::bytes content(8);
    decoded_tensor elements = of(dtype::int8, {std::size_t{1} << 40, std::size_t{1} << 40});
    CHECK(decode_content(content, true, elements) == status::too_large);
    decoded_tensor bytes = of(dtype::float64, {std::size_t{1} << 61, 1});
    CHECK(decode_content(content, true, bytes) == status::too_large);
}

TEST_CASE("decode_content: without a shape one element is 0-d, more are 1-d") {
    decoded_tensor one = of(dtype::float32, {});
    CHECK(decode_content(messages::bytes(4), false, one) == status::ok);
    CHECK(one.shape.empty());
    decoded_tensor three = of(dtype::float32, {});
    CHECK(decode_content(messages::bytes(12), false, three) == status::ok);
    CHECK(three.shape == shape_type{3});
    decoded_tensor odd = of(dtype::float32, {});
    CHECK(decode_content(messages::bytes(13), false, odd) == status::size_mismatch);
}

TEST_CASE("decode_content: booleans other than 0 and 1 become 1, in memory of the tensor's own") {
    const auto content = messages::of("\x00\x01\x02\xff\x80"sv);
    decoded_tensor out = of(dtype::boolean, {5});
    REQUIRE(decode_content(content, true, out) == status::ok);
    CHECK(out.owns_elements());
    CHECK(messages::bytes(out.bytes.begin(), out.bytes.end()) == messages::of("\x00\x01\x01\x01\x01"sv));
}
