#include <smdebug/wire/tensor_proto.hpp>

#include "support/test.hpp"

#include "messages.hpp"

namespace wire = smdebug::detail::wire;
using namespace std::literals;
using smdebug::shape_type;
using smdebug::status;
using wire::field_writer;

namespace {

messages::bytes encoded(const shape_type& extents, std::string_view name) {
    const wire::tensor_shape shape{extents, name};
    const auto bytes = messages::written([&](field_writer& w) { encode(w, shape); });
    CHECK(bytes.size() == encoded_size(shape));
    return bytes;
}

status decode(const messages::bytes& bytes, shape_type& extents) { return wire::decode_tensor_shape(bytes, extents); }

}  // namespace

TEST_CASE("tensor_shape: writes what the Python package writes for a 5x4 tensor") {
    CHECK(encoded({5, 4}, "Sequential_0.weight") ==
          messages::of("\x12\x19\x08\x05\x12\x15Sequential_0.weight_5\x12\x19\x08\x04\x12\x15Sequential_0.weight_4"sv));
}

TEST_CASE("tensor_shape: an extent of 0 is left out, its name is not") {
    CHECK(encoded({3, 0}, "f/float16_empty2") == messages::of("\x12\x16\x08\x03\x12\x12"
                                                              "f/float16_empty2_3\x12\x14\x12\x12"
                                                              "f/float16_empty2_0"sv));
}

TEST_CASE("tensor_shape: without a name dimensions have none") {
    CHECK(encoded({7}, "") == messages::of("\x12\x02\x08\x07"sv));
    CHECK(encoded({}, "name").empty());
}

TEST_CASE("tensor_shape: every rank round-trips, with and without names") {
    for (const shape_type& extents :
         {shape_type{}, shape_type{0}, shape_type{1}, shape_type{2, 3}, shape_type{0, 5}, shape_type{1, 2, 3, 4, 5},
          shape_type{9, 10, 99, 100, 127, 128, 16384}, shape_type{std::size_t{1} << 62}}) {
        for (const std::string_view name : {""sv, "tensor"sv}) {
            shape_type decoded{42};
            CHECK(decode(encoded(extents, name), decoded) == status::ok);
            CHECK(decoded == extents);
        }
    }
}

TEST_CASE("tensor_shape: negative extents and unknown ranks are malformed") {
    shape_type extents;
    const auto negative = messages::written([](field_writer& w) {
        w.begin_message(2, 11);
        w.write_int(1, -1);
    });
    CHECK(decode(negative, extents) == status::malformed);
    CHECK(decode(messages::of("\x18\x01"sv), extents) == status::malformed);
    CHECK(decode(messages::of("\x18\x00"sv), extents) == status::ok);
}

TEST_CASE("tensor_shape: unknown fields are skipped, the last size of a dimension counts") {
    shape_type extents;
    CHECK(decode(messages::of("\x08\x07\x12\x06\x08\x02\x50\x01\x08\x03\x22\x01x"sv), extents) == status::ok);
    CHECK(extents == shape_type{3});
}

TEST_CASE("tensor_shape: a size in another layout is an unknown field") {
    shape_type extents;
    CHECK(decode(messages::of("\x12\x05\x0d\x01\x00\x00\x00"sv), extents) == status::ok);
    CHECK(extents == shape_type{0});
}

TEST_CASE("tensor_shape: every prefix is a shorter shape or truncated") {
    const auto whole = encoded({5, 4}, "a");
    for (std::size_t size = 0; size < whole.size(); ++size) {
        shape_type extents;
        const status code = decode(messages::prefix(whole, size), extents);
        REQUIRE(code == (size == 0 || size == whole.size() / 2 ? status::ok : status::truncated));
    }
}

TEST_CASE("tensor_shape: dimensions in the usual layout are read as all others are, whatever is changed in them") {
    std::mt19937 random{5};
    const auto any = [&](std::size_t below) { return static_cast<std::size_t>(random() % below); };
    std::size_t read = 0;
    for (int round = 0; round < 50'000; ++round) {
        shape_type extents(any(4));
        for (std::size_t& extent : extents) {
            extent = std::size_t{1} << any(40) >> any(3);
        }
        messages::bytes bytes = encoded(extents, any(2) == 0 ? std::string{} : std::string(1 + any(130), 'n'));
        for (std::size_t changes = any(3); changes-- > 0 && !bytes.empty();) {
            const auto at =
                bytes.begin() + static_cast<std::ptrdiff_t>(any(any(2) == 0 ? bytes.size() : 1 + any(bytes.size())));
            switch (any(3)) {
                case 0:
                    bytes.erase(at);
                    break;
                case 1:
                    bytes.insert(at, static_cast<std::byte>(any(256)));
                    break;
                default:
                    *at ^= std::byte{1} << any(8);
            }
        }
        const messages::bytes exact(bytes);  // so that a sanitizer sees every read beyond it
        shape_type found{42};
        shape_type general;
        const status code = decode(exact, found);
        REQUIRE(code == wire::detail::append_dims(exact, general));
        if (code == status::ok) {
            REQUIRE(found == general);
            ++read;
        }
    }
    CHECK(read > 10'000);
}
