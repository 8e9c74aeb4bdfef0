#include <smdebug/archive/directory/tar.hpp>

#include "support/archive_builder.hpp"
#include "support/test.hpp"

#include <smdebug/archive/archive_storage.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/storage/memory_storage.hpp>

using namespace smdebug;
using namespace smdebug::archive::detail;
using namespace smdebug_test;

namespace {

directory directory_of(const std::string& archive, const archive_options& options = {}) {
    memory_storage store;
    store.write("a", as_bytes(archive));
    return read_tar(stored_source{store, "a"}, options, [](std::string_view, const member&) {});
}

// The content of each member, read at the place in the directory.
std::map<std::string, std::string> contents_of(const std::string& archive) {
    std::map<std::string, std::string> contents;
    for (const auto& [key, file] : directory_of(archive).members) {
        contents[key] = file.how == packing::refused   ? "refused: " + file.why
                        : file.how == packing::nowhere ? "nowhere: " + file.why
                                                       : archive.substr(file.where.offset, file.where.length);
    }
    return contents;
}

using texts = std::map<std::string, std::string>;

}  // namespace

TEST_CASE("tar: names of ustar, GNU and pax") {
    const std::string deep = std::string(90, 'd') + "/" + std::string(120, 'f');
    std::string split = tar_head({.name = "name", .content = "1"});
    split.replace(345, 6, "prefix");
    set_tar_sum(split);
    CHECK(contents_of(tar_member({.name = "./a/./b", .content = "x"}) + tar_end()) == texts{{"a/b", "x"}});
    CHECK(contents_of(tar_member({.name = deep, .content = "y"}) + tar_end()) == texts{{deep, "y"}});
    CHECK(contents_of(split + padded_to_block("1") + tar_end()) == texts{{"prefix/name", "1"}});
    const std::string pax =
        tar_member({.name = "pax", .content = pax_record("path", deep) + pax_record("mtime", "1.5"), .kind = 'x'});
    CHECK(contents_of(pax + tar_member({.name = "short", .content = "z"}) +
                      tar_member({.name = "next", .content = "n"}) + tar_end()) == texts{{deep, "z"}, {"next", "n"}});
    const std::string all = tar_member({.name = "g", .content = pax_record("path", "for all"), .kind = 'g'});
    CHECK(contents_of(all + tar_member({.name = "short", .content = "z"}) + tar_end()) == texts{{"for all", "z"}});
}

TEST_CASE("tar: a hard link takes the place of a symbolic one") {
    const std::string archive = tar_member({.name = "a", .content = "1"}) + tar_member({.name = "b", .content = "2"}) +
                                tar_member({.name = "link", .kind = '2', .link = "a"}) +
                                tar_member({.name = "link", .kind = '1', .link = "b"}) + tar_end();
    CHECK(contents_of(archive) == texts{{"a", "1"}, {"b", "2"}, {"link", "2"}});
}

TEST_CASE("tar: hard links are members that count") {
    std::string archive = tar_member({.name = "a", .content = "1"});
    for (const char name : {'b', 'c', 'd'}) {
        archive += tar_member({.name = std::string(1, name), .kind = '1', .link = "a"});
    }
    CHECK(directory_of(archive + tar_end(), {.most_members = 4}).members.size() == 4);
    CHECK_THROWS_AS(static_cast<void>(directory_of(archive + tar_end(), {.most_members = 3})), unsupported);
}

TEST_CASE("tar: sizes in octal, base-256 and pax") {
    std::string head = tar_head({.name = "a", .content = std::string(700, 'x')});
    head.replace(124, 12, std::string("\x80\0\0\0\0\0\0\0\0\0\x02\xBC", 12));
    set_tar_sum(head);
    CHECK(contents_of(head + padded_to_block(std::string(700, 'y')) + tar_end()).at("a") == std::string(700, 'y'));
    std::string zero = tar_head({.name = "a"});
    const std::string pax = tar_member({.name = "p", .content = pax_record("size", "700"), .kind = 'x'});
    CHECK(contents_of(pax + zero + padded_to_block(std::string(700, 'z')) + tar_end()).at("a") ==
          std::string(700, 'z'));
    for (const std::string& wrong :
         {std::string("\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF", 12),
          std::string("\x80\x01\0\0\0\0\0\0\0\0\0\0", 12), std::string("12x\0\0\0\0\0\0\0\0\0", 12)}) {
        std::string bad = tar_head({.name = "a"});
        bad.replace(124, 12, wrong);
        set_tar_sum(bad);
        const directory made = directory_of(bad + tar_member({.name = "b", .content = "1"}) + tar_end());
        CHECK(made.members.contains("b"));
        REQUIRE(made.damage.size() == 1);
        CHECK(made.damage[0].what == "a head has no valid size");
    }
}

