// Reading these heads uses code that is independent of writing them.
#include <smdebug/archive/write/frame.hpp>

#include <smdebug/archive/archive_storage.hpp>
#include <smdebug/archive/directory/tar.hpp>
#include <smdebug/core/bytes.hpp>
#include <smdebug/storage/memory_storage.hpp>

#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug::archive::detail;

TEST_CASE("tar_head: names of any length, and files of any size, are read back") {
    for (const std::size_t length : {1U, 99U, 100U, 101U, 255U, 4'000U}) {
        const std::string name(length, 'n');
        const std::string content = "bytes";
        std::string archive = tar_head(name, content.size(), 1'700'000'000) + content;
        CHECK((archive.size() - content.size()) % 512 == 0);
        archive.resize(archive.size() + tar_padding(content.size()));
        archive.resize(archive.size() + tar_end_bytes);
        memory_storage store;
        store.write("a", as_bytes(archive));
        const directory there = read_tar(stored_source{store, "a"}, {}, [](std::string_view, const member&) {});
        CHECK(there.damage.empty());
        REQUIRE(there.members.contains(name));
        CHECK(there.members.at(name).size == content.size());
        CHECK(archive.substr(there.members.at(name).where.offset, content.size()) == content);
    }
    // The bytes themselves are missing: the directory says where they would be.
    for (const std::uint64_t size :
         {std::uint64_t{8'589'934'591}, std::uint64_t{8'589'934'592}, std::uint64_t{1} << 40U}) {
        memory_storage store;
        store.write("a", as_bytes(tar_head("large", size, 0)));
        const directory there = read_tar(stored_source{store, "a"}, {}, [](std::string_view, const member&) {});
        REQUIRE(there.members.contains("large"));
        CHECK(there.members.at("large").size == size);
    }
}

TEST_CASE("tar_head: as POSIX has it") {
    const std::string head = tar_head("name", 8, 9);
    REQUIRE(head.size() == 512);
    CHECK(is_tar_head(as_bytes(head)));
    CHECK(head.substr(0, 5) == std::string_view{"name\0", 5});
    CHECK(head.substr(100, 8) == std::string_view{"0000644\0", 8});
    CHECK(head.substr(124, 12) == std::string_view{"00000000010\0", 12});
    CHECK(head.substr(136, 12) == std::string_view{"00000000011\0", 12});
    CHECK(head[156] == '0');
    CHECK(head.substr(257, 8) == std::string_view{"ustar\00000", 8});
    CHECK(tar_padding(0) == 0);
    CHECK(tar_padding(1) == 511);
    CHECK(tar_padding(512) == 0);
    CHECK(tar_padding(513) == 511);
}
