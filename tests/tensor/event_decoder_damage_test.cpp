// Records that are cut or damaged anywhere, and checksums that are left for later.
#include <smdebug/tensor/event_decoder.hpp>

#include "support/test.hpp"

#include <smdebug/record/framing.hpp>

#include "../wire/messages.hpp"
#include "event_decoder_fixture.hpp"

namespace record = smdebug::record;
using namespace std::literals;
using smdebug::crc_check;
using smdebug::decoded_tensor;
using smdebug::event_decoder;
using smdebug::status;
using smdebug::detail::wire::field_writer;
using namespace smdebug_test::event_records;

TEST_CASE("event_decoder: every prefix of a record is truncated") {
    const auto whole = small_record();
    for (std::size_t size = 0; size < whole.size(); ++size) {
        const auto cut = messages::prefix(whole, size);
        decoded_tensor out;
        REQUIRE(event_decoder<>{}.decode(cut, "w", out) == status::truncated);
        REQUIRE(event_decoder<crc_check::none>{}.decode(cut, "w", out) == status::truncated);
    }
}

TEST_CASE("event_decoder: a payload that ends too early within a whole record is never truncated") {
    const auto whole = small_record();
    const messages::bytes payload(whole.begin() + record::header_size, whole.end() - record::footer_size);
    for (std::size_t size = 0; size < payload.size(); ++size) {
        decoded_tensor out;
        const status code = event_decoder<>{}.decode(framed(messages::prefix(payload, size)), "w", out);
        REQUIRE((code == status::malformed || code == status::no_value));
    }
}

TEST_CASE("event_decoder: under full every flipped bit is noticed; without checks none does harm") {
    const auto whole = small_record();
    for (std::size_t bit = 0; bit < 8 * whole.size(); ++bit) {
        const auto damaged = messages::flipped(whole, bit);
        decoded_tensor out;
        REQUIRE(event_decoder<>{}.decode(damaged, "w", out) != status::ok);
        for (const std::string_view name : {"w"sv, ""sv}) {
            if (event_decoder<crc_check::none>{}.decode(damaged, name, out) == status::ok) {
                REQUIRE(keeps_promises(out));
            }
        }
    }
}

TEST_CASE("event_decoder: mutations of real records never break a promise") {
    std::vector<messages::bytes> seeds = records_of("dtypes");
    for (const char* run : {"xgboost_like", "checksummed"}) {
        const auto more = records_of(run);
        seeds.insert(seeds.end(), more.begin(), more.end());
    }
    seeds.push_back(framed(messages::written([](field_writer& w) {  // lists in pieces, which no golden run has
        w.write_text(5,
                     "\x0a\x1f\x0a\x01l\x42\x1a\x08\x03\x12\x04\x12\x02\x08\x08\x38\x01\x3a\x03\x01\x02\x03"
                     "\x2a\x04\x00\x00\x80\x3f\x38\x05\x38\x06"sv);
    })));
    std::mt19937 random{20240601};
    const auto below = [&](std::size_t limit) { return static_cast<std::size_t>(random()) % limit; };
    decoded_tensor out;
    std::size_t decoded = 0;
    for (int round = 0; round < 20000; ++round) {
        messages::bytes bytes = seeds[below(seeds.size())];
        for (std::size_t changes = 1 + below(4); changes > 0 && !bytes.empty(); --changes) {
            const std::size_t at = below(bytes.size());
            const auto place = bytes.begin() + static_cast<std::ptrdiff_t>(at);
            switch (below(5)) {
                case 0:
                    bytes[at] ^= static_cast<std::byte>(1U << below(8));
                    break;
                case 1:
                    bytes[at] = static_cast<std::byte>(below(256));
                    break;
                case 2:
                    bytes.erase(place);
                    break;
                case 3:
                    bytes.insert(place, static_cast<std::byte>(below(256)));
                    break;
                default:
                    bytes[at] = below(2) == 0 ? std::byte{0xff} : std::byte{0x00};
                    break;
            }
        }
        bytes.shrink_to_fit();
        if (event_decoder<>{}.decode(bytes, "", out) == status::ok) {
            REQUIRE(keeps_promises(out));
        }
        if (event_decoder<crc_check::none>{}.decode(bytes, "", out) == status::ok) {
            REQUIRE(keeps_promises(out));
            ++decoded;
        }
        // the same damage under a sound frame: it reaches the messages
        const std::size_t begin = std::min(bytes.size(), record::header_size);
        const messages::bytes payload(bytes.begin() + static_cast<std::ptrdiff_t>(begin), bytes.end());
        const status code = event_decoder<>{}.decode(framed(payload), "", out);
        REQUIRE(code != status::truncated);
        if (code == status::ok) {
            REQUIRE(out.shape.size() <= payload.size());
        }
    }
    CHECK(decoded > 1000);
}

