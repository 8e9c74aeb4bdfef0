#include <smdebug/record/framing.hpp>

#include "support/test.hpp"

#include "event_files.hpp"

namespace record = smdebug::record;
using namespace std::literals;
using record::footer_kind;
using smdebug::as_bytes;
using smdebug::as_text;
using smdebug::byte_view;
using smdebug::crc_check;
using smdebug::status;

namespace {

constexpr auto all_checks = {crc_check::full, crc_check::length_only, crc_check::none};

std::vector<std::byte> framed(std::string_view payload, footer_kind kind = footer_kind::package_constant) {
    std::vector<std::byte> bytes;
    record::append_record(bytes, as_bytes(payload), kind);
    return bytes;
}

std::vector<std::byte> flipped(std::vector<std::byte> bytes, std::size_t bit) {
    bytes[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
    return bytes;
}

}  // namespace

TEST_CASE("read_record: gives the payload in place and the size of the whole") {
    const auto bytes = framed("hello");
    for (const crc_check check : all_checks) {
        const auto read = record::read_record(bytes, check);
        REQUIRE(read.ok());
        CHECK(as_text(read->payload) == "hello");
        CHECK(read->payload.data() == bytes.data() + record::header_size);
        CHECK(read->size == bytes.size());
    }
}

TEST_CASE("read_record: an empty payload is a record") {
    const auto bytes = framed("", footer_kind::checksum);
    const auto read = record::read_record(bytes);
    REQUIRE(read.ok());
    CHECK(read->payload.empty());
    CHECK(read->size == 16);
}

TEST_CASE("read_record: leaves alone what follows the record") {
    auto bytes = framed("first");
    const std::size_t size = bytes.size();
    bytes.resize(size + 100, std::byte{0xff});
    const auto read = record::read_record(bytes);
    REQUIRE(read.ok());
    CHECK(read->size == size);
}

TEST_CASE("read_record: every prefix of a record is truncated") {
    const auto bytes = framed("a payload of some length", footer_kind::checksum);
    for (const crc_check check : all_checks) {
        for (std::size_t size = 0; size < bytes.size(); ++size) {
            const std::vector<std::byte> cut(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size));
            REQUIRE(record::read_record(cut, check).code() == status::truncated);
        }
    }
}

TEST_CASE("read_record: under full, every flipped bit of a record with a true checksum is noticed") {
    const auto bytes = framed("payload", footer_kind::checksum);
    for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
        const auto read = record::read_record(flipped(bytes, bit), crc_check::full);
        REQUIRE(read.code() ==
                (bit / 8 < record::header_size ? status::bad_length_checksum : status::bad_payload_checksum));
    }
}

TEST_CASE("read_record: under the package's footer a flipped payload bit stays unseen, a flipped footer does not") {
    const auto bytes = framed("payload");
    const std::size_t footer_at = bytes.size() - record::footer_size;
    for (std::size_t bit = 8 * record::header_size; bit < 8 * bytes.size(); ++bit) {
        const auto read = record::read_record(flipped(bytes, bit), crc_check::full);
        REQUIRE(read.code() == (bit / 8 < footer_at ? status::ok : status::bad_payload_checksum));
    }
}

TEST_CASE("read_record: a header that stands alone is checked before more is waited for") {
    const auto bytes = framed("payload", footer_kind::checksum);
    const auto header = byte_view{bytes}.first(record::header_size);
    CHECK(record::read_record(header).code() == status::truncated);
    const auto wrong = flipped({header.begin(), header.end()}, 3);
    CHECK(record::read_record(wrong).code() == status::bad_length_checksum);
    CHECK(record::read_record(wrong, crc_check::none).code() == status::truncated);
}

TEST_CASE("read_record: length_only checks the length and not the payload") {
    const auto bytes = framed("payload", footer_kind::checksum);
    for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
        const auto read = record::read_record(flipped(bytes, bit), crc_check::length_only);
        REQUIRE(read.code() == (bit / 8 < record::header_size ? status::bad_length_checksum : status::ok));
    }
}

TEST_CASE("read_record: without checks a wrong length is bounded by the bytes that are there") {
    const auto bytes = framed("payload", footer_kind::checksum);
    for (std::size_t bit = 0; bit < 64; ++bit) {
        const auto damaged = flipped(bytes, bit);
        const auto read = record::read_record(damaged, crc_check::none);
        if (read.ok()) {
            REQUIRE(read->size <= damaged.size());
        } else {
            REQUIRE(read.code() == status::truncated);
        }
    }
}

