#include <smdebug/archive/directory/contents.hpp>

#include "support/archive_builder.hpp"
#include "support/stored_archive.hpp"
#include "support/test.hpp"

#include <smdebug/core/error.hpp>

using namespace smdebug;
using namespace smdebug::archive::detail;
using namespace smdebug_test;
using objects = std::map<std::string, std::string>;

namespace {

contents contents_of(const std::string& archive, const archive_options& options = {}) {
    return {stored(archive), options};
}

std::string read(const contents& from, const std::string& key, byte_range where = {0, UINT64_MAX}) {
    return std::string{as_text(from.read(key, from.members().members.at(key), where).view())};
}

}  // namespace

TEST_CASE("format_of: by the first bytes") {
    CHECK(format_of(as_bytes(gzip_of("a"))) == format::gzip);
    CHECK(format_of(as_bytes(zstd_of("a"))) == format::zstd);
    CHECK(format_of(as_bytes(little<std::uint32_t>(0x184D2A51))) == format::zstd);
    CHECK(format_of(as_bytes(zip_of(objects{{"a", ""}}))) == format::zip);
    CHECK(format_of(as_bytes(tar_of(objects{{"a", ""}}))) == format::tar);
    CHECK(format_of({}) == format::unknown);
    CHECK(format_of(as_bytes("PK")) == format::unknown);
}

TEST_CASE("contents: kinds by what they are, whatever their names") {
    const objects some{{"a", "1"}};
    CHECK(contents_of(tar_of(some)).kind() == "tar");
    CHECK(contents_of(gzip_of(tar_of(some))).kind() == "tar.gz");
    CHECK(contents_of(zstd_of(tar_of(some))).kind() == "tar.zst");
    CHECK(contents_of(zip_of(some)).kind() == "zip");
}

TEST_CASE("compression_not_read: by the first bytes") {
    using namespace std::string_view_literals;
    CHECK(compression_not_read(as_bytes("BZh9"sv)) == "bzip2");
    CHECK(compression_not_read(as_bytes("\xFD\x37zXZ\0"sv)) == "xz");
    CHECK(compression_not_read(as_bytes("\x5D\0\0\x80\0"sv)) == "lzma");
    CHECK(compression_not_read(as_bytes("070701"sv)) == "cpio");
    CHECK(compression_not_read(as_bytes("7z\xBC\xAF\x27\x1C"sv)) == "7z");
    CHECK(compression_not_read({}).empty());
    CHECK(compression_not_read(as_bytes(std::string_view{"a text"})).empty());
    CHECK(what_is_read(as_bytes("BZh9"sv)) ==
          "it is packed by bzip2, which is not read; tar, tar.gz, tar.zst and zip are read: unpack it, or pack it "
          "again as "
          "one of these");
}

TEST_CASE("contents: what was inflated of a small archive that is cut, or has other bytes behind it, is read") {
    const objects some{{"a", "123"}, {"b", std::string(3000, 'x')}};
    const std::string gzip = gzip_of(tar_of(some));
    const std::string zstd = zstd_of(tar_of(some));
    for (const std::string& archive :
         {gzip + "garbage", gzip.substr(0, gzip.size() - 8), zstd + "garbage", zstd.substr(0, zstd.size() - 4)}) {
        const contents all = contents_of(archive);
        REQUIRE(all.members().damage.size() == 1);
        for (const auto& [key, content] : some) {
            CHECK(read(all, key) == content);
        }
    }
}

TEST_CASE("contents: a link to nothing is listed, and is damage when it is read") {
    const contents all = contents_of(tar_member({.name = "d/link", .kind = '2', .link = "../gone"}) + tar_end());
    CHECK_THROWS_WITH_AS(read(all, "d/link"), doctest::Contains("it is a link to ../gone"), corrupt_data);
}

TEST_CASE("contents: parts are read in the requested order") {
    for (const std::string& archive :
         {tar_of(objects{{"a", "123"}, {"b", "45"}}), zip_of(objects{{"a", "123"}, {"b", "45"}})}) {
        const contents all = contents_of(archive);
        const member& a = all.members().members.at("a");
        const member& b = all.members().members.at("b");
        std::vector<std::string> got(3);
        const std::vector<contents::wanted_part> parts{{"b", &b, {0, 9}}, {"a", &a, {1, 1}}, {"a", &a, {7, 1}}};
        all.read_many(parts, [&](std::size_t i, const byte_buffer& bytes) { got[i] = as_text(bytes.view()); });
        CHECK(got == std::vector<std::string>{"45", "2", ""});
    }
}

TEST_CASE("contents: a cut or damaged member is an error with archive, member and offset") {
    const std::string archive = tar_of(objects{{"a", std::string(1000, 'x')}});
    const contents cut = contents_of(archive.substr(0, 700));
    CHECK(read(cut, "a", {0, 100}).size() == 100);
    const corrupt_data why = caught<corrupt_data>([&] { return read(cut, "a"); });
    CHECK(why.where() == "memory:run/a!/a");
    CHECK(why.offset() == 700);
    std::string wrong = zip_of(objects{{"a", std::string(1000, 'x')}}, 0);
    wrong[500] ^= 1;
    CHECK_THROWS_AS(static_cast<void>(read(contents_of(wrong), "a")), corrupt_data);
    std::string encrypted = zip_of(objects{{"a", "1"}}, 0);
    encrypted[encrypted.rfind(little<std::uint32_t>(0x02014b50)) + 8] = 1;
    CHECK_THROWS_AS(static_cast<void>(read(contents_of(encrypted), "a")), unsupported);
}

TEST_CASE("contents: a zip of more members than are kept open is read in any order") {
    objects many;
    for (int i = 0; i < 40; ++i) {
        many.emplace("f" + std::to_string(i),
                     std::string(static_cast<std::size_t>(1000 + i), static_cast<char>('a' + i % 26)));
    }
    const contents all = contents_of(zip_of(many));
    for (int round = 0; round < 2; ++round) {
        for (const auto& [key, content] : many) {
            CHECK(read(all, key) == content);
            CHECK(read(all, key, {990, 5}) == content.substr(990, 5));
        }
    }
}
