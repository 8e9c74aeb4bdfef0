#include <smdebug/archive/stream/decoded_source.hpp>

#include "support/archive_builder.hpp"
#include "support/stored_archive.hpp"
#include "support/test.hpp"

#include <smdebug/archive/stream/codecs.hpp>
#include <smdebug/archive/write/frame.hpp>
#include <smdebug/core/error.hpp>

using namespace smdebug;
using namespace smdebug::archive::detail;
using namespace smdebug_test;

namespace {

/// A third of it is noise, so that packed parts are not tiny.
std::string text_of(std::size_t length) {
    std::mt19937 random{7};
    std::string text(length, 'x');
    for (std::size_t i = 0; i < length; i += 3) {
        text[i] = static_cast<char>(random());
    }
    return text;
}

/// As smdebug pack writes it.
std::string packed_by_frames(compression how, std::string_view text, std::size_t frame_bytes) {
    std::string packed;
    for (; !text.empty(); text.remove_prefix(std::min(frame_bytes, text.size()))) {
        packed += as_text(packed_frame(how, 1, as_bytes(text.substr(0, frame_bytes))));
    }
    return packed;
}

std::shared_ptr<const codec> format_of_kind(compression how) {
    if (how == compression::zstd) {
        return zstd_codec();
    }
    return deflate_codec(deflate_wrap::gzip);
}

/// The whole output of a decoder, and the error that ended it; decoding is tried from each access point.
struct decoded {
    std::string text;
    std::string error;
    std::optional<std::uint64_t> offset;
    std::size_t points = 0;
};

decoded all_of(decoder& by, const codec& format, const std::shared_ptr<const byte_source>& packed) {
    decoded all;
    std::vector<std::byte> out(700'000);
    try {
        while (true) {
            const auto point = by.point();
            const std::size_t more = by.decode(out, 300'000);
            if (more == 0) {
                return all;
            }
            if (point != nullptr) {
                std::vector<std::byte> again(more);
                const auto other = format.begin(packed, point.get());
                std::size_t done = 0;
                for (std::size_t some = 1; done < more && some > 0; done += some) {
                    some = other->decode(std::span{again}.subspan(done), more - done);
                }
                CHECK(as_text(again) == as_text(byte_view{out}.first(more)));
                ++all.points;
            }
            all.text += as_text(byte_view{out}.first(more));
        }
    } catch (const corrupt_data& damage) {
        all.error = damage.message();
        all.offset = damage.offset();
    }
    return all;
}

}  // namespace

TEST_CASE("parallel_decoder: the same bytes as a single decoder, in parts if they store their size") {
    const std::string text = text_of(6'000'000);
    for (const compression how : {compression::gzip, compression::zstd}) {
        const auto format = format_of_kind(how);
        for (const std::size_t frame : {std::size_t{1'000}, std::size_t{300'000}, std::size_t{2'500'000}}) {
            CAPTURE(frame);
            if (frame == 1'000 && how == compression::gzip) {
                continue;  // heads would be most of it
            }
            const std::string packed = packed_by_frames(how, text, frame);
            const auto source = stored(packed);
            for (const unsigned threads : {1U, 3U}) {
                parallel_decoder by{source, format, threads};
                const decoded all = all_of(by, *format, source);
                CHECK(all.text == text);
                CHECK(all.error.empty());
                CHECK(by.parts() >= 3);
                CHECK(all.points >= 3);
                CHECK(by.consumed() == packed.size());
            }
        }
        // These parts do not store their sizes.
        const std::string whole = how == compression::gzip ? gzip_of(text, 1'000'000) : std::string{};
        if (!whole.empty()) {
            parallel_decoder by{stored(whole), format, 2};
            CHECK(all_of(by, *format, stored(whole)).text == text);
            CHECK(by.parts() == 0);
        }
    }
}

TEST_CASE("parallel_decoder: a single decoder continues after the last part with a size, and from a large part on") {
    const std::string text = text_of(3'000'000);
    const auto format = format_of_kind(compression::gzip);
    const std::string packed = packed_by_frames(compression::gzip, text, 500'000) + gzip_of(text) +
                               packed_by_frames(compression::gzip, text, 500'000);
    const auto source = stored(packed);
    parallel_decoder by{source, format, 2};
    CHECK(all_of(by, *format, source).text == text + text + text);
    CHECK(by.parts() >= 2);
    const std::string zeros(40'000'000, '\0');
    const auto dense = stored(packed_by_frames(compression::zstd, zeros, zeros.size()));
    const auto zstd = format_of_kind(compression::zstd);
    parallel_decoder large{dense, zstd, 2};
    CHECK(all_of(large, *zstd, dense).text.size() == zeros.size());
    CHECK(large.parts() == 0);
}

TEST_CASE("parallel_decoder: damage is the same error as with a single decoder, after all bytes before it") {
    const std::string text = text_of(3'000'000);
    for (const compression how : {compression::gzip, compression::zstd}) {
        const auto format = format_of_kind(how);
        const std::string whole = packed_by_frames(how, text, 500'000);
        std::vector<std::string> damaged{whole.substr(0, whole.size() / 2), whole.substr(0, whole.size() - 3)};
        for (const std::size_t place : {whole.size() / 3, whole.size() / 2, whole.size() - 20}) {
            damaged.push_back(whole);
            damaged.back()[place] = static_cast<char>(damaged.back()[place] ^ 0x10);
        }
        for (const std::string& packed : damaged) {
            const auto source = stored(packed);
            const auto one = format->begin(source, nullptr);
            const decoded expected = all_of(*one, *format, source);
            parallel_decoder by{source, format, 3};
            const decoded all = all_of(by, *format, source);
            CHECK_FALSE(expected.error.empty());
            // How much of a damaged block libzstd returns depends on the sizes of the calls.
            constexpr std::size_t block = std::size_t{128} << 10U;
            CHECK_FALSE(all.error.empty());
            REQUIRE(all.offset.has_value());
            REQUIRE(expected.offset.has_value());
            CHECK(*all.offset <= *expected.offset + block);
            CHECK(*expected.offset <= *all.offset + block);
            // The damaged frame's checksum follows its bytes.
            CHECK(text.starts_with(
                all.text.substr(0, all.text.size() - std::min(all.text.size(), std::size_t{500'000}))));
            CHECK(all.text.size() <= expected.text.size() + block);
            CHECK(expected.text.size() <= all.text.size() + block);
        }
    }
}

TEST_CASE("parallel_decoder: heads of gzip that lie about sizes lead nowhere") {
    const auto format = format_of_kind(compression::gzip);
    const std::string text = text_of(600'000);
    const std::string honest = packed_by_frames(compression::gzip, text, 300'000);
    for (const std::uint32_t size : {0U, 20U, 1'000U, 0x7FFFFFFFU, 0xFFFFFFFFU}) {
        std::string packed = honest;
        store_le(reinterpret_cast<std::byte*>(packed.data()) + 16, size);
        const auto source = stored(packed);
        parallel_decoder by{source, format, 2};
        CHECK(all_of(by, *format, source).text == text);
    }
}

TEST_CASE("decoded_source: on several threads it is the same stream") {
    const std::string text = text_of(6'000'000);
    const std::string packed = packed_by_frames(compression::gzip, text, 700'000);
    const decoded_source whole{stored(packed), format_of_kind(compression::gzip), {.memory_bytes = 0, .threads = 3}};
    CHECK(as_text(whole.read({5'000'000, 1'000'000}).view()) == text.substr(5'000'000));
    CHECK(whole.size() == text.size());
    CHECK(as_text(whole.read({100, 2'000'000}).view()) == text.substr(100, 2'000'000));
    CHECK(whole.counted().points >= 3);
}
