#include <smdebug/tensor/proto_decoder.hpp>

#include "support/test.hpp"

#include "../wire/messages.hpp"

namespace wire = smdebug::detail::wire;
using namespace std::literals;
using smdebug::decoded_tensor;
using smdebug::dtype;
using smdebug::shape_type;
using smdebug::status;

namespace {

using texts = std::vector<std::string_view>;

status decode(const messages::bytes& message, std::optional<shape_type> shape, decoded_tensor& out) {
    const auto decoded = wire::decode_tensor_proto(message);
    REQUIRE(decoded.ok());
    wire::tensor_proto tensor = *decoded;
    out.type = dtype::string;
    out.strings.clear();
    if (shape) {
        tensor.shape.emplace();
        out.shape = *shape;
    }
    return smdebug::decode_strings(tensor, out);
}

}  // namespace

TEST_CASE("decode_strings: views into the message, empty ones too") {
    const auto message = messages::of("\x42\x01x\x42\x00\x42\x03\xe2\x98\x83"sv);
    decoded_tensor out;
    REQUIRE(decode(message, shape_type{3}, out) == status::ok);
    CHECK(out.strings == texts{"x", "", "\xe2\x98\x83"});
    CHECK(out.strings[0].data() == reinterpret_cast<const char*>(message.data()) + 2);
    CHECK(out.view().count() == 3);
}

TEST_CASE("decode_strings: the last one repeats, none are empty ones, too many are a mismatch") {
    const auto message = messages::of("\x42\x01x\x42\x01y"sv);
    decoded_tensor out;
    REQUIRE(decode(message, shape_type{2, 2}, out) == status::ok);
    CHECK(out.strings == texts{"x", "y", "y", "y"});
    REQUIRE(decode({}, shape_type{2}, out) == status::ok);
    CHECK(out.strings == texts{"", ""});
    CHECK(decode(message, shape_type{1}, out) == status::size_mismatch);
    CHECK(decode(message, shape_type{0}, out) == status::size_mismatch);
}

TEST_CASE("decode_strings: without a shape one is 0-d, other numbers are 1-d") {
    decoded_tensor out;
    const auto one = messages::of("\x42\x01x"sv);
    REQUIRE(decode(one, std::nullopt, out) == status::ok);
    CHECK(out.shape.empty());
    const auto two = messages::of("\x42\x01x\x42\x01y"sv);
    REQUIRE(decode(two, std::nullopt, out) == status::ok);
    CHECK(out.shape == shape_type{2});
}

TEST_CASE("decode_strings: a small file cannot ask for much memory") {
    decoded_tensor out;
    const auto message = messages::of("\x42\x01x"sv);
    CHECK(decode(message, shape_type{std::size_t{1} << 40}, out) == status::too_large);
    CHECK(decode(message, shape_type{smdebug::max_repeated_bytes / 16 + 1}, out) == status::too_large);
    CHECK(decode(message, shape_type{std::size_t{1} << 40, std::size_t{1} << 40}, out) == status::too_large);
    const auto content = messages::of("\x22\x02\x01x"sv);
    CHECK(decode(content, shape_type{std::size_t{1} << 62}, out) == status::size_mismatch);
}

TEST_CASE("decode_strings: TensorFlow's packing into content: lengths, then bytes") {
    const auto message = messages::of("\x22\x07\x01\x00\x03xabc"sv);
    decoded_tensor out;
    REQUIRE(decode(message, shape_type{3}, out) == status::ok);
    CHECK(out.strings == texts{"x", "", "abc"});
    CHECK(decode(message, shape_type{2}, out) != status::ok);
    CHECK(decode(message, shape_type{4}, out) != status::ok);
    const auto too_long = messages::of("\x22\x02\x05x"sv);
    CHECK(decode(too_long, shape_type{1}, out) == status::size_mismatch);
    const auto cut = messages::of("\x22\x02\x80\x80"sv);
    CHECK(decode(cut, shape_type{1}, out) == status::malformed);
}

TEST_CASE("decode_strings: a message that is damaged behind its strings is an error") {
    wire::tensor_proto tensor;
    tensor.shape.emplace();
    for (const auto& [text, why] : {std::pair{"\x42\x01x\x42\x05y"sv, status::truncated},
                                    {"\x42\x01x\x00"sv, status::malformed},
                                    {"\x42\x01x\x42\x01y\x4b"sv, status::truncated}}) {
        const auto message = messages::of(text);
        tensor.message = message;
        decoded_tensor out;
        out.type = dtype::string;
        out.shape = {2};
        CHECK(smdebug::decode_strings(tensor, out) == why);
    }
}
