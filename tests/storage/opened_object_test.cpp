#include <smdebug/storage/concepts.hpp>

#include "support/temporary_folder.hpp"
#include "support/test.hpp"

#include <smdebug/core/bytes.hpp>
#include <smdebug/storage/any_storage.hpp>
#include <smdebug/storage/local_storage.hpp>
#include <smdebug/storage/memory_storage.hpp>

using namespace smdebug;
using namespace smdebug_test;

namespace {

std::string read(const smdebug::opened_object& file, std::uint64_t offset, std::size_t size) {
    std::vector<std::byte> into(size);
    into.resize(file.read_at(offset, into));
    return std::string{as_text(into)};
}

}  // namespace

TEST_CASE("opened_object: a file is read in pieces of one version, even if it is replaced") {
    const temporary_folder folder;
    local_storage store{folder.path()};
    store.write("events/a", as_bytes("0123456789"));
    const auto file = store.open("events/a");
    const auto same = any_storage{store}.open("events/a");
    REQUIRE(file != nullptr);
    REQUIRE(same != nullptr);
    store.write("events/a", as_bytes("another one, which is longer"));
    store.remove("events/a");
    CHECK(file->size() == 10);
    CHECK(same->size() == 10);
    CHECK(read(*file, 0, 4) == "0123");
    CHECK(read(*same, 8, 4) == "89");
    CHECK(read(*file, 2, 3) == "234");
    CHECK(read(*file, 10, 3).empty());
    CHECK(read(*file, 1'000, 3).empty());
}

TEST_CASE("opened_object: what cannot be opened is left to read(), which reports the error") {
    const temporary_folder folder;
    folder.write("folder/inside", "content");
    const local_storage store{folder.path()};
    CHECK(store.open("missing") == nullptr);
    CHECK(store.open("folder") == nullptr);
    CHECK(store.open("../outside") == nullptr);
    CHECK(store.open("") == nullptr);
    memory_storage objects;
    objects.write("a", as_bytes("content"));
    CHECK(any_storage{objects}.open("a") == nullptr);
}
