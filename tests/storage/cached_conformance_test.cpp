// The suites that storages must pass, run for cached storages: one test case each.
#include <smdebug/storage/cached_storage.hpp>

#include <support/skipped.hpp>
#include "support/counting_storage.hpp"
#include "support/temporary_folder.hpp"

#include <smdebug/storage/any_storage.hpp>
#include <smdebug/storage/cache/disk_cache.hpp>
#include <smdebug/storage/local_storage.hpp>
#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/testing/storage_conformance.hpp>
#include <smdebug/testing/writing_conformance.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

using namespace smdebug;
using namespace smdebug::detail;
using namespace smdebug_test;
using namespace smdebug::testing;

namespace {

const cache_options everything{};

template <class Store>
Store filled(Store store, const object_map& objects) {
    for (const auto& [key, content] : objects) {
        store.write(key, as_bytes(content));
    }
    return store;
}

// Type-erased, so that the suite is compiled once.
void check_erased(const std::function<any_storage(const object_map&)>& make) { check_storage_conformance(make); }

template <class Store>
void check_in_memory(const Store& store, std::uint64_t most_bytes = memory_cache::usual_bytes) {
    check_erased([&](const object_map& objects) {
        return any_storage{cached(filled(store, objects), memory_cache{most_bytes}, everything)};
    });
}

// Through a cache on disk; `warm` reads everything first.
template <class Store>
void check_on_disk(const Store& store, std::uint64_t most_bytes, std::uint64_t most_memory, bool warm = false) {
    const temporary_folder folder;
    check_erased([&](const object_map& objects) {
        const auto made = [&] { return cached(store, disk_cache{folder.path(), most_bytes, most_memory}, everything); };
        filled(store, objects);
        if (warm) {
            const auto before = made();
            for (const auto& held : objects) {
                static_cast<void>(before.read(held.first));
            }
        }
        return any_storage{made()};
    });
}

template <class Store>
storage_under_test<Store> under_test(Store store, std::shared_ptr<temporary_folder> folder = nullptr) {
    return {.store = store,
            .write = [store, folder](const std::string& key,
                                     const std::string& content) mutable { store.write(key, as_bytes(content)); },
            .remove = [store](const std::string& key) mutable { store.remove(key); }};
}
auto cached_map() { return under_test(cached(memory_storage{}, memory_cache{}, everything)); }
auto cached_directory() {
    auto folder = std::make_shared<temporary_folder>();
    return under_test(cached(local_storage{folder->path() + "/run"}, memory_cache{}, everything), folder);
}
auto cached_on_disk() {
    auto folder = std::make_shared<temporary_folder>();
    return under_test(cached(memory_storage{}, disk_cache{folder->path()}, everything), folder);
}

}  // namespace

TEST_CASE("cached_storage: passes the conformance suite over a map in memory") {
    check_storage_conformance([](const object_map& objects) {
        return cached(filled(memory_storage{}, objects), memory_cache{}, everything);
    });
}
TEST_CASE("cached_storage: passes it with the usual cache options") {
    check_erased([](const object_map& objects) { return any_storage{cached(filled(memory_storage{}, objects))}; });
}
TEST_CASE("cached_storage: passes it without any room") { check_in_memory(memory_storage{}, 0); }
TEST_CASE("cached_storage: passes it with room for one byte") { check_in_memory(memory_storage{}, 257); }
TEST_CASE("cached_storage: passes it with room for two small objects") { check_in_memory(memory_storage{}, 600); }
TEST_CASE("cached_storage: passes it over a storage without versions and batches") {
    check_in_memory(plain_counting_storage{});
}
TEST_CASE("cached_storage: passes it over a directory") {
    const temporary_folder folder;
    check_in_memory(local_storage{folder.path()});
}
TEST_CASE("cached_storage: passes it around a type-erased storage") {
    check_erased([](const object_map& objects) {
        return any_storage{cached(any_storage{filled(memory_storage{}, objects)}, memory_cache{}, everything)};
    });
}
TEST_CASE("cached_storage: passes it with an empty disk cache") {
    check_on_disk(memory_storage{}, disk_cache::usual_bytes, disk_cache::usual_memory);
}
TEST_CASE("cached_storage: passes it with a disk cache that has everything") {
    check_on_disk(memory_storage{}, disk_cache::usual_bytes, disk_cache::usual_memory, true);
}
TEST_CASE("cached_storage: passes it with a disk cache that has everything, and nothing in memory") {
    check_on_disk(memory_storage{}, disk_cache::usual_bytes, 0, true);
}
TEST_CASE("cached_storage: passes it with a tiny disk cache") { check_on_disk(memory_storage{}, 10'000, 0, true); }
TEST_CASE("cached_storage: passes it with a disk cache that keeps nothing") { check_on_disk(memory_storage{}, 0, 0); }
TEST_CASE("cached_storage: passes it with a disk cache, over a storage whose batches report no versions") {
    check_on_disk(counting_storage<>{}, 1'000'000, 0, true);
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
TEST_CASE("cached_storage: is written piece by piece with a cache on disk") {
    check_output_conformance(cached_on_disk);
}
TEST_CASE("cached_storage: removes objects") { check_removal_conformance(cached_map); }
TEST_CASE("cached_storage: removes objects with a cache on disk") { check_removal_conformance(cached_on_disk); }
TEST_CASE("cached_storage: holds keys") { check_claim_conformance(cached_directory); }
