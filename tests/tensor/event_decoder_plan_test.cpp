// A record read from its head and its tail: where its parts are, without all of its bytes.
#include <smdebug/tensor/event_decoder.hpp>

#include "support/test.hpp"

#include <smdebug/record/framing.hpp>
#include <smdebug/wire/event.hpp>

#include "../wire/messages.hpp"
#include "event_decoder_fixture.hpp"

namespace record = smdebug::record;
namespace wire = smdebug::detail::wire;
using smdebug::byte_view;
using smdebug::crc_check;
using smdebug::decoded_tensor;
using smdebug::dtype;
using smdebug::event_decoder;
using smdebug::status;
using namespace smdebug_test::event_records;

TEST_CASE("event_decoder: record_size() reads a record's size from its checked head") {
    const auto bytes = small_record();
    const byte_view head = byte_view{bytes}.first(event_decoder<>::head_size);
    REQUIRE(event_decoder<>::record_size(head).ok());
    CHECK(*event_decoder<>::record_size(head) == bytes.size());
    CHECK(*event_decoder<>::record_size(bytes) == bytes.size());
    CHECK(event_decoder<>::record_size(head.first(head.size() - 1)).code() == status::truncated);
    auto wrong = bytes;
    wrong[8] ^= std::byte{1};  // of the length's checksum
    CHECK(event_decoder<>::record_size(wrong).code() == status::bad_length_checksum);
    CHECK(event_decoder<crc_check::length_only>::record_size(wrong).code() == status::bad_length_checksum);
    CHECK(*event_decoder<crc_check::none>::record_size(wrong) == bytes.size());
    std::fill_n(wrong.begin(), 8, std::byte{0xff});
    CHECK(event_decoder<crc_check::none>::record_size(wrong).code() == status::too_large);
}

namespace {

using smdebug::detail::record_parts;

/// Whether a record's plan agrees with decoding it; false if it has none.
bool has_true_plan(const messages::bytes& bytes) {
    record_parts parts;
    if (!event_decoder<>::plan(bytes, bytes.size(), "", parts)) {
        return false;
    }
    decoded_tensor tensor;
    REQUIRE(event_decoder<>{}.decode(bytes, "", tensor) == status::ok);
    REQUIRE(parts.name == tensor.name);
    REQUIRE(parts.type == tensor.type);
    REQUIRE(parts.shape == tensor.shape);
    REQUIRE(parts.size == bytes.size());
    REQUIRE(parts.content_size == tensor.bytes.size());
    REQUIRE(bytes.data() + parts.content == tensor.bytes.data());
    const byte_view tail = byte_view{bytes}.subspan(parts.content + parts.content_size);
    std::optional<std::uint32_t> checksum;
    REQUIRE(event_decoder<>::ends_well(tail, checksum));
    return true;
}

}  // namespace

TEST_CASE("event_decoder: plans what the package writes as decoding finds it, from the record's first bytes alone") {
    std::size_t planned = 0;
    for (const std::string run : {"dtypes", "torch_mlp"}) {
        for (const auto& bytes : records_of(run)) {
            planned += has_true_plan(bytes) ? 1U : 0U;
        }
    }
    CHECK(planned > 100);

    const auto bytes = small_record();
    record_parts whole;
    REQUIRE(event_decoder<>::plan(bytes, bytes.size(), "w", whole));
    for (std::size_t size = 0; size < bytes.size(); ++size) {
        record_parts parts;
        // Its head is enough, and all of it is needed.
        CHECK(event_decoder<>::plan(byte_view{bytes}.first(size), bytes.size(), "w", parts) == (size >= whole.content));
        CHECK_FALSE(event_decoder<>::plan(bytes, size, "w", parts));  // it would reach beyond what there is
    }
    CHECK(event_decoder<>::plan(bytes, bytes.size() + 1, "w", whole));
    CHECK_FALSE(event_decoder<>::plan(bytes, bytes.size(), "v", whole));
}

TEST_CASE("event_decoder: does not plan what decoding refuses, or has to look at") {
    struct row {
        dtype type;
        std::size_t extent;
        std::string_view content;
        bool planned;
    };
    for (const row& each : {row{dtype::float32, 2, "12345678", true},
                            {dtype::uint8, 8, "12345678", true},
                            {dtype::float32, 3, "12345678", false},
                            {dtype::float32, 1, "12345678", false},
                            {dtype::float32, 2, "1234567", false},
                            {dtype::float32, 2, "123456789", false},
                            {dtype::boolean, 8, "12345678", false},
                            {dtype::string, 8, "12345678", false},
                            {dtype::float32, std::size_t{1} << 63U, "12345678", false}}) {
        CAPTURE(name_of(each.type));
        CAPTURE(each.extent);
        CAPTURE(each.content);
        const std::array<std::size_t, 1> extents{each.extent};
        const auto content = smdebug::as_bytes(each.content);
        const std::array fields{wire::value_fields{"w", {each.type, {extents, "w"}, content, {}}, {}}};
        const auto bytes = framed(wire::to_bytes({1.5, 7, {}, fields}));
        record_parts parts;
        CHECK(event_decoder<>::plan(bytes, bytes.size(), "w", parts) == each.planned);
    }
}

TEST_CASE(
    "event_decoder: what stands behind the elements is metadata or nothing, and the checksum that they are held to") {
    for (const auto kind : {record::footer_kind::checksum, record::footer_kind::package_constant}) {
        const auto bytes = record_of_floats(10, kind);
        record_parts parts;
        REQUIRE(event_decoder<>::plan(bytes, bytes.size(), "big", parts));
        const byte_view tail = byte_view{bytes}.subspan(parts.content + parts.content_size);
        const auto footer = smdebug::load_le<std::uint32_t>(bytes.data() + bytes.size() - 4);
        std::optional<std::uint32_t> checksum = 1;
        CHECK(event_decoder<>::ends_well(tail, checksum));
        CHECK(checksum == (kind == record::footer_kind::checksum ? std::optional{footer} : std::nullopt));
        checksum = 1;
        CHECK(event_decoder<crc_check::length_only>::ends_well(tail, checksum));
        CHECK_FALSE(checksum);
        for (std::size_t size = 0; size < record::footer_size; ++size) {
            CHECK_FALSE(event_decoder<>::ends_well(tail.last(size), checksum));
        }
        // With metadata before it.
        const auto small = small_record();
        REQUIRE(event_decoder<>::plan(small, small.size(), "w", parts));
        CHECK(event_decoder<>::ends_well(byte_view{small}.subspan(parts.content + parts.content_size), checksum));
        CHECK(checksum == smdebug::load_le<std::uint32_t>(small.data() + small.size() - 4));
        messages::bytes more(tail.begin(), tail.end());
        more.insert(more.begin(), std::byte{0x7a});
        CHECK_FALSE(event_decoder<>::ends_well(more, checksum));
    }
}