TEST_CASE(
    "event_decoder: what the usual event has in it is what it would have in any other layout, whatever is damaged") {
    std::vector<messages::bytes> seeds;
    for (const auto& record : records_of("dtypes")) {
        seeds.emplace_back(record.begin() + record::header_size, record.end() - record::footer_size);
    }
    std::mt19937 random{20260101};
    const auto below = [&](std::size_t limit) { return static_cast<std::size_t>(random()) % limit; };
    // An unknown field, in front: never the usual event, and the same result from every field-by-field reader.
    const messages::bytes unknown = messages::of("\x78\x01"sv);
    std::map<status, std::size_t> outcomes;
    for (int round = 0; round < 20000; ++round) {
        messages::bytes payload = seeds[below(seeds.size())];
        for (std::size_t changes = below(3); changes > 0 && !payload.empty(); --changes) {
            const std::size_t at =
                below(2) == 0 ? below(payload.size()) : below(std::min<std::size_t>(80, payload.size()));
            if (below(4) == 0) {
                payload.erase(payload.begin() + static_cast<std::ptrdiff_t>(at));
            } else {
                payload[at] ^= static_cast<std::byte>(1U << below(8));
            }
        }
        const messages::bytes exact(payload);
        messages::bytes general = unknown;
        general.insert(general.end(), exact.begin(), exact.end());
        for (const std::string_view name : {""sv, "d/float32"sv}) {
            decoded_tensor found;
            decoded_tensor wanted;
            std::size_t repeats = 0;
            std::size_t wanted_repeats = 0;
            const status code = smdebug::detail::decode_event_tensor(exact, name, found, &repeats);
            const status wanted_code = smdebug::detail::decode_event_tensor(general, name, wanted, &wanted_repeats);
            REQUIRE(code == wanted_code);
            ++outcomes[code];
            if (code == status::ok) {
                REQUIRE(found.name == wanted.name);
                REQUIRE(std::memcmp(&found.wall_time, &wanted.wall_time, sizeof(double)) == 0);
                REQUIRE(found.type == wanted.type);
                REQUIRE(found.shape == wanted.shape);
                REQUIRE(std::ranges::equal(found.bytes, wanted.bytes));
                REQUIRE(found.strings == wanted.strings);
                REQUIRE(repeats == wanted_repeats);
            }
        }
    }
    CHECK(outcomes[status::ok] > 3000);
    CHECK(outcomes.size() > 5);
}

TEST_CASE("event_decoder: the checksum of many elements is left for later, that of few is not") {
    const event_decoder<> decoder;
    decoded_tensor out;
    record::payload_check later;
    const auto large = record_of_floats(100'000, record::footer_kind::checksum);
    REQUIRE(decoder.decode(large, "big", out, later) == status::ok);
    CHECK(later.needed());
    CHECK(out.bytes.size() == 400'000);
    later.pass(out.bytes);
    CHECK(later.holds());
    const auto small = record_of_floats(10, record::footer_kind::checksum);
    REQUIRE(decoder.decode(small, "big", out, later) == status::ok);
    CHECK_FALSE(later.needed());
    const auto unchecked = record_of_floats(100'000, record::footer_kind::package_constant);
    REQUIRE(decoder.decode(unchecked, "big", out, later) == status::ok);
    CHECK_FALSE(later.needed());
    REQUIRE(event_decoder<crc_check::length_only>{}.decode(large, "big", out, later) == status::ok);
    CHECK_FALSE(later.needed());
}

TEST_CASE("event_decoder: a flipped byte is found, at once or later, wherever it lies") {
    const event_decoder<> decoder;
    decoded_tensor out;
    for (const std::size_t count : {std::size_t{10}, std::size_t{20'000}}) {
        auto bytes = record_of_floats(count, record::footer_kind::checksum);
        const std::size_t stride = bytes.size() / 200 + 1;
        for (std::size_t at = record::header_size; at < bytes.size(); at += stride) {
            bytes[at] ^= std::byte{0x10};
            CHECK(decoder.decode(bytes, "big", out) == status::bad_payload_checksum);
            record::payload_check later;
            const status now = decoder.decode(bytes, "big", out, later);
            CHECK((now == status::bad_payload_checksum || (now == status::ok && !later.holds())));
            bytes[at] ^= std::byte{0x10};
        }
        bytes[3] ^= std::byte{1};
        record::payload_check later;
        CHECK(decoder.decode(bytes, "big", out, later) == status::bad_length_checksum);
    }
}
