#include <smdebug/archive/write/frame.hpp>

#include "support/stored_archive.hpp"
#include "support/test.hpp"

#include <smdebug/archive/stream/codecs.hpp>
#include <smdebug/archive/stream/decoded_source.hpp>
#include <smdebug/core/bytes.hpp>

#include <zstd.h>

using namespace smdebug;
using namespace smdebug::archive::detail;
using namespace smdebug_test;

TEST_CASE("packed_frame: frames behind each other are read as one stream, with a seek table, too") {
    std::vector<std::string> pieces{std::string(100'000, 'a'), "", "b", std::string(3'000'000, 'c')};
    for (const compression how : {compression::gzip, compression::zstd}) {
        std::vector<std::byte> packed;
        std::vector<frame_size> sizes;
        std::string all;
        for (const std::string& piece : pieces) {
            const std::vector<std::byte> frame = packed_frame(how, usual_level(how), as_bytes(piece));
            packed.insert(packed.end(), frame.begin(), frame.end());
            sizes.push_back({static_cast<std::uint32_t>(frame.size()), static_cast<std::uint32_t>(piece.size())});
            all += piece;
        }
        const std::vector<std::byte> table = seek_table(how, sizes);
        CHECK(table.empty() == (how == compression::gzip));
        packed.insert(packed.end(), table.begin(), table.end());
        const auto source = stored(as_text(packed));
        std::shared_ptr<const codec> format = zstd_codec();
        if (how == compression::gzip) {
            format = deflate_codec(deflate_wrap::gzip);
        }
        const decoded_source whole{source, format};
        CHECK(whole.size() == all.size());
        CHECK(as_text(whole.read({0, all.size()}).view()) == all);
    }
    const std::string text = "as it is";
    CHECK(as_text(packed_frame(compression::none, 0, as_bytes(text))) == text);
}

TEST_CASE("seek_table: the layout that zstd's seekable format has") {
    const std::vector<frame_size> frames{{10, 20}, {30, 40}};
    const std::vector<std::byte> table = seek_table(compression::zstd, frames);
    REQUIRE(table.size() == 8 + 16 + 9);
    CHECK(load_le<std::uint32_t>(table.data()) == 0x184D2A5EU);
    CHECK(load_le<std::uint32_t>(table.data() + 4) == 25);
    CHECK(load_le<std::uint32_t>(table.data() + 20) == 40);
    CHECK(load_le<std::uint32_t>(table.data() + 24) == 2);
    CHECK(table[28] == std::byte{0});
    CHECK(load_le<std::uint32_t>(table.data() + 29) == 0x8F92EAB1U);
    // libzstd skips it.
    std::vector<std::byte> out(1);
    CHECK(ZSTD_decompress(out.data(), out.size(), table.data(), table.size()) == 0);
    CHECK(seek_table(compression::zstd, {}).empty());
}

TEST_CASE("has_level: as the formats have them") {
    CHECK(has_level(compression::zstd, 19));
    CHECK_FALSE(has_level(compression::zstd, 20));
    CHECK(has_level(compression::gzip, 9));
    CHECK_FALSE(has_level(compression::gzip, 10));
    CHECK(has_level(compression::none, 0));
    CHECK_FALSE(has_level(compression::none, 1));
    CHECK_FALSE(has_level(compression::gzip, -1));
    const std::string text(100'000, 'x');
    CHECK(packed_frame(compression::zstd, 19, as_bytes(text)).size() < 200);
}