TEST_CASE("tar: of members with one name the last wins; links have what they name") {
    const std::string archive =
        tar_member({.name = "a", .content = "1"}) + tar_member({.name = "hard", .kind = '1', .link = "a"}) +
        tar_member({.name = "a", .content = "2"}) + tar_member({.name = "d/soft", .kind = '2', .link = "../a"}) +
        tar_member({.name = "d/chain", .kind = '2', .link = "soft"}) +
        tar_member({.name = "x", .kind = '2', .link = "y"}) + tar_member({.name = "y", .kind = '2', .link = "x"}) +
        tar_member({.name = "out", .kind = '2', .link = "../a"}) +
        tar_member({.name = "abs", .kind = '2', .link = "/etc/passwd"}) +
        tar_member({.name = "lost", .kind = '1', .link = "missing"}) +
        tar_member({.name = "folder", .kind = '2', .link = "d"}) +
        tar_member({.name = "way", .kind = '2', .link = "folder"}) + tar_end();
    const auto nowhere = [](const std::string& to) {
        return "nowhere: it is a link to " + to + ", which the archive does not have";
    };
    CHECK(contents_of(archive) == texts{{"a", "2"},
                                        {"hard", "1"},
                                        {"d/soft", "2"},
                                        {"d/chain", "2"},
                                        {"x", nowhere("y")},
                                        {"y", nowhere("x")},
                                        {"out", nowhere("../a")},
                                        {"abs", nowhere("/etc/passwd")},
                                        {"lost", nowhere("missing")}});
    CHECK(directory_of(archive).passed_over == 2);
    CHECK(directory_of(archive).damage.empty());
}

TEST_CASE("tar: the callback gets each member as it is found") {
    memory_storage store;
    store.write("a", as_bytes(tar_member({.name = "a", .content = "1"}) +
                              tar_member({.name = "link", .kind = '1', .link = "a"}) +
                              tar_member({.name = "b", .content = "22"}) + tar_end()));
    std::map<std::string, std::uint64_t> told;
    static_cast<void>(read_tar(stored_source{store, "a"}, {}, [&](std::string_view name, const member& file) {
        told[std::string{name}] = file.size;
    }));
    CHECK(told.at("a") == 1);
    CHECK(told.at("b") == 2);
}

TEST_CASE("tar: a single empty block ends nothing, however many there are") {
    const std::string empty(512, '\0');
    const std::string archive = tar_member({.name = "a", .content = "1"}) + empty +
                                tar_member({.name = "b", .content = "2"}) + empty +
                                tar_member({.name = "c", .content = "3"}) + tar_end();
    CHECK(contents_of(archive) == texts{{"a", "1"}, {"b", "2"}, {"c", "3"}});
    CHECK(directory_of(archive).damage.empty());
}

TEST_CASE("tar: an archive behind the end of another is read, other bytes there are named") {
    const std::string a =
        tar_member({.name = "a", .content = "1"}) + tar_member({.name = "b", .content = "1"}) + tar_end();
    const std::string b = tar_member({.name = "b", .content = "2"}) + tar_end();
    CHECK(contents_of(a + std::string(7 * 512, '\0') + b) == texts{{"a", "1"}, {"b", "2"}});
    CHECK(directory_of(a + b).damage.empty());
    CHECK(directory_of(a + b).problems.empty());
    CHECK(directory_of(a + std::string(700, '\0')).problems.empty());
    for (const std::string& other : {std::string(10, 'x'), std::string(512, '\0') + std::string(900, 'x')}) {
        const directory made = directory_of(a + other);
        CHECK(made.members.size() == 2);
        REQUIRE(made.problems.size() == 1);
        CHECK(made.problems[0].where == ", byte " + std::to_string(a.size() + (other.size() > 512 ? 512U : 0U)));
    }
}

TEST_CASE("tar: folders, by their kind or their name, do not count as passed over") {
    const directory made =
        directory_of(tar_member({.name = "kind", .kind = '5'}) + tar_member({.name = "name/"}) +
                     tar_member({.name = "both/", .kind = '5'}) + tar_member({.name = "odd/", .kind = 'Q'}) +
                     tar_member({.name = "odd", .kind = 'Q'}) + tar_end());
    CHECK(made.members.empty());
    CHECK(made.passed_over == 1);
    CHECK(made.damage.empty());
}

TEST_CASE("tar: the shortest record of pax is one") {
    const std::string shortest = tar_member({.name = "p", .content = "4 =\n" + pax_record("path", "x"), .kind = 'x'});
    const std::string archive = shortest + tar_member({.name = "a", .content = "1"}) + tar_end();
    CHECK(contents_of(archive) == texts{{"x", "1"}});
    CHECK(directory_of(archive).damage.empty());
    const std::string shorter = tar_member({.name = "p", .content = "3 \n", .kind = 'x'});
    CHECK(directory_of(shorter + tar_member({.name = "a", .content = "1"}) + tar_end()).damage.size() == 1);
}

