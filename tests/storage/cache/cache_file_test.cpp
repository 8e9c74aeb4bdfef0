#include <smdebug/storage/cache/disk_cache.hpp>

#include "support/temporary_folder.hpp"
#include "support/test.hpp"

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/testing/storage_conformance.hpp>

using namespace smdebug;
using namespace smdebug::detail;
using namespace smdebug_test;
using namespace smdebug::testing;

namespace {

constexpr object_identity what{"s3://bucket/run", "events/1.tfevents", "etag-1"};
constexpr std::uint64_t most = 1'000'000;

}  // namespace

TEST_CASE("cache_file: returns what was written, for that identity only") {
    const temporary_folder folder;
    for (const std::string& content : {std::string{}, std::string{"x"}, std::string(100'000, 'y')}) {
        const std::string path = folder.path() + "/new/folder/" + cache_file::name_of(what);
        const std::uint64_t size = cache_file::write(path, what, as_bytes(content));
        CHECK(size == std::filesystem::file_size(path));
        const auto read = cache_file::read(path, what, most);
        REQUIRE(read);
        CHECK(text_of(*read) == content);
        CHECK(std::filesystem::exists(path));
    }
    CHECK_FALSE(cache_file::read(folder.path() + "/missing", what, most));
    CHECK_FALSE(cache_file::read(folder.path() + "/missing/too", what, most));
}

TEST_CASE("cache_file: each part of the identity matters, in the name and in the file") {
    const temporary_folder folder;
    const std::string path = folder.path() + "/file";
    std::set<std::string> names{cache_file::name_of(what)};
    for (const object_identity& other :
         {object_identity{"s3://bucket/run2", what.key, what.version},
          object_identity{what.store, "events/2.tfevents", what.version},
          object_identity{what.store, what.key, "etag-2"}, object_identity{what.store, what.key, ""},
          // The same text, split elsewhere.
          object_identity{"s3://bucket/runevents", "/1.tfevents", what.version},
          object_identity{what.store, "events/1.tfeventsetag", "-1"}}) {
        CHECK(names.insert(cache_file::name_of(other)).second);
        cache_file::write(path, what, as_bytes("content"));
        CHECK_FALSE(cache_file::read(path, other, most));
        CHECK_FALSE(std::filesystem::exists(path));  // removed, as it has another identity
    }
    for (const std::string& name : names) {
        CHECK(cache_file::is_name(name));
        CHECK_FALSE(cache_file::is_temporary(name));
    }
}

TEST_CASE("cache_file: a truncated, damaged or extended file is ignored and removed") {
    const temporary_folder folder;
    const std::string path = folder.path() + "/file";
    cache_file::write(path, what, as_bytes("the content of the object"));
    const std::string whole = file_content(path);
    const auto believes = [&](const std::string& bytes) {
        folder.write("file", bytes);
        const bool found = cache_file::read(path, what, most).has_value();
        CHECK(std::filesystem::exists(path) == found);
        return found;
    };
    REQUIRE(believes(whole));
    for (std::size_t length = 0; length < whole.size(); ++length) {
        CHECK_FALSE(believes(whole.substr(0, length)));
        std::string flipped = whole;
        flipped[length] = static_cast<char>(flipped[length] ^ 1);
        CHECK_FALSE(believes(flipped));
        std::string zeroed = whole.substr(0, length) + std::string(whole.size() - length, '\0');
        CHECK_FALSE(believes(zeroed));
    }
    CHECK_FALSE(believes(whole + "x"));
    CHECK_FALSE(believes(whole + whole));
    CHECK_FALSE(believes(std::string(1000, '\xFF')));
    CHECK(believes(whole));
}

TEST_CASE("cache_file: too large a file is not read at all") {
    const temporary_folder folder;
    const std::string path = folder.path() + "/file";
    cache_file::write(path, what, as_bytes("content"));
    std::filesystem::resize_file(path, std::uint64_t{1} << 40U);  // sparse
    CHECK_FALSE(cache_file::read(path, what, most));
    CHECK_FALSE(std::filesystem::exists(path));
}

TEST_CASE("cache_file: knows its names, and those of files being written") {
    const std::string name = cache_file::name_of(what);
    CHECK(name.size() == 39);
    const std::string temporary = name.substr(0, 32) + ".tmp.123.0";
    CHECK(cache_file::is_temporary(temporary));
    CHECK_FALSE(cache_file::is_name(temporary));
    CHECK(cache_file::is_name(name.substr(0, 32) + ".smdx"));  // an index of an archive
    for (const std::string other :
         {"", "readme.txt", "old.tar.gz.smdx", "x.cached", "0123456789abcdef.cached", ".tmp.1.1",
          "0123456789abcdef0123456789abcdeg.cached", "0123456789abcdef0123456789abcdef"}) {
        CAPTURE(other);
        CHECK_FALSE(cache_file::is_name(other));
        CHECK_FALSE(cache_file::is_temporary(other));
    }
}
