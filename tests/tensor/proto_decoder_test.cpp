#include <smdebug/tensor/proto_decoder.hpp>

#include "support/test.hpp"

#include "../wire/messages.hpp"

namespace wire = smdebug::detail::wire;
using namespace std::literals;
using smdebug::decoded_tensor;
using smdebug::dtype;
using smdebug::shape_type;
using smdebug::status;
using wire::field_writer;

namespace {

/// A TensorProto of `type` and `extents`; `more` writes its elements.
template <class F>
messages::bytes proto(std::uint64_t type, const shape_type& extents, F&& more) {
    return messages::written([&](field_writer& w) {
        if (type != 0) {
            w.write_varint(1, type);
        }
        const wire::tensor_shape shape{extents, {}};
        w.begin_message(2, encoded_size(shape));
        encode(w, shape);
        more(w);
    });
}

constexpr auto nothing = [](field_writer&) {};

status decode(const messages::bytes& message, decoded_tensor& out) {
    const auto tensor = wire::decode_tensor_proto(message);
    return tensor.ok() ? smdebug::decode_tensor(*tensor, out) : tensor.code();
}

constexpr std::array numeric_codes{1, 2, 3, 4, 5, 6, 8, 9, 10, 14, 17, 18, 19, 22, 23};

}  // namespace

TEST_CASE("decode_tensor: content of every dtype and rank stays in place") {
    for (const int code : numeric_codes) {
        shape_type extents;
        for (std::size_t rank = 0; rank <= 5; ++rank) {
            const dtype type = smdebug::dtype_from_code(static_cast<std::uint64_t>(code));
            const messages::bytes content(*smdebug::element_count(extents) * size_of(type), std::byte{1});
            const auto message =
                proto(static_cast<std::uint64_t>(code), extents, [&](field_writer& w) { w.write_bytes(4, content); });
            decoded_tensor out;
            REQUIRE(decode(message, out) == status::ok);
            CHECK(out.type == type);
            CHECK(out.shape == extents);
            CHECK(messages::bytes(out.bytes.begin(), out.bytes.end()) == content);
            CHECK(out.bytes.data() > message.data());
            CHECK(out.bytes.data() < message.data() + message.size());
            extents.push_back(rank + 1);
        }
    }
}

TEST_CASE("decode_tensor: empty tensors of every dtype have a shape and no elements") {
    for (const int code : numeric_codes) {
        for (const shape_type& extents : {shape_type{0}, shape_type{3, 0}, shape_type{0, std::size_t{1} << 40}}) {
            decoded_tensor out;
            REQUIRE(decode(proto(static_cast<std::uint64_t>(code), extents, nothing), out) == status::ok);
            CHECK(out.shape == extents);
            CHECK(out.view().count() == 0);
        }
    }
}

TEST_CASE("decode_tensor: content wins over a list") {
    const auto message = proto(3, {1}, [](field_writer& w) {
        w.write_text(4, "\x05\x00\x00\x00"sv);
        w.write_varint(7, 9);
    });
    decoded_tensor out;
    REQUIRE(decode(message, out) == status::ok);
    CHECK(out.bytes[0] == std::byte{5});
}

TEST_CASE("decode_tensor: no dtype with strings, or with no room for any, means strings") {
    decoded_tensor out;
    const auto strings = proto(0, {2}, [](field_writer& w) {
        w.write_text(8, "a");
        w.write_text(8, "b");
    });
    REQUIRE(decode(strings, out) == status::ok);
    CHECK(out.type == dtype::string);
    CHECK(out.strings == std::vector<std::string_view>{"a", "b"});
    REQUIRE(decode(proto(0, {0}, nothing), out) == status::ok);
    CHECK(out.type == dtype::string);
    CHECK(out.shape == shape_type{0});
    CHECK(out.strings.empty());
}

TEST_CASE("decode_tensor: a dtype that has no value here is unsupported") {
    decoded_tensor out;
    for (const std::uint64_t code : {std::uint64_t{11}, std::uint64_t{20}, std::uint64_t{101}, ~std::uint64_t{0}}) {
        CHECK(decode(proto(code, {1}, [](field_writer& w) { w.write_text(4, "x"); }), out) == status::unsupported);
    }
    CHECK(decode(proto(0, {1}, nothing), out) == status::unsupported);
    CHECK(decode(proto(0, {1}, [](field_writer& w) { w.write_text(4, "x"); }), out) == status::unsupported);
    CHECK(decode({}, out) == status::unsupported);
}

TEST_CASE("decode_tensor: distinguishes a damaged shape from a wrong one") {
    decoded_tensor out;
    CHECK(decode(messages::of("\x08\x01\x12\x02\x12\x05\x22\x04\x00\x00\x00\x00"sv), out) == status::truncated);
    CHECK(decode(messages::of("\x08\x01\x12\x02\x18\x01\x22\x04\x00\x00\x00\x00"sv), out) == status::malformed);
    CHECK(decode(proto(1, {2}, [](field_writer& w) { w.write_text(4, "\0\0\0\0"sv); }), out) == status::size_mismatch);
}

TEST_CASE("decode_tensor: a tensor used before leaves nothing behind") {
    decoded_tensor out;
    out.name = "old";
    const auto strings = proto(7, {1}, [](field_writer& w) { w.write_text(8, "old"); });
    REQUIRE(decode(strings, out) == status::ok);
    const auto list = proto(3, {2}, [](field_writer& w) { w.write_varint(7, 9); });
    REQUIRE(decode(list, out) == status::ok);
    CHECK(out.strings.empty());
    CHECK(out.name.empty());
    CHECK(out.owns_elements());
    const auto content = proto(3, {}, [](field_writer& w) { w.write_text(4, "\x05\0\0\0"sv); });
    REQUIRE(decode(content, out) == status::ok);
    CHECK(out.shape.empty());
    CHECK_FALSE(out.owns_elements());
    CHECK(out.expanded.empty());
}