TEST_CASE("read_record: lengths near the largest number do not overflow") {
    constexpr auto max = std::numeric_limits<std::uint64_t>::max();
    for (std::uint64_t length = max; length > max - 40; --length) {
        std::vector<std::byte> bytes(64);
        record::store_header(bytes.data(), record::detail::header::of(length));
        for (const crc_check check : all_checks) {
            REQUIRE(record::read_record(bytes, check).code() == status::truncated);
        }
    }
}

TEST_CASE("reader: walks consecutive records up to the end") {
    auto bytes = framed("one");
    record::append_record(bytes, as_bytes("two"), footer_kind::checksum);
    record::append_record(bytes, as_bytes(""));
    record::detail::reader reader{bytes};
    CHECK(as_text(reader.next()->payload) == "one");
    CHECK(reader.position() == 19);
    CHECK(as_text(reader.next()->payload) == "two");
    CHECK_FALSE(reader.at_end());
    CHECK(as_text(reader.next()->payload).empty());
    CHECK(reader.at_end());
    CHECK(reader.next().code() == status::truncated);
    CHECK(reader.position() == bytes.size());
}

TEST_CASE("reader: keeps its place when a record is cut, continues when bytes arrive") {
    auto whole = framed("first record");
    record::append_record(whole, as_bytes("second record"), footer_kind::checksum);
    for (std::size_t size = 0; size <= whole.size(); ++size) {
        const std::vector<std::byte> cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
        record::detail::reader reader{cut};
        std::vector<std::string> seen;
        auto read = reader.next();
        for (; read.ok(); read = reader.next()) {
            seen.emplace_back(as_text(read->payload));
        }
        REQUIRE(read.code() == status::truncated);
        REQUIRE(reader.at_end() == (size == 0 || size == 28 || size == whole.size()));
        REQUIRE(reader.resume(whole));
        for (read = reader.next(); read.ok(); read = reader.next()) {
            seen.emplace_back(as_text(read->payload));
        }
        REQUIRE(reader.at_end());
        REQUIRE(seen == std::vector<std::string>{"first record", "second record"});
    }
}

TEST_CASE("reader: does not resume in bytes that end before its place") {
    const auto bytes = framed("record");
    record::detail::reader reader{bytes};
    REQUIRE(reader.next().ok());
    CHECK_FALSE(reader.resume(byte_view{bytes}.first(bytes.size() - 1)));
    CHECK(reader.at_end());
    CHECK(reader.resume(bytes));
}

TEST_CASE("reader: steps over a bad payload, stays at a bad length") {
    auto bytes = framed("bad payload", footer_kind::checksum);
    bytes[record::header_size] ^= std::byte{1};
    record::append_record(bytes, as_bytes("good"));
    const std::size_t bad_at = bytes.size();
    record::append_record(bytes, as_bytes("bad length"));
    bytes[bad_at + 2] ^= std::byte{1};
    record::append_record(bytes, as_bytes("not reached"));

    record::detail::reader reader{bytes};
    CHECK(reader.next().code() == status::bad_payload_checksum);
    CHECK(as_text(reader.next()->payload) == "good");
    CHECK(reader.next().code() == status::bad_length_checksum);
    CHECK(reader.next().code() == status::bad_length_checksum);
    CHECK(reader.position() == bad_at);
}

TEST_CASE("reader: reads every golden event file to its end, under every policy") {
    std::size_t records = 0;
    for (const auto& file : event_files::of_all_runs()) {
        const auto bytes = event_files::read(file);
        for (const crc_check check : all_checks) {
            record::detail::reader reader{bytes, check};
            while (reader.next().ok()) {
                ++records;
            }
            REQUIRE_MESSAGE(reader.at_end(), file.string());
        }
    }
    CHECK(records == 3 * 2105);
}

TEST_CASE("reader: the damaged golden files show their damage") {
    const auto first_trouble = [](std::string_view run) {
        for (const auto& file : event_files::of(run)) {
            const auto bytes = event_files::read(file);
            record::detail::reader reader{bytes};
            auto read = reader.next();
            while (read.ok()) {
                read = reader.next();
            }
            if (!reader.at_end() || read.code() != status::truncated) {
                return read.code();
            }
        }
        return status::ok;
    };
    CHECK(first_trouble("damaged/intact") == status::ok);
    CHECK(first_trouble("damaged/truncated_event") == status::truncated);
    CHECK(first_trouble("damaged/truncated_event_tail") == status::truncated);
    CHECK(first_trouble("damaged/flipped_length") == status::bad_length_checksum);
    CHECK(first_trouble("damaged/flipped_length_crc") == status::bad_length_checksum);
    CHECK(first_trouble("damaged/flipped_payload") == status::ok);  // under the package's constant
    CHECK(first_trouble("damaged/flipped_payload_crc") == status::bad_payload_checksum);
    CHECK(first_trouble("damaged/flipped_payload_checksummed") == status::bad_payload_checksum);
}
