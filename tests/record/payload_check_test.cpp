#include <smdebug/record/payload_check.hpp>

#include <record/random_bytes.hpp>
#include <smdebug/record/framing.hpp>
#include "support/test.hpp"

using namespace smdebug;
using record::payload_check;

namespace {

constexpr std::size_t length = 5000;

std::vector<std::byte> framed(record::footer_kind kind) {
    std::vector<std::byte> bytes;
    record::append_record(bytes, std::vector<std::byte>(length, std::byte{0x5a}), kind);
    return bytes;
}

byte_view payload_of(const std::vector<std::byte>& framed_bytes) {
    return byte_view{framed_bytes}.subspan(record::header_size, length);
}

}  // namespace

TEST_CASE("payload_check: nothing to check, by default and under the package's constant, whatever the payload") {
    payload_check none;
    CHECK_FALSE(none.needed());
    CHECK(none.holds());
    std::vector<std::byte> bytes = framed(record::footer_kind::package_constant);
    bytes[record::header_size + 7] = std::byte{0};
    payload_check check{payload_of(bytes)};
    CHECK_FALSE(check.needed());
    check.pass(payload_of(bytes).first(10));
    CHECK(check.holds());
}

TEST_CASE("payload_check: a true checksum holds, however the payload is passed: all, some or none of it, with gaps") {
    const std::vector<std::byte> bytes = framed(record::footer_kind::checksum);
    const byte_view payload = payload_of(bytes);
    payload_check untouched{payload};
    CHECK(untouched.needed());
    CHECK(untouched.holds());
    CHECK(untouched.holds());  // asked again
    for (const std::size_t piece : {std::size_t{1}, std::size_t{7}, std::size_t{1024}, length}) {
        payload_check whole{payload};
        payload_check gaps{payload};
        for (std::size_t at = 0; at < length; at += piece) {
            const byte_view part = payload.subspan(at, std::min(piece, length - at));
            whole.pass(part);
            gaps.pass(part.subspan(part.size() / 2));
        }
        payload_check copy = whole;
        CHECK(whole.holds());
        CHECK(copy.holds());
        CHECK(gaps.holds());
        payload_check beginning{payload};
        beginning.pass(payload.subspan(10, piece < length ? piece : 100));
        CHECK(beginning.holds());
    }
}

TEST_CASE("payload_check: every flipped bit is noticed, in what was passed and in what was not") {
    std::vector<std::byte> bytes = framed(record::footer_kind::checksum);
    for (std::size_t at = record::header_size; at < bytes.size(); at += at < record::header_size + length ? 41 : 1) {
        bytes[at] ^= std::byte{4};
        payload_check check{payload_of(bytes)};
        check.pass(payload_of(bytes).subspan(1000, 2000));
        CHECK_FALSE(check.holds());
        bytes[at] ^= std::byte{4};
    }
}

TEST_CASE("payload_check: ignores pieces that are not part of the payload") {
    const std::vector<std::byte> bytes = framed(record::footer_kind::checksum);
    const std::vector<std::byte> elsewhere(10'000);
    payload_check check{payload_of(bytes)};
    check.pass(elsewhere);
    check.pass(byte_view{elsewhere}.first(3));
    check.pass({});
    check.pass(bytes);  // reaches beyond
    CHECK(check.holds());
}
