#include <smdebug/archive/stream/codecs.hpp>

#include "support/archive_builder.hpp"
#include "support/stored_archive.hpp"
#include "support/test.hpp"

#include <smdebug/core/error.hpp>

using namespace smdebug;
using namespace smdebug::archive::detail;
using namespace smdebug_test;

namespace {

// The whole output of a decoder, `piece` bytes a call.
std::string all_of(decoder& from, std::size_t piece, std::size_t enough) {
    std::string made;
    std::string buffer(piece, '\0');
    while (const std::size_t count =
               from.decode(std::as_writable_bytes(std::span{buffer.data(), buffer.size()}), enough)) {
        made.append(buffer, 0, count);
    }
    return made;
}

std::string inflated(const std::string& packed, deflate_wrap wrap = deflate_wrap::gzip) {
    return all_of(*deflate_codec(wrap)->begin(stored(packed), nullptr), 1000, 1000);
}

std::string numbers(int count) {
    std::string text;
    for (int i = 0; i < count; ++i) {
        text += std::to_string(i * 7919) + ",";
    }
    return text;
}

}  // namespace

TEST_CASE("deflate: a point inside of a member is the same when it comes back, and odd bytes are none") {
    const auto format = deflate_codec(deflate_wrap::gzip);
    for (const bool is_dense : {false, true}) {
        std::string content;
        for (unsigned i = 0; content.size() < 200'000; ++i) {
            content += is_dense ? std::to_string(i * 2654435761U) : little(i * i * 2654435761U);
        }
        const auto source = stored(gzip_of(content));
        const auto decoder = format->begin(source, nullptr);
        std::vector<std::byte> out(content.size());
        const std::size_t before = decoder->decode(out, 1000);
        REQUIRE(before < content.size());
        const std::vector<std::byte> written = decoder->point()->written();
        const auto again = format->begin(source, format->restore(written).get());
        const std::size_t rest = again->decode(out, out.size());
        CHECK((as_text(byte_view{out}.first(rest)) == std::string_view{content}.substr(before)));
        const auto with = [&](std::size_t place, unsigned value) {
            std::vector<std::byte> odd = written;
            odd[place] = static_cast<std::byte>(value);
            return format->restore(odd);
        };
        CHECK(with(8, 8) == nullptr);   // bits of a byte
        CHECK(with(10, 1) == nullptr);  // before a head there is no window
        CHECK(with(11, 2) == nullptr);  // packed or not
        CHECK(with(14, 1) == nullptr);  // the window's length
        CHECK(deflate_codec(deflate_wrap::none)->restore(written) != nullptr);
    }
    const auto at_head =
        format->begin(std::make_shared<part_source>(nullptr, byte_range{}), nullptr)->point()->written();
    CHECK(format->restore(at_head) != nullptr);
    CHECK(deflate_codec(deflate_wrap::none)->restore(at_head) == nullptr);
}

TEST_CASE("deflate: gzip members behind each other, empty ones, zeros behind them") {
    CHECK(inflated(gzip_of("abc")) == "abc");
    CHECK(inflated(gzip_of("abc") + gzip_of("") + gzip_of("def") + std::string(700, '\0')) == "abcdef");
    CHECK(inflated(deflated("abc", -15) + "whatever", deflate_wrap::none) == "abc");
    const std::string text = numbers(50'000);
    CHECK(inflated(gzip_of(text, 10'000)) == text);
}

TEST_CASE("deflate: what a decoder has still to give when it has taken the last byte is no cut") {
    // One of these bytes inflates to a thousand: calls end after the last byte is read and before its output is
    // complete.
    for (const std::size_t size : {std::size_t{70'000}, std::size_t{300'000}, std::size_t{300'001}}) {
        const std::string zeros(size, '\0');
        const std::string packed = deflated(zeros, -15);
        for (const std::size_t piece : {1U, 7U, 64U, 257U, 1000U, 1032U, 4096U}) {
            const auto decoder = deflate_codec(deflate_wrap::none)->begin(stored(packed), nullptr);
            CHECK((all_of(*decoder, piece, piece) == zeros));
        }
        const auto cut = deflate_codec(deflate_wrap::none)->begin(stored(packed.substr(0, packed.size() - 1)), nullptr);
        CHECK_THROWS_AS(all_of(*cut, 1000, 1000), corrupt_data);
    }
}

TEST_CASE("deflate: what stands behind the members, a cut and a wrong checksum are damage") {
    CHECK_THROWS_AS(inflated(gzip_of("abc") + "x"), corrupt_data);
    CHECK_THROWS_AS(inflated(gzip_of("abc") + std::string(10, '\0') + "x"), corrupt_data);
    const std::string packed = gzip_of(numbers(1000));
    for (std::size_t length = 1; length < packed.size(); ++length) {
        CHECK_THROWS_AS(inflated(packed.substr(0, length)), corrupt_data);
    }
    std::string wrong = packed;
    wrong[packed.size() - 6] ^= 1;
    const corrupt_data why = caught<corrupt_data>([&] { return inflated(wrong); });
    CHECK(why.offset().has_value());
    CHECK(why.where() == "memory:run/a");
}

TEST_CASE("deflate: decoding begins anew at each access point, in the midst of bytes and members") {
    const std::string text = numbers(60'000);
    for (const std::size_t member : {std::string::npos, std::size_t{100'000}}) {
        const auto packed = stored(gzip_of(text, member));
        const auto codec = deflate_codec(deflate_wrap::gzip);
        const auto first = codec->begin(packed, nullptr);
        std::size_t place = 0;
        int points = 0;
        std::string buffer(200'000, '\0');
        while (true) {
            if (const auto point = first->point()) {
                ++points;
                CHECK(point->cost() > 0);
                const auto again = codec->begin(packed, point.get());
                CHECK(all_of(*again, 30'000, 30'000) == text.substr(place));
            }
            const std::size_t count =
                first->decode(std::as_writable_bytes(std::span{buffer.data(), buffer.size()}), 20'000);
            if (count == 0) {
                break;
            }
            place += count;
        }
        CHECK(place == text.size());
        CHECK(points > 3);
    }
}

TEST_CASE("deflate: CRC-32 of zip and gzip") { CHECK(crc32_of(as_bytes("123456789")) == 0xCBF43926U); }
