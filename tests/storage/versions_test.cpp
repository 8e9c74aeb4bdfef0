#include <smdebug/storage/concepts.hpp>

#include "support/archetypes.hpp"
#include "support/temporary_folder.hpp"
#include "support/test.hpp"

#include <smdebug/storage/any_storage.hpp>
#include <smdebug/storage/local_storage.hpp>
#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/testing/storage_conformance.hpp>

using namespace smdebug;
using namespace smdebug_test;
using namespace smdebug::testing;

namespace {

storage_under_test<memory_storage> map_in_memory() {
    memory_storage store;
    return {.store = store,
            .write = [store](const std::string& key,
                             const std::string& content) mutable { store.write(key, as_bytes(content)); },
            .remove = [store](const std::string& key) mutable { store.remove(key); }};
}

// Writes in place, which only the file's times show, or by renaming.
template <bool Renames>
storage_under_test<local_storage> directory() {
    const auto folder = std::make_shared<temporary_folder>();
    local_storage store{folder->path()};
    return {.store = store,
            .write =
                [store, folder](const std::string& key, const std::string& content) mutable {
                    if constexpr (Renames) {
                        store.write(key, as_bytes(content));
                    } else {
                        folder->write(key, content);
                    }
                },
            .remove = [folder](const std::string& key) { folder->remove(key); }};
}

}  // namespace

TEST_CASE("versions: a map in memory passes the suite") { check_version_conformance(map_in_memory); }
TEST_CASE("versions: files written in place pass the suite") { check_version_conformance(directory<false>); }
TEST_CASE("versions: replaced files pass the suite") { check_version_conformance(directory<true>); }

TEST_CASE("versions: two maps in memory have no equal versions") {
    memory_storage first;
    memory_storage second;
    first.write("a", as_bytes("1"));
    second.write("a", as_bytes("2"));
    CHECK(first.read_versioned("a").version != second.read_versioned("a").version);
    CHECK(first.read_versioned("a").version == first.entries("a", "", 1)->front().version);
}

TEST_CASE("versions: an unchanged file keeps its version once its clock tick is over") {
    const local_storage store{SMDEBUG_TEST_DATA "/golden"};
    const auto some = store.entries("scalars/index/", "", 3);
    REQUIRE(some);
    REQUIRE(some->size() == 3);
    CHECK(store.entries("scalars/index/", "", 3) == some);
    CHECK(store.read_versioned(some->front().key).version == some->front().version);
    CHECK(store.read_versioned(some->front().key).bytes.size() == some->front().size);
}

TEST_CASE("versions: an unknown version differs from none") {
    const object_version first{.tag = "a", .size = 1};
    CHECK_FALSE(first.differs_from(first));
    CHECK_FALSE(first.differs_from({}));
    CHECK_FALSE(object_version{}.differs_from(first));
    CHECK(first.differs_from({.tag = "b"}));
    CHECK(first.differs_from({.tag = {}, .size = 2}));
    CHECK(first.differs_from({.tag = "a", .size = 2}));
}

TEST_CASE("versions: the reports of an object's parts are merged, until one is of another version") {
    object_version told;
    CHECK(told.merge({}));
    CHECK(told.merge({.tag = {}, .size = 1}));
    CHECK(told.merge({.tag = "a"}));
    CHECK(told == object_version{.tag = "a", .size = 1});
    CHECK_FALSE(told.merge({.tag = "b", .size = 1}));
    CHECK_FALSE(told.merge({.tag = "a", .size = 2}));
    CHECK(told == object_version{.tag = "a", .size = 1});
}
