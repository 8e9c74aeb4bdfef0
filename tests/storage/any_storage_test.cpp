#include <smdebug/storage/any_storage.hpp>

#include "support/archetypes.hpp"
#include "support/storage_conformance.hpp"
#include "support/temporary_folder.hpp"

#include <smdebug/storage/local_storage.hpp>
#include <smdebug/storage/memory_storage.hpp>

#include <doctest/doctest.h>

#include <memory>

using namespace smdebug;
using namespace smdebug_test;

TEST_CASE("any_storage: passes the conformance suite over a map in memory") {
    check_storage_conformance([](const object_map& objects) {
        memory_storage store;
        for (const auto& [key, content] : objects) {
            store.write(key, as_bytes(content));
        }
        return any_storage{store};
    });
}

TEST_CASE("any_storage: passes it over a directory, and over an archetype that is not copyable") {
    const temporary_folder folder;
    check_storage_conformance([&](const object_map& objects) {
        for (const auto& [key, content] : objects) {
            folder.write(key, content);
        }
        return any_storage{local_storage{folder.path()}};
    });
    memory_storage objects;
    objects.write("a", as_bytes("b"));
    const any_storage erased{storage_archetype{objects}};
    CHECK(text_of(erased.read("a")) == "b");
    CHECK(erased.name() == "archetype");
    CHECK(erased.exists());
}

TEST_CASE("any_storage: keeps the inner storage's batch reads and its word on whether it is there") {
    struct counting : memory_storage {
        std::shared_ptr<int> batches = std::make_shared<int>(0);
        void read_each(std::span<const std::string> keys, object_sink sink) const {
            ++*batches;
            for (std::size_t i = 0; i < keys.size(); ++i) {
                sink(i, std::nullopt);
            }
        }
        [[nodiscard]] bool exists() const { return false; }
    };
    const counting inner;
    const any_storage erased{inner};
    const any_storage again = erased;  // copies share
    const std::vector<std::string> keys{"x", "y"};
    int called = 0;
    again.read_each(keys, [&](std::size_t, std::optional<byte_view>) { ++called; });
    CHECK(*inner.batches == 1);
    CHECK(called == 2);
    CHECK_FALSE(erased.exists());
}