TEST_CASE("tar: what is no file of a run is passed over") {
    const std::string archive =
        tar_member({.name = "../up", .content = "1"}) + tar_member({.name = "/abs", .content = "2"}) +
        tar_member({.name = "a/../b", .content = "3"}) + tar_member({.name = "folder/", .kind = '5'}) +
        tar_member({.name = "fifo", .kind = '6'}) + tar_member({.name = "odd\nname", .content = "4"}) + tar_end();
    CHECK(contents_of(archive) == texts{{"abs", "2"}, {"odd\nname", "4"}});
    CHECK(directory_of(archive).passed_over == 1);
    const directory made = directory_of(archive);
    REQUIRE(made.problems.size() == 2);
    CHECK(made.problems[0].where == "!/../up");
    CHECK(made.problems[0].kind == problem_kind::left_out);
    CHECK(made.problems[1].where == "!/a/../b");
    std::string many;
    for (int i = 0; i < 20; ++i) {
        many += tar_member({.name = "../up", .content = "1"});
    }
    CHECK(directory_of(many + tar_end()).problems.back().what == "and 4 more in this archive");
}

TEST_CASE("tar: sparse files are refused, and what follows them is found") {
    std::string old = tar_head({.name = "old", .content = "12", .kind = 'S'});
    old[482] = 1;
    set_tar_sum(old);
    const std::string pax =
        tar_member({.name = "p",
                    .content = pax_record("GNU.sparse.major", "1") + pax_record("GNU.sparse.name", "new"),
                    .kind = 'x'});
    const std::string first =
        tar_member({.name = "p",
                    .content = pax_record("GNU.sparse.size", "9") + pax_record("GNU.sparse.numblocks", "1"),
                    .kind = 'x'});
    const std::string archive = old + std::string(512, '\0') + padded_to_block("12") + pax +
                                tar_member({.name = "GNUSparseFile.0/new", .content = "3"}) + first +
                                tar_member({.name = "zero", .content = "5"}) +
                                tar_member({.name = "a", .content = "4"}) + tar_end();
    const texts contents = contents_of(archive);
    CHECK(contents.size() == 4);
    CHECK(contents.at("zero").starts_with("refused: "));
    CHECK(contents.at("a") == "4");
    CHECK(contents.at("old").starts_with("refused: it was stored as a sparse file"));
    CHECK(contents.at("new").starts_with("refused: "));
}

TEST_CASE("tar: damage is reported with its place, and the next head is found") {
    const std::string a = tar_member({.name = "a", .content = "1"});
    const std::string b = tar_member({.name = "b", .content = std::string(2000, '2')});
    const std::string c = tar_member({.name = "c", .content = "3"});
    std::string wrong = b;
    wrong[3] ^= 1;
    const directory made = directory_of(a + wrong + c + tar_end());
    CHECK(made.members.size() == 2);
    REQUIRE(made.damage.size() == 1);
    CHECK(made.damage[0].offset == a.size());
    const auto damage_of = [](const std::string& archive) {
        const directory read = directory_of(archive);
        return read.damage.empty() ? std::string{} : read.damage[0].what;
    };
    CHECK(damage_of(a + b).starts_with("it ends without the two empty blocks"));
    CHECK(damage_of((a + b).substr(0, a.size() + 100)) == "it ends inside of a head: it is cut");
    CHECK(damage_of(a + b + std::string(512, '\0')).empty());
    const std::string pax = tar_member({.name = "p", .content = "nonsense", .kind = 'x'});
    CHECK(damage_of(pax + c + tar_end()) == "a head of pax is damaged");
    for (const char* const size : {"7x", "x", "-1", "99999999999999999999"}) {
        const std::string no_size = tar_member({.name = "p", .content = pax_record("size", size), .kind = 'x'});
        CHECK(damage_of(no_size + c + tar_end()) == "a head has no valid size");
    }
    std::string large = tar_head({.name = "././@LongLink", .kind = 'L'});
    large.replace(124, 12, std::string("77777777777\0", 12));
    set_tar_sum(large);
    CHECK(damage_of(large + c + tar_end()).starts_with("a head about the next member has "));
}

TEST_CASE("tar: more members than options allow") {
    const std::string archive = tar_member({.name = "a"}) + tar_member({.name = "b"}) + tar_end();
    CHECK_THROWS_AS(directory_of(archive, {.most_members = 1}), unsupported);
    CHECK(directory_of(archive, {.most_members = 2}).members.size() == 2);
}

TEST_CASE("is_tar_head: by the checksum, signed or not") {
    std::string head = tar_head({.name = "h\xC3\xA4sslich"});
    CHECK(is_tar_head(as_bytes(head)));
    CHECK_FALSE(is_tar_head(as_bytes(head).first(511)));
    head[0] ^= 1;
    CHECK_FALSE(is_tar_head(as_bytes(head)));
    CHECK_FALSE(is_tar_head(as_bytes(std::string(512, '\0'))));
    std::string old = tar_head({.name = "h\xC3\xA4sslich"});
    int sum = 0;
    for (std::size_t i = 0; i < 512; ++i) {
        sum += i >= 148 && i < 156 ? ' ' : static_cast<signed char>(old[i]);
    }
    std::snprintf(old.data() + 148, 8, "%06o", static_cast<unsigned>(sum));
    CHECK(is_tar_head(as_bytes(old)));
}
