// An archive that was opened before is not read through again, and a kept index of another archive is never used.
#include <smdebug/archive/archive_storage.hpp>

#include "support/archive_builder.hpp"
#include "support/environment_variable.hpp"
#include "support/measured_storage.hpp"
#include "support/temporary_folder.hpp"
#include "support/test.hpp"

#include <smdebug/archive.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/storage/concepts.hpp>
#include <smdebug/storage/local_storage.hpp>
#include <smdebug/storage/open_storage.hpp>

using namespace smdebug;
using namespace smdebug_test;
using objects = std::map<std::string, std::string>;
using measured = archive_storage;

namespace {

std::string noise(std::size_t length, unsigned seed) {
    std::mt19937_64 random{seed};
    std::string made;
    while (made.size() < length) {
        made += little(random());
    }
    made.resize(length);
    return made;
}

// 24 incompressible files of 192 KiB, and a small one.
const objects& members() {
    static const objects some = [] {
        objects made{{"index/000000000/0.json", "{\"meta\": {}}"}};
        for (unsigned i = 0; i < 24; ++i) {
            made.emplace("events/00000000000" + std::string(1, static_cast<char>('a' + i)) + "/0.tfevents",
                         noise(std::size_t{192} << 10U, i));
        }
        return made;
    }();
    return some;
}

struct packed_archive {
    std::string name;
    std::string bytes;
};

std::vector<packed_archive> each_kind(const objects& of) {
    const std::string tar = tar_of(of);
    return {{"tar.gz", gzip_of(tar, std::string_view::npos, 1)},
            {"tar.gz of members", gzip_of(tar, 300'000, 1)},
            {"tar.zst of frames", zstd_of(tar, 300'000)}};
}

void check_members(const measured& open, const objects& expected = members()) {
    std::vector<std::string> keys;
    for (const auto& [key, content] : expected) {
        keys.push_back(key);
        CHECK(open.size(key) == content.size());
        CHECK((as_text(open.read(key).view()) == content));
    }
    CHECK(open.list("", "") == keys);
}

std::uint64_t bytes_of(const std::vector<measured_storage::part>& parts) {
    std::uint64_t sum = 0;
    for (const measured_storage::part& each : parts) {
        sum += each.where.length;
    }
    return sum;
}

constexpr std::uint64_t ends_bytes = 2 * 65'536 + 2 * 512 + 1;

std::vector<std::filesystem::path> indexes_in(const std::string& folder) {
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator{folder}) {
        files.push_back(entry.path());
    }
    return files;
}

class counting_reader final : public inflate_observer {
public:
    [[nodiscard]] std::shared_ptr<const smdebug::object_notes> pass(std::string_view /*key*/,
                                                                    const smdebug::opened_object& /*object*/) override {
        ++passed;
        return nullptr;
    }
    int passed = 0;
};

// The same name in the folder, with any bytes and version.
class kept_in_folder {
public:
    [[nodiscard]] measured open(const std::string& bytes, const std::string& version) {
        store_.write("run", bytes, version);
        return measured{store_, "run", {}, {.index_folder = folder_.path()}};
    }
    [[nodiscard]] std::vector<measured_storage::part> parts() const { return store_.parts(); }
    [[nodiscard]] std::string folder() const { return folder_.path(); }
    [[nodiscard]] std::filesystem::path index() const {
        const auto files = indexes_in(folder());
        REQUIRE(files.size() == 1);
        return files.front();
    }

private:
    temporary_folder folder_;
    measured_storage store_;
};

}  // namespace

TEST_CASE("a second opening reads both ends of the archive, and a member what is around it") {
    for (const packed_archive& each : each_kind(members())) {
        CAPTURE(each.name);
        kept_in_folder kept;
        check_members(kept.open(each.bytes, "1"));
        CHECK(bytes_of(kept.parts()) >= each.bytes.size());
        const measured second = kept.open(each.bytes, "1");
        CHECK(bytes_of(kept.parts()) <= ends_bytes);
        CHECK(second.damage().empty());
        const std::string key = std::prev(members().end(), 2)->first;
        CHECK(as_text(second.read(key, {1000, 100}).view()) == members().at(key).substr(1000, 100));
        CHECK(bytes_of(kept.parts()) < each.bytes.size() * 3 / 4);
        check_members(second);
        check_members(kept.open(each.bytes, "1"));
    }
}

TEST_CASE("a second opening of a plain tar of many members does not read their heads") {
    objects many;
    for (int i = 0; i < 1200; ++i) {
        many.emplace("f" + std::to_string(i), std::string(600, static_cast<char>('a' + i % 26)));
    }
    const std::string tar = tar_of(many);
    kept_in_folder kept;
    check_members(kept.open(tar, "1"), many);
    static_cast<void>(kept.parts());
    const measured second = kept.open(tar, "1");
    CHECK(bytes_of(kept.parts()) <= ends_bytes);
    check_members(second, many);
}

TEST_CASE("an index of another version, size, head or tail is not believed, and made anew") {
    const std::string first = "events/00000000000a/0.tfevents";
    const std::string last = "index/000000000/0.json";
    const auto renamed = [&](const std::string& from, const std::string& to) {
        objects other = members();
        auto node = other.extract(from);
        node.key() = to;
        other.insert(std::move(node));
        return other;
    };
    objects longer = members();
    longer.emplace("z", "1");
    const std::string middle = "events/00000000000j/0.tfevents";
    struct another {
        objects content;
        std::string version;
    };
    for (const another& other :
         {another{renamed(first, "events/000000000000/0.tfevents"), "1"},  // the head
          another{renamed(last, "index/000000000/1.json"), "1"},           // the tail
          another{longer, "1"},                                            // the size
          another{renamed(middle, "events/00000000000jj/.tfevents"), "2"}, another{members(), ""}}) {
        for (const std::string& kind : {std::string{"tar"}, std::string{"tar.gz"}}) {
            const auto packed = [&](const objects& of) {
                return kind == "tar" ? gzip_of(tar_of(of), 100'000, 0) : gzip_of(tar_of(of), std::string_view::npos, 1);
            };
            kept_in_folder kept;
            check_members(kept.open(packed(members()), "1"));
            static_cast<void>(kept.parts());
            const std::string bytes = packed(other.content);
            check_members(kept.open(bytes, other.version), other.content);
            CHECK(bytes_of(kept.parts()) >= bytes.size());
            if (!other.version.empty()) {
                check_members(kept.open(bytes, other.version), other.content);
            }
        }
    }
}

TEST_CASE("an archive without a version has no index") {
    kept_in_folder kept;
    check_members(kept.open(each_kind(members())[0].bytes, ""));
    CHECK(indexes_in(kept.folder()).empty());
}

TEST_CASE("an index that turns out wrong is an error that says what to do, and is gone when that is done") {
    // Stored blocks: a changed byte in the middle moves nothing, and is followed by its own member's checksum.
    objects other = members();
    other.at("events/00000000000j/0.tfevents")[70'000] ^= 1;
    const std::string before = gzip_of(tar_of(members()), 100'000, 0);
    const std::string after = gzip_of(tar_of(other), 100'000, 0);
    REQUIRE(before.size() == after.size());
    kept_in_folder kept;
    check_members(kept.open(before, "1"));
    const measured open = kept.open(after, "1");
    const unavailable why = caught<unavailable>([&] { return open.read("events/00000000000j/0.tfevents"); });
    CHECK(std::string{why.what()}.find("its index was removed; open it again") != std::string::npos);
    CHECK(indexes_in(kept.folder()).empty());
    check_members(kept.open(after, "1"), other);
}

TEST_CASE("a damaged index is made anew, or is right where it can be read") {
    for (const packed_archive& each : each_kind(members())) {
        CAPTURE(each.name);
        kept_in_folder kept;
        check_members(kept.open(each.bytes, "1"));
        const std::string path = kept.index().string();
        const std::string whole = file_content(path);
        std::mt19937 random{5};
        for (int i = 0; i < 12; ++i) {
            std::string wrong = whole;
            if (i % 3 == 0) {
                wrong.resize(random() % wrong.size());
            } else {
                // Also of the points, which are read later, and follow the front.
                const std::size_t place = i % 3 == 1 ? random() % 200 : random() % wrong.size();
                wrong[place] = static_cast<char>(wrong[place] ^ (1 << (random() % 8)));
            }
            std::ofstream{path, std::ios::binary} << wrong;
            const measured open = kept.open(each.bytes, "1");
            const std::string key =
                "events/00000000000" + std::string(1, static_cast<char>('a' + random() % 24)) + "/0.tfevents";
            CHECK((as_text(open.read(key).view()) == members().at(key)));
            if (i < 3) {
                check_members(open);
            }
            if (i % 3 != 2) {
                CHECK(file_content(path) == whole);
            }
            std::ofstream{path, std::ios::binary} << whole;
        }
    }
}

TEST_CASE("an index beside the archive is read, and made by index()") {
    for (const packed_archive& each : each_kind(members())) {
        CAPTURE(each.name);
        measured_storage store;
        store.write("run", each.bytes, "1");
        store.write("run.smdx", std::string{as_text(measured{store, "run"}.index().view())}, "1");
        static_cast<void>(store.parts());
        const measured open{store, "run"};
        std::uint64_t of_archive = 0;
        for (const measured_storage::part& part : store.parts()) {
            of_archive += part.key == "run" ? part.where.length : 0;
        }
        CHECK(of_archive <= ends_bytes);
        check_members(open);
        CHECK(as_text(open.index().view()) == as_text(store.read("run.smdx").view()));
        store.write("run", each.bytes, "2");
        check_members(measured{store, "run"});
    }
}

TEST_CASE(
    "what is small, a zip, a single frame of zstd, or damaged has no index, and none is looked for beside what is "
    "small") {
    measured_storage store;
    store.write("small", gzip_of(tar_of(objects{{"a", "1"}})), "1");
    CHECK(measured{store, "small"}.index().empty());
    CHECK(store.sizes() == std::vector<std::string>{"small"});
    store.write("one frame", zstd_of(tar_of(members())), "1");
    CHECK(measured{store, "one frame"}.index().empty());
    store.write("zip", zip_of(members()), "1");
    CHECK(measured{store, "zip"}.index().empty());
    store.write("few", tar_of(objects{std::next(members().begin(), 15), members().end()}), "1");
    CHECK(measured{store, "few"}.index().empty());
    const std::string tar = tar_of(members());
    store.write("cut", gzip_of(tar.substr(0, tar.size() - 1024), std::string_view::npos, 1), "1");
    const measured cut{store, "cut"};
    CHECK_FALSE(cut.damage().empty());
    CHECK(cut.index().empty());
    const temporary_folder folder;
    static_cast<void>(measured{store, "cut", {}, {.index_folder = folder.path()}});
    CHECK(indexes_in(folder.path()).empty());
}

TEST_CASE("a reader during the pass gets its pass where an index saves none") {
    for (const packed_archive& each : each_kind(members())) {
        CAPTURE(each.name);
        const temporary_folder folder;
        measured_storage store;
        store.write("run", each.bytes, "1");
        const auto passes = [&] {
            const auto reader = std::make_shared<counting_reader>();
            check_members(measured{store, "run", {}, {.index_folder = folder.path(), .in_passing = reader}});
            return reader->passed;
        };
        CHECK(passes() == 24);
        CHECK(indexes_in(folder.path()).size() == 1);
        CHECK(passes() == 0);
    }
    // Two frames, the second of 12 MiB: there are few access points.
    objects more;
    for (const char* const before : {"a/", "b/", "c/"}) {
        for (const auto& [key, content] : members()) {
            more.emplace(before + key, content);
        }
    }
    const std::string tar = tar_of(more);
    const temporary_folder folder;
    measured_storage store;
    store.write("run", zstd_of(tar.substr(0, 1'200'000)) + zstd_of(tar.substr(1'200'000)), "1");
    for (int i = 0; i < 2; ++i) {
        const auto reader = std::make_shared<counting_reader>();
        check_members(measured{store, "run", {}, {.index_folder = folder.path(), .in_passing = reader}}, more);
        CHECK(reader->passed == 72);
        CHECK(indexes_in(folder.path()).size() == 1);
    }
    static_cast<void>(store.parts());
    const measured open{store, "run", {}, {.index_folder = folder.path()}};  // there is no reduce_in_passing()
    CHECK(bytes_of(store.parts()) <= ends_bytes);
}

TEST_CASE("by path: the folder of the cache has the index; another time of the file makes it anew") {
    const temporary_folder folder;
    const temporary_folder cache;
    const std::string path = folder.path() + "/run.tgz";
    const environment_variable variable{"SMDEBUG_CACHE_DIR", cache.path() + "/new"};
    folder.write("run.tgz", gzip_of(tar_of(members()), 100'000, 0));
    CHECK(open_storage(path).list("", "").size() == members().size());
    REQUIRE(indexes_in(cache.path() + "/new").size() == 1);
    const auto written = std::filesystem::last_write_time(path);
    const std::string middle = "events/00000000000j/0.tfevents";
    objects other = members();
    other.emplace("events/00000000000j/1.tfevents", other.at(middle));
    other.erase(middle);
    folder.write("run.tgz", gzip_of(tar_of(other), 100'000, 0));
    std::filesystem::last_write_time(path, written + std::chrono::seconds{2});
    CHECK_FALSE(open_storage(path).size(middle).has_value());
    // The same size, time, head and tail: these identify an archive.
    folder.write("run.tgz", gzip_of(tar_of(members()), 100'000, 0));
    std::filesystem::last_write_time(path, written + std::chrono::seconds{2});
    CHECK_FALSE(open_storage(path).size(middle).has_value());
    CHECK_THROWS_AS(static_cast<void>(open_storage(path).read("events/00000000000j/1.tfevents")), unavailable);
    CHECK(open_storage(path).read(middle).size() == members().at(middle).size());
    storage_options elsewhere;
    elsewhere.archive.index_folder = cache.path() + "/other";
    static_cast<void>(open_storage(path, elsewhere));
    CHECK(indexes_in(cache.path() + "/other").size() == 1);
}
