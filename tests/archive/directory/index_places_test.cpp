#include <smdebug/archive/directory/kept_index.hpp>

#include "support/child_process.hpp"
#include "support/measured_storage.hpp"
#include "support/temporary_folder.hpp"
#include "support/test.hpp"

#include <smdebug/archive/archive_storage.hpp>
#include <smdebug/core/bytes.hpp>

using namespace smdebug;
using namespace smdebug::archive::detail;
using namespace smdebug_test;

namespace {

std::shared_ptr<const byte_source> archive_at(const measured_storage& store, const std::string& key) {
    return std::make_shared<stored_source>(store, key);
}

std::string content_of(const std::shared_ptr<const byte_source>& file) {
    return std::string{as_text(file->read({0, UINT64_MAX}).view())};
}

std::vector<std::filesystem::path> files_in(const std::string& folder) {
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator{folder}) {
        files.push_back(entry.path());
    }
    return files;
}

measured_storage two_archives() {
    measured_storage store;
    store.write("a.tar", "1", "v");
    store.write("b.tar", "2", "v");
    return store;
}

}  // namespace

TEST_CASE("index_places: each archive has its own file in the folder, which is its owner's alone") {
    const temporary_folder folder;
    const measured_storage store = two_archives();
    const index_places a{archive_at(store, "a.tar"), folder.path() + "/new/indexes"};
    const index_places b{archive_at(store, "b.tar"), folder.path() + "/new/indexes"};
    CHECK(a.keeps());
    CHECK(a.find(0) == nullptr);
    a.keep(as_bytes("index of a"));
    a.keep({});  // nothing to store
    CHECK(b.find(0) == nullptr);
    b.keep(as_bytes("index of b"));
    REQUIRE(a.find(0) != nullptr);
    CHECK(content_of(a.find(0)) == "index of a");
    CHECK(as_text(a.find(0)->read({9, 5}).view()) == "a");
    CHECK(a.find(0)->read({10, 5}).empty());
    CHECK(content_of(b.find(0)) == "index of b");
    const auto files = files_in(folder.path() + "/new/indexes");
    CHECK(files.size() == 2);
    for (const std::filesystem::path& each : files) {
        CHECK(each.extension() == ".smdx");
        CHECK((std::filesystem::status(each).permissions() & std::filesystem::perms::mask) ==
              (std::filesystem::perms::owner_read | std::filesystem::perms::owner_write));
    }
}

TEST_CASE("index_places: a file that is open stays what it was; one that is wrong is removed") {
    const temporary_folder folder;
    const measured_storage store = two_archives();
    const index_places places{archive_at(store, "a.tar"), folder.path()};
    places.keep(as_bytes("first"));
    const auto open = places.find(0);
    places.keep(as_bytes("second"));
    CHECK(content_of(open) == "first");
    CHECK(content_of(places.find(0)) == "second");
    CHECK(places.drop(0) == "its index was removed; open it again");
    CHECK(places.find(0) == nullptr);
    CHECK(places.drop(0) == "its index was removed; open it again");  // other readers may have opened it, too
    CHECK(content_of(open) == "first");
}

TEST_CASE("index_places: beside the archive, in whatever storage that is; it is not written there") {
    measured_storage store = two_archives();
    const index_places places{archive_at(store, "a.tar"), ""};
    CHECK_FALSE(places.keeps());
    CHECK(places.find(1) == nullptr);
    places.keep(as_bytes("x"));
    CHECK(store.list("", "") == std::vector<std::string>{"a.tar", "b.tar"});
    store.write("a.tar.smdx", "index", "v");
    CHECK(places.find(0) == nullptr);
    REQUIRE(places.find(1) != nullptr);
    CHECK(content_of(places.find(1)) == "index");
    CHECK(places.drop(1) == "remove its index s3://measured/a.tar.smdx, and open it again");
    CHECK(content_of(places.find(1)) == "index");
}

TEST_CASE("index_places: where nothing can be written, or read, there is no index, and no error") {
    const temporary_folder folder;
    folder.write("file", "x");
    const measured_storage store = two_archives();
    for (const std::string& place :
         {folder.path() + "/file", std::string{"/proc/none"}, std::string{"s3://bucket/x"}}) {
        const index_places places{archive_at(store, "a.tar"), place};
        places.keep(as_bytes("x"));
        CHECK(places.find(0) == nullptr);
    }
    const index_places places{archive_at(store, "a.tar"), folder.path()};
    places.keep(as_bytes("x"));
    const auto files = files_in(folder.path());
    const auto index =
        std::find_if(files.begin(), files.end(), [](const auto& each) { return each.extension() == ".smdx"; });
    REQUIRE(index != files.end());
    std::filesystem::remove(*index);
    std::filesystem::create_directories(*index / "below");  // a folder in its place
    CHECK(places.find(0) == nullptr);
    places.keep(as_bytes("x"));
    CHECK(places.find(0) == nullptr);
}

TEST_CASE("index_places: a folder that may only be read has what is in it, and nothing more") {
    const temporary_folder folder;
    const measured_storage store = two_archives();
    index_places{archive_at(store, "a.tar"), folder.path()}.keep(as_bytes("index"));
    const std::filesystem::path file = files_in(folder.path()).at(0);
    constexpr auto all_read =
        std::filesystem::perms::owner_read | std::filesystem::perms::group_read | std::filesystem::perms::others_read;
    std::filesystem::permissions(file, all_read);
    std::filesystem::permissions(folder.path(), all_read | std::filesystem::perms::owner_exec |
                                                    std::filesystem::perms::group_exec |
                                                    std::filesystem::perms::others_exec);
    const int status = status_of_child([&] {
        become_nobody();
        const index_places a{archive_at(store, "a.tar"), folder.path()};
        const index_places b{archive_at(store, "b.tar"), folder.path()};
        a.keep(as_bytes("other"));
        b.keep(as_bytes("other"));
        const bool is_as_it_was = a.find(0) != nullptr && content_of(a.find(0)) == "index" && b.find(0) == nullptr;
        const bool is_told = a.drop(0) == "remove its index " + file.string() + ", and open it again";
        return is_as_it_was && is_told ? 0 : 1;
    });
    std::filesystem::permissions(folder.path(), std::filesystem::perms::owner_all);
    CHECK(status == 0);
}

TEST_CASE("index_places: processes that write at once leave one of the two, whole") {
    const temporary_folder folder;
    const measured_storage store = two_archives();
    const std::array<std::string, 2> contents{std::string(300'000, 'a'), std::string(500'000, 'b')};
    std::vector<child_process> writers;
    for (const std::string& each : contents) {
        writers.emplace_back([&] {
            const index_places places{archive_at(store, "a.tar"), folder.path()};
            for (int i = 0; i < 50; ++i) {
                places.keep(as_bytes(each));
            }
            return 0;
        });
    }
    const index_places places{archive_at(store, "a.tar"), folder.path()};
    const auto is_whole = [&](const std::string& seen) { return seen == contents[0] || seen == contents[1]; };
    for (int i = 0; i < 100; ++i) {
        if (const auto file = places.find(0)) {
            CHECK(is_whole(content_of(file)));
        }
    }
    for (child_process& each : writers) {
        CHECK(each.wait() == 0);
    }
    REQUIRE(places.find(0) != nullptr);
    CHECK(is_whole(content_of(places.find(0))));
    CHECK(files_in(folder.path()).size() == 1);
}
