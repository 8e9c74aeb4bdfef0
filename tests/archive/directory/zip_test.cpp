#include <smdebug/archive/directory/member.hpp>

#include "support/archive_builder.hpp"
#include "support/test.hpp"

#include <smdebug/archive/archive_storage.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/storage/memory_storage.hpp>

using namespace smdebug;
using namespace smdebug::archive::detail;
using namespace smdebug_test;
using objects = std::map<std::string, std::string>;

namespace {

stored_source source_of(const std::string& archive) {
    memory_storage store;
    store.write("a", as_bytes(archive));
    return {store, "a"};
}

directory directory_of(const std::string& archive, const archive_options& options = {}) {
    return read_zip(source_of(archive), options);
}

}  // namespace

TEST_CASE("zip: members of 32 and of 64 bits, behind other bytes, before a comment") {
    for (const bool wide : {false, true}) {
        for (const std::string& before : {std::string{}, std::string(1000, 'p')}) {
            const std::string archive = zip_of(objects{{"a", "123"}, {"b/c", "45"}}, 0, wide, before);
            CHECK(has_zip_end(source_of(archive)));
            const directory made = directory_of(archive);
            REQUIRE(made.members.size() == 2);
            const member& file = made.members.at("b/c");
            CHECK(file.size == 2);
            CHECK(archive.substr(zip_content_begin(source_of(archive), "b/c", file), 2) == "45");
        }
    }
    std::string commented = zip_of(objects{{"a", "123"}});
    commented.replace(commented.size() - 2, 2, little<std::uint16_t>(5) + "hello");
    CHECK(directory_of(commented).members.size() == 1);
    CHECK(directory_of(zip_of(objects{})).members.empty());
}

TEST_CASE("zip: folders, links, odd names, encryption and other methods") {
    std::string archive = zip_of(objects{{"../x", "1"}, {"/y", "2"}, {"d/", ""}, {"z", "3"}}, 0);
    CHECK(directory_of(archive).members.size() == 2);
    CHECK(directory_of(archive).members.contains("y"));
    REQUIRE(directory_of(archive).problems.size() == 1);
    CHECK(directory_of(archive).problems[0].where == "!/../x");
    const std::size_t entry = archive.rfind(little<std::uint32_t>(0x02014b50));
    const auto with = [&](std::size_t at, const std::string& bytes) {
        std::string changed = archive;
        changed.replace(entry + at, bytes.size(), bytes);
        return directory_of(changed);
    };
    CHECK(with(8, little<std::uint16_t>(1)).members.at("z").why == "it is encrypted");
    CHECK(with(10, little<std::uint16_t>(12)).members.at("z").how == packing::refused);
    CHECK(with(38, little<std::uint32_t>(0120777U << 16U)).members.at("z").why == "it is a symbolic link");
    CHECK(with(46, "/").damage.size() == 1);
}

TEST_CASE("zip: the first 16 names that leave the archive are listed, the others counted; 16 damaged places are kept") {
    objects files;
    for (int i = 0; i < 20; ++i) {
        files["../" + std::to_string(i)] = "1";
    }
    const directory made = directory_of(zip_of(files));
    REQUIRE(made.problems.size() == 17);
    CHECK(made.problems.back().what == "and 4 more in this archive");
    objects folders;
    for (int i = 0; i < 20; ++i) {
        folders[std::to_string(i) + "/"] = "1";
    }
    CHECK(directory_of(zip_of(folders)).damage.size() == 16);
}

TEST_CASE("zip: paths of Windows are paths, where no name has a slash, or the entry is from there") {
    const auto names = [](const objects& some, bool from_dos = false, member_names how = member_names::paths) {
        std::string archive = zip_of(some);
        for (std::size_t at = 0;
             from_dos && (at = archive.find(little<std::uint32_t>(0x02014b50), at)) != std::string::npos; at += 4) {
            archive[at + 5] = '\0';
        }
        std::string all;
        for (const auto& [key, file] : read_zip(source_of(archive), {}, how).members) {
            static_cast<void>(zip_content_begin(source_of(archive), key, file));  // throws if the name differs
            all += key + " ";
        }
        return all;
    };
    CHECK(names({{"r\\a", "1"}, {"r\\b\\c", "2"}, {"r\\", ""}}) == "r/a r/b/c ");
    CHECK(names({{"r\\a", "1"}, {"r/b", "2"}}) == "r/b r\\a ");
    CHECK(names({{"r\\a", "1"}, {"r/b", "2"}}, true) == "r/a r/b ");
    CHECK(names({{"r\\a", "1"}, {"..\\b", "2"}}) == "r/a ");
    CHECK(names({{"r\\a", "1"}, {"/b", "2"}, {"", "3"}}, true, member_names::texts) == "/b r\\a ");
}

