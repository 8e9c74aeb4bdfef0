#include <smdebug/trial/read/entry_decoder.hpp>

#include "reduce/answers.hpp"
#include "support/run_builder.hpp"
#include "support/test.hpp"

#include <smdebug/core/error.hpp>
#include <smdebug/record/framing.hpp>
#include <smdebug/record/payload_check.hpp>
#include <smdebug/reduce/scalar_kernel.hpp>

using namespace smdebug;
using namespace smdebug::detail;
using namespace smdebug_test;

namespace {

/// A file in memory; can fail, or end, at some offset.
struct held_file final : opened_object {
    [[nodiscard]] std::uint64_t size() const noexcept override { return bytes.size(); }
    [[nodiscard]] std::size_t read_at(std::uint64_t offset, std::span<std::byte> into) const override {
        const std::size_t begin = std::min<std::size_t>(offset, bytes.size());
        const std::size_t got = std::min(into.size(), bytes.size() - begin);
        if (begin + got > fails_from && begin < fails_to) {
            throw unavailable("fails", {.where = "file"});
        }
        largest = std::max(largest, got);
        const std::size_t there = begin < ends && begin + got > ends ? ends - begin : (begin < ends ? got : 0);
        std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(begin), there, into.begin());
        return there;
    }

    std::vector<std::byte> bytes;
    std::size_t fails_from = SIZE_MAX;
    std::size_t fails_to = SIZE_MAX;
    std::size_t ends = SIZE_MAX;
    mutable std::size_t largest = 0;
};

std::vector<float> numbers() {
    std::vector<float> values(30'000);
    for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = static_cast<float>(i * 7919 % 1009) - 400;
    }
    return values;
}

/// Two records, and the place of the second one, which holds "w".
struct written {
    held_file file;
    byte_range place;

    explicit written(record::footer_kind footers, const written_tensor& tensor = tensor_of<float>("w", numbers())) {
        const event_bytes events =
            encode_events({.tensors = {tensor_of<float>("a", {1, 2}), tensor}, .footers = footers});
        file.bytes = events.bytes;
        place = events.places[1];
    }
};

constexpr std::size_t piece = 10'000;

template <class Decoder = event_decoder<>>
bool begins(written& of, std::string_view name) {
    piece_buffer buffer;
    opened_event_file source{of.file, buffer, piece};
    value_stream stream;
    return stream.begin(plan_of<Decoder>, source, of.place, name);
}

/// The result of streaming a record: its status, if it can be streamed at all.
template <class Decoder = event_decoder<>>
status outcome(written& of, reduction_values& found, reduction_set wanted = reduction_set::all()) {
    piece_buffer buffer;
    opened_event_file source{of.file, buffer, piece};
    value_stream stream;
    REQUIRE(stream.begin(plan_of<Decoder>, source, of.place, "w"));
    return stream.reduce(any_kernel{scalar_kernel{}}, wanted, found);
}

}  // namespace

