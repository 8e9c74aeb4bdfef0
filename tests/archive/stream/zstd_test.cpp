#include <smdebug/archive/stream/codecs.hpp>

#include "support/archive_builder.hpp"
#include "support/stored_archive.hpp"
#include "support/test.hpp"

#include <smdebug/core/error.hpp>

using namespace smdebug;
using namespace smdebug::archive::detail;
using namespace smdebug_test;

namespace {

std::string rest_of(decoder& from) {
    std::string made;
    std::string buffer(500, '\0');
    while (const std::size_t count =
               from.decode(std::as_writable_bytes(std::span{buffer.data(), buffer.size()}), 500)) {
        made.append(buffer, 0, count);
    }
    return made;
}

std::string unpacked(const std::string& packed) { return rest_of(*zstd_codec()->begin(stored(packed), nullptr)); }

}  // namespace

TEST_CASE("zstd: frames behind each other, empty ones, and those that are to be skipped") {
    const std::string skipped = little<std::uint32_t>(0x184D2A5E) + little<std::uint32_t>(3) + "xyz";
    CHECK(unpacked(zstd_of("abc")) == "abc");
    CHECK(unpacked(skipped + zstd_of("abc") + zstd_of("") + skipped + zstd_of("def") + skipped) == "abcdef");
}

TEST_CASE("zstd: a cut, a wrong checksum and other bytes are damage, reported each time") {
    const std::string packed = zstd_of(std::string(3000, 'x') + "abcdefgh");
    for (std::size_t length = 1; length < packed.size(); ++length) {
        CHECK_THROWS_AS(unpacked(packed.substr(0, length)), corrupt_data);
    }
    std::string wrong = packed;
    wrong.back() ^= 1;
    const auto decoder = zstd_codec()->begin(stored(wrong), nullptr);
    CHECK_THROWS_AS(rest_of(*decoder), corrupt_data);
    CHECK_THROWS_AS(rest_of(*decoder), corrupt_data);
    CHECK_THROWS_AS(unpacked(packed + "abcd"), corrupt_data);
}

TEST_CASE("zstd: decoding begins anew between frames, and nowhere else") {
    std::string text;
    for (int i = 0; i < 5000; ++i) {
        text += std::to_string(i * 31) + " ";
    }
    const auto packed = stored(zstd_of(text, 4000));
    const auto first = zstd_codec()->begin(packed, nullptr);
    std::string buffer(6000, '\0');
    std::size_t place = 0;
    std::size_t points = 0;
    while (const std::size_t count =
               first->decode(std::as_writable_bytes(std::span{buffer.data(), buffer.size()}), 1000)) {
        place += count;
        if (const auto point = first->point()) {
            ++points;
            CHECK(place % 4000 == (place == text.size() ? place % 4000 : 0));
            CHECK(rest_of(*zstd_codec()->begin(packed, point.get())) == text.substr(place));
        }
    }
    CHECK(points == (text.size() + 3999) / 4000);
}
