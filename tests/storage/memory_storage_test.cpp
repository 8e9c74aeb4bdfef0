#include <smdebug/storage/memory_storage.hpp>

#include "support/archetypes.hpp"
#include "support/storage_conformance.hpp"

#include <doctest/doctest.h>

using namespace smdebug;
using namespace smdebug_test;

namespace {

memory_storage filled(const object_map& objects) {
    memory_storage store;
    for (const auto& [key, content] : objects) {
        store.write(key, as_bytes(content));
    }
    return store;
}

}  // namespace

TEST_CASE("memory_storage: passes the conformance suite") { check_storage_conformance(filled); }

TEST_CASE("storage_archetype: passes the conformance suite with nothing but the concept's abilities") {
    check_storage_conformance([](const object_map& objects) { return storage_archetype{filled(objects)}; });
}

TEST_CASE("memory_storage: an object that is replaced or removed stays whole for those who hold it") {
    memory_storage store{"held"};
    store.write("a", as_bytes("first"));
    const byte_buffer held = store.read("a");
    store.write("a", as_bytes("second, longer"));
    CHECK(as_text(held.view()) == "first");
    CHECK(as_text(store.read("a").view()) == "second, longer");
    CHECK(store.remove("a"));
    CHECK_FALSE(store.remove("a"));
    CHECK(as_text(held.view()) == "first");
    CHECK_THROWS_AS(static_cast<void>(store.read("a")), not_found);
    CHECK(store.name() == "memory:held");
}

TEST_CASE("memory_storage: copies are handles on the same objects") {
    memory_storage store;
    const memory_storage other = store;
    store.write("x", as_bytes("1"));
    CHECK(other.size("x") == 1);
}