TEST_CASE("value_stream: reduces a record bit-exactly, a piece at a time") {
    const std::vector<float> values = numbers();
    const auto whole = *scalar_kernel{}.reduce(
        {dtype::float32, shape_type{30'000}, std::as_bytes(std::span{values}), {}}, reduction_set::all());
    for (const auto footers : {record::footer_kind::package_constant, record::footer_kind::checksum}) {
        written of{footers};
        piece_buffer buffer;
        opened_event_file source{of.file, buffer, piece};
        value_stream stream;
        REQUIRE(stream.begin(plan_of<event_decoder<>>, source, of.place, "w"));
        CHECK(stream.type() == dtype::float32);
        CHECK(stream.shape() == shape_type{30'000});
        CHECK(stream.count() == 30'000);
        for (int time = 0; time < 2; ++time) {
            reduction_values found;
            CHECK(stream.reduce(any_kernel{scalar_kernel{}}, reduction_set::all(), found) == status::ok);
            CHECK(reduce_test::same_bits(found, whole));
        }
        CHECK(of.file.largest <= piece);
        // No reductions are wanted: the record is only verified.
        reduction_values none;
        CHECK(stream.reduce(any_kernel{scalar_kernel{}}, {}, none) == status::ok);
        CHECK(none.computed.empty());
    }
}

TEST_CASE("value_stream: a changed byte is found if the file has a checksum") {
    for (const bool wants : {true, false}) {
        const reduction_set wanted = wants ? reduction_set::all() : reduction_set{};
        for (const std::size_t from_end : {5U, 100U, 60'000U, 119'000U}) {
            reduction_values found;
            written of{record::footer_kind::checksum};
            of.file.bytes[of.file.bytes.size() - (from_end == 5 ? 4 : from_end)] ^= std::byte{1};
            CHECK(outcome(of, found, wanted) == status::bad_payload_checksum);
            CHECK(outcome<event_decoder<crc_check::length_only>>(of, found, wanted) == status::ok);
        }
        // The wall time, which is not checked.
        reduction_values found;
        written of{record::footer_kind::checksum};
        of.file.bytes[static_cast<std::size_t>(of.place.offset) + 14] ^= std::byte{1};
        CHECK(outcome(of, found, wanted) == status::bad_payload_checksum);
    }
}

TEST_CASE("value_stream: a file that ends or fails while it is read") {
    for (const auto footers : {record::footer_kind::package_constant, record::footer_kind::checksum}) {
        written of{footers};
        reduction_values found;
        piece_buffer buffer;
        opened_event_file source{of.file, buffer, piece};
        value_stream stream;
        REQUIRE(stream.begin(plan_of<event_decoder<>>, source, of.place, "w"));
        of.file.ends = 70'000;
        CHECK(stream.reduce(any_kernel{scalar_kernel{}}, reduction_set::all(), found) == status::truncated);
        of.file.ends = SIZE_MAX;
        of.file.fails_from = 70'000;
        CHECK_THROWS_AS(static_cast<void>(stream.reduce(any_kernel{scalar_kernel{}}, reduction_set::all(), found)),
                        unavailable);
        of.file.fails_from = SIZE_MAX;
        CHECK(stream.reduce(any_kernel{scalar_kernel{}}, reduction_set::all(), found) == status::ok);
    }
}

TEST_CASE("value_stream: records that cannot be streamed are left to the decoder") {
    written usual{record::footer_kind::checksum};
    CHECK(begins(usual, "w"));
    CHECK_FALSE(begins(usual, "v"));
    CHECK_FALSE(begins(usual, ""));
    written cut{record::footer_kind::checksum};
    cut.file.bytes.pop_back();
    CHECK_FALSE(begins(cut, "w"));
    written shorter{record::footer_kind::checksum};
    --shorter.place.length;
    CHECK_FALSE(begins(shorter, "w"));
    written damaged{record::footer_kind::checksum};
    damaged.file.bytes[static_cast<std::size_t>(damaged.place.offset)] ^= std::byte{1};
    CHECK_FALSE(begins(damaged, "w"));
    CHECK_FALSE(begins<event_decoder<crc_check::none>>(damaged, "w"));
    written booleans{record::footer_kind::checksum,
                     {.name = "w", .type = dtype::boolean, .shape = {5000}, .content = std::vector<std::byte>(5000)}};
    CHECK_FALSE(begins(booleans, "w"));
    written mismatch{record::footer_kind::checksum,
                     {.name = "w", .type = dtype::float32, .shape = {7, 5}, .content = std::vector<std::byte>(5000)}};
    CHECK_FALSE(begins(mismatch, "w"));
    written texts{record::footer_kind::checksum,
                  {.name = "w", .type = dtype::string, .shape = {2}, .content = {}, .strings = {"a", "b"}}};
    CHECK_FALSE(begins(texts, "w"));
}

TEST_CASE("value_stream: piece by piece, for callers that do not reduce: the same bytes, and the same status") {
    const std::vector<float> values = numbers();
    const byte_view wanted = std::as_bytes(std::span{values});
    for (const bool damaged : {false, true}) {
        written of{record::footer_kind::checksum};
        of.file.bytes[of.file.bytes.size() - 100] ^= damaged ? std::byte{1} : std::byte{0};
        piece_buffer buffer;
        opened_event_file source{of.file, buffer, piece};
        value_stream stream;
        REQUIRE(stream.begin(plan_of<event_decoder<>>, source, of.place, "w"));
        CHECK(stream.size() == wanted.size());
        stream.start();
        std::size_t alike = 0;
        for (std::size_t begin = 0; begin < stream.size();) {
            const std::size_t length = std::min<std::size_t>(4'000, stream.size() - begin);
            const byte_view some = stream.more(begin, length);
            REQUIRE(some.size() >= length);
            alike += std::ranges::equal(some.first(length), wanted.subspan(begin, length)) ? length : 0;
            begin += length;
        }
        CHECK(alike == (damaged ? stream.size() - 4'000 : stream.size()));
        CHECK(stream.finish() == (damaged ? status::bad_payload_checksum : status::ok));
        // No values were read before.
        stream.start();
        CHECK(stream.finish() == (damaged ? status::bad_payload_checksum : status::ok));
    }
}