TEST_CASE("zip: of members with one name the last wins") {
    const std::multimap<std::string, std::string> twice{{"a", "first"}, {"a", "second, longer"}};
    const directory made = directory_of(zip_of(twice, 0));
    CHECK(made.members.at("a").size == 14);
}

TEST_CASE("zip: a directory that is cut, lies, or is gone") {
    const std::string archive = zip_of(objects{{"a", "1"}, {"b", "2"}});
    CHECK_THROWS_AS(directory_of(archive.substr(0, archive.size() - 1)), corrupt_data);
    CHECK_THROWS_AS(directory_of("PK\x03\x04"), corrupt_data);
    CHECK_FALSE(has_zip_end(source_of("")));
    const auto with = [&](std::size_t from_end, const std::string& bytes) {
        std::string changed = archive;
        changed.replace(changed.size() - from_end, bytes.size(), bytes);
        return changed;
    };
    CHECK_THROWS_AS(directory_of(with(6, little<std::uint32_t>(0xFFFFFF))), corrupt_data);   // its place
    CHECK_THROWS_AS(directory_of(with(10, little<std::uint32_t>(0xFFFFFF))), corrupt_data);  // its length
    CHECK_THROWS_AS(directory_of(with(18, little<std::uint16_t>(1))), unsupported);          // several files
    CHECK_THROWS_AS(directory_of(archive, {.most_members = 1}), unsupported);
    CHECK(directory_of(with(12, little<std::uint16_t>(1))).damage.size() == 1);
    std::string damaged = archive;
    damaged[archive.rfind(little<std::uint32_t>(0x02014b50))] = 'x';
    const directory made = directory_of(damaged);
    CHECK(made.members.size() == 1);
    REQUIRE(made.damage.size() == 1);
    CHECK(made.damage[0].what == "its directory is damaged: 1 members are lost");
    std::string far = archive;
    far.replace(archive.rfind(little<std::uint32_t>(0x02014b50)) + 42, 4, little<std::uint32_t>(0xFFFFFFF0));
    CHECK(directory_of(far).damage.size() == 1);
    CHECK_THROWS_AS(
        static_cast<void>(zip_content_begin(source_of(archive), "b", directory_of(archive).members.at("a"))),
        corrupt_data);
    std::string no_head = archive;
    no_head[0] = 'x';
    CHECK_THROWS_AS(
        static_cast<void>(zip_content_begin(source_of(no_head), "a", directory_of(no_head).members.at("a"))),
        corrupt_data);
}

TEST_CASE("zip: fields of 64 bits that are elsewhere, too short, or not there") {
    const std::string archive = zip_of(objects{{"a", "123"}, {"bc", "45"}}, 0, true);
    const std::size_t entry = archive.rfind(little<std::uint32_t>(0x02014b50));
    const std::size_t extra = entry + 46 + 2;
    REQUIRE(archive.substr(extra, 4) == little<std::uint16_t>(1) + little<std::uint16_t>(24));
    const auto with = [&](std::uint16_t kind, std::uint16_t length) {
        std::string changed = archive;
        return directory_of(changed.replace(extra, 4, little(kind) + little(length)));
    };
    CHECK(with(1, 24).damage.empty());
    const auto is_lost = [](const directory& made) {
        return made.damage.size() == 1 && made.members.contains("a") && !made.members.contains("bc");
    };
    CHECK(is_lost(with(1, 25)));  // longer than the archive
    CHECK(is_lost(with(1, 16)));  // two of the three values
    CHECK(is_lost(with(7, 24)));  // something else
    // After an unknown field: the entry's other fields stay, the directory is 4 bytes longer.
    std::string longer = archive;
    longer.insert(extra, little<std::uint16_t>(7) + little<std::uint16_t>(0));
    longer.replace(entry + 30, 2, little<std::uint16_t>(28 + 4));
    const std::size_t end64 = longer.rfind(little<std::uint32_t>(0x06064b50));
    const std::uint64_t begin = archive.find(little<std::uint32_t>(0x02014b50));
    longer.replace(end64 + 40, 8, little<std::uint64_t>(end64 - begin));
    const std::size_t locator = longer.rfind(little<std::uint32_t>(0x07064b50));
    longer.replace(locator + 8, 8, little<std::uint64_t>(end64));
    const directory made = directory_of(longer);
    CHECK(made.damage.empty());
    REQUIRE(made.members.contains("bc"));
    CHECK(longer.substr(zip_content_begin(source_of(longer), "bc", made.members.at("bc")), 2) == "45");
    // The 64-bit end is not at its stated place.
    std::string elsewhere = archive;
    const std::size_t place = archive.rfind(little<std::uint32_t>(0x07064b50)) + 8;
    elsewhere.replace(place, 8, little<std::uint64_t>(3));
    CHECK_THROWS_AS(directory_of(elsewhere), corrupt_data);
    elsewhere.replace(place, 8, little<std::uint64_t>(archive.size() - 3));
    CHECK_THROWS_AS(directory_of(elsewhere), corrupt_data);
}
