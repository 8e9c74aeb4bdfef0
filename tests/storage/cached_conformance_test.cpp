// The suites that storages must pass, run for cached storages: one test case each.
#include <smdebug/storage/cached_storage.hpp>

#include <support/skipped.hpp>
#include "support/counting_storage.hpp"
#include "support/temporary_folder.hpp"
#include "support/test.hpp"

#include <smdebug/storage/any_storage.hpp>
#include <smdebug/storage/local_storage.hpp>
#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/testing/storage_conformance.hpp>
#include <smdebug/testing/writing_conformance.hpp>

using namespace smdebug;
using namespace smdebug_test;
using namespace smdebug::testing;

namespace {

template <class Store>
Store filled(Store store, const object_map& objects) {
    for (const auto& [key, content] : objects) {
        store.write(key, as_bytes(content));
    }
    return store;
}

void check_in_memory(const any_storage& store, const cache_options& options = {}) {
    check_storage_conformance([&](const object_map& objects) {
        return cached_storage{filled(store, objects), options};
    });
}

// Through a folder; `warm` reads everything first.
void check_on_disk(const any_storage& store, const cache_options& options, bool warm = false) {
    const temporary_folder folder;
    check_storage_conformance([&](const object_map& objects) {
        cache_options here = options;
        here.folder = folder.path();
        filled(store, objects);
        if (warm) {
            const cached_storage before{store, here};
            for (const auto& held : objects) {
                static_cast<void>(before.read(held.first));
            }
        }
        return cached_storage{store, here};
    });
}

storage_under_test<> under_test(cached_storage store, std::shared_ptr<temporary_folder> folder = nullptr) {
    return {.store = store,
            .write = [store, folder](const std::string& key,
                                     const std::string& content) mutable { store.write(key, as_bytes(content)); },
            .remove = [store](const std::string& key) mutable { store.remove(key); }};
}
storage_under_test<> cached_map() { return under_test(cached_storage{memory_storage{}}); }
storage_under_test<> cached_directory() {
    auto folder = std::make_shared<temporary_folder>();
    return under_test(cached_storage{local_storage{folder->path() + "/run"}}, folder);
}
storage_under_test<> cached_on_disk() {
    auto folder = std::make_shared<temporary_folder>();
    return under_test(cached_storage{memory_storage{}, {.folder = folder->path()}}, folder);
}

}  // namespace

TEST_CASE("cached_storage: passes the conformance suite over a map in memory") { check_in_memory(memory_storage{}); }
TEST_CASE("cached_storage: passes it without any room") { check_in_memory(memory_storage{}, {.memory_bytes = 0}); }
TEST_CASE("cached_storage: passes it with room for one byte") {
    check_in_memory(memory_storage{}, {.memory_bytes = 257});
}
TEST_CASE("cached_storage: passes it with room for two small objects") {
    check_in_memory(memory_storage{}, {.memory_bytes = 600});
}
TEST_CASE("cached_storage: passes it over a storage without versions and batches") {
    check_in_memory(plain_counting_storage{});
}
TEST_CASE("cached_storage: passes it over a directory") {
    const temporary_folder folder;
    check_in_memory(local_storage{folder.path()});
}
TEST_CASE("cached_storage: passes it over a cached storage") {
    check_in_memory(any_storage{cached_storage{memory_storage{}}});
}
TEST_CASE("cached_storage: passes it with an empty folder") { check_on_disk(memory_storage{}, {}); }
TEST_CASE("cached_storage: passes it with a folder that has everything") { check_on_disk(memory_storage{}, {}, true); }
TEST_CASE("cached_storage: passes it with a folder that has everything, and nothing in memory") {
    check_on_disk(memory_storage{}, {.memory_bytes = 0}, true);
}
TEST_CASE("cached_storage: passes it with a tiny folder") {
    check_on_disk(memory_storage{}, {.memory_bytes = 0, .folder_bytes = 10'000}, true);
}
TEST_CASE("cached_storage: passes it with a folder that keeps nothing") {
    check_on_disk(memory_storage{}, {.memory_bytes = 0, .folder_bytes = 0});
}
TEST_CASE("cached_storage: passes it with a folder, over a storage whose batches report no versions") {
    check_on_disk(counting_storage<>{}, {.memory_bytes = 0, .folder_bytes = 1'000'000}, true);
}

TEST_CASE("cached_storage: can be followed") { check_follower_conformance(cached_map); }
TEST_CASE("cached_storage: announces changes") {
    if (!check_signal_conformance(cached_map)) {
        skipped(lacking::set_up, "the system gives no signal");
    }
}
TEST_CASE("cached_storage: dates objects") { check_dating_conformance(cached_map); }
TEST_CASE("cached_storage: lists with versions") { check_version_conformance(cached_on_disk); }
TEST_CASE("cached_storage: is written piece by piece") { check_output_conformance(cached_map); }
TEST_CASE("cached_storage: is written piece by piece over a directory") { check_output_conformance(cached_directory); }
TEST_CASE("cached_storage: is written piece by piece with a folder") { check_output_conformance(cached_on_disk); }
TEST_CASE("cached_storage: removes objects") { check_removal_conformance(cached_map); }
TEST_CASE("cached_storage: removes objects with a folder") { check_removal_conformance(cached_on_disk); }
TEST_CASE("cached_storage: holds keys") { check_claim_conformance(cached_directory); }
