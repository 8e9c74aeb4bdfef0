#include <smdebug/core/bytes.hpp>
#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/testing/writing_conformance.hpp>

#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug::testing;

namespace {

/// A storage that says of every key that it existed.
struct removing_nothing : memory_storage {
    bool remove(std::string_view key, durability how = durability::cached) override {
        memory_storage::remove(key, how);
        return true;
    }
};

template <class Storage>
storage_under_test<Storage> empty_place() {
    Storage store;
    return {.store = store,
            .write = [store](const std::string& key,
                             const std::string& content) mutable { store.write(key, as_bytes(content)); },
            .remove = [store](const std::string& key) mutable { store.remove(key); }};
}

}  // namespace

TEST_CASE("writing_conformance: kept promises pass, broken ones are named") {
    check_removal_conformance(empty_place<memory_storage>);
    const std::runtime_error refused =
        smdebug_test::caught<std::runtime_error>([&] { check_removal_conformance(empty_place<removing_nothing>); });
    CHECK(std::string_view{refused.what()}.starts_with(
        "the storage does not conform:\n  remove: says whether it was there, and removes nothing else: does not "
        "hold, writing_conformance.hpp:"));
}
