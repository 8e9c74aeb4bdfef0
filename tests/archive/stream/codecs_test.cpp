// The requirements on a codec, checked for both.
#include <smdebug/archive/stream/byte_source.hpp>

#include "support/archive_builder.hpp"
#include "support/stored_archive.hpp"
#include "support/test.hpp"

#include <smdebug/archive/stream/codecs.hpp>

using namespace smdebug;
using namespace smdebug::archive::detail;
using namespace smdebug_test;

TEST_CASE("codec: a decoder begins at a point, counts what it took, and ends with nothing") {
    const auto check = [](const codec& format, const std::string& packed, std::string_view name) {
        CHECK(format.name() == name);
        CHECK(format.gains_by_threads() == (name != "zstd"));
        const auto source = stored(packed);
        const auto decoder = format.begin(source, nullptr);
        CHECK(decoder->consumed() == 0);
        REQUIRE(decoder->point() != nullptr);
        const auto written = decoder->point()->written();
        const auto again = format.restore(written);
        REQUIRE(again != nullptr);
        CHECK(again->written() == written);
        CHECK(again->loaded(again) == again);
        CHECK(format.restore({}) == nullptr);
        CHECK(format.restore(byte_view{written}.first(written.size() - 1)) == nullptr);
        std::array<std::byte, 100> out{};
        CHECK(decoder->decode(out, out.size()) == 5);
        CHECK(decoder->decode(out, out.size()) == 0);
        CHECK(decoder->consumed() == packed.size());
    };
    check(*deflate_codec(deflate_wrap::gzip), gzip_of("hello"), "gzip");
    check(*zstd_codec(), zstd_of("hello"), "zstd");
}
