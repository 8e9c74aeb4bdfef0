#include <smdebug/hook/tensor_record.hpp>

#include <doctest/doctest.h>

#include <smdebug/record/framing.hpp>
#include <smdebug/tensor/event_decoder.hpp>

#include <array>
#include <cstddef>
#include <numeric>
#include <span>
#include <string>
#include <vector>

namespace smd = smdebug;

namespace {

// A record as it will lie in the file: the left-out elements put where they belong.
std::vector<std::byte> whole(const std::vector<std::byte>& buffer, const smd::detail::appended_record& record) {
    std::vector<std::byte> bytes = buffer;
    bytes.insert(bytes.begin() + static_cast<std::ptrdiff_t>(record.omitted.at), record.omitted.bytes.begin(),
                 record.omitted.bytes.end());
    return bytes;
}

smd::tensor_view floats(const std::vector<float>& values, const std::array<std::size_t, 1>& shape) {
    return {smd::dtype::float32, shape, std::as_bytes(std::span{values}), {}};
}

}  // namespace

TEST_CASE("append_tensor_record: large elements stay where they are, small ones are copied, both read back") {
    for (const std::size_t count : {std::size_t{0}, std::size_t{1}, smd::detail::copied_below / 4 - 1,
                                    smd::detail::copied_below / 4, std::size_t{100'000}}) {
        for (const auto footer : {smd::record::footer_kind::package_constant, smd::record::footer_kind::checksum}) {
            CAPTURE(count);
            std::vector<float> values(count);
            std::iota(values.begin(), values.end(), 1.0F);
            const std::array shape{count};
            std::vector<std::byte> out;
            const auto record = smd::detail::append_tensor_record(out, "layer/weight:0", floats(values, shape),
                                                                  {12.5, 300, smd::mode::eval, 7}, footer);
            const bool stays = count * sizeof(float) >= smd::detail::copied_below;
            CHECK(record.omitted.bytes.empty() == !stays);
            if (stays) {
                CHECK(static_cast<const void*>(record.omitted.bytes.data()) == values.data());
                CHECK(out.size() < 300);
            }
            const std::vector<std::byte> bytes = whole(out, record);
            REQUIRE(bytes.size() == record.size);
            smd::decoded_tensor decoded;
            const auto read = smd::event_decoder<smd::crc_check::full>{}.decode(bytes, "layer/weight:0", decoded);
            REQUIRE(read == smd::status::ok);
            REQUIRE(decoded.view().count() == count);
            CHECK(std::equal(decoded.bytes.begin(), decoded.bytes.end(), std::as_bytes(std::span{values}).begin()));
            CHECK(decoded.shape == smd::shape_type{count});
        }
    }
}

TEST_CASE("append_tensor_record: appends behind what is there") {
    const std::vector<float> values(5000, 1.0F);
    const std::array<std::size_t, 1> shape{5000};
    std::vector<std::byte> alone;
    const auto first = smd::detail::append_tensor_record(alone, "x", floats(values, shape), {1, 1, smd::mode::train, 1},
                                                         smd::record::footer_kind::checksum);
    std::vector<std::byte> behind(77, std::byte{9});
    const auto second = smd::detail::append_tensor_record(
        behind, "x", floats(values, shape), {1, 1, smd::mode::train, 1}, smd::record::footer_kind::checksum);
    CHECK(second.omitted.at == first.omitted.at + 77);
    CHECK(std::vector<std::byte>(behind.begin() + 77, behind.end()) == alone);
}

TEST_CASE("append_tensor_record: what no reader could take leaves nothing behind") {
    // The elements are never touched: only their number counts.
    const std::array<std::size_t, 1> shape{smd::detail::largest_payload};
    const std::byte one{};
    const smd::byte_view pretended{&one, smd::detail::largest_payload};
    std::vector<std::byte> out(3);
    const auto record =
        smd::detail::append_tensor_record(out, "x", {smd::dtype::uint8, shape, pretended, {}},
                                          {1, 1, smd::mode::train, 1}, smd::record::footer_kind::package_constant);
    CHECK(record.size == 0);
    CHECK(out.size() == 3);
}
