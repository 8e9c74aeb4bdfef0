#include <smdebug/storage/any_storage.hpp>

#include "support/archetypes.hpp"
#include "support/storage_conformance.hpp"
#include "support/temporary_folder.hpp"

#include <smdebug/storage/local_storage.hpp>
#include <smdebug/storage/memory_storage.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

using namespace smdebug;
using namespace smdebug_test;

namespace {

storage_under_test<any_storage> erased_map() {
    memory_storage store;
    return {.store = any_storage{store},
            .write = [store](const std::string& key,
                             const std::string& content) mutable { store.write(key, as_bytes(content)); },
            .remove = [store](const std::string& key) mutable { store.remove(key); }};
}

storage_under_test<any_storage> erased_directory() {
    const auto folder = std::make_shared<temporary_folder>();
    return {
        .store = any_storage{local_storage{folder->path() + "/run"}},
        .write = [folder](const std::string& key, const std::string& content) { folder->write("run/" + key, content); },
        .remove = [folder](const std::string& key) { folder->remove("run/" + key); }};
}

// Around a storage that can do nothing beyond the concept.
storage_under_test<any_storage> erased_archetype() {
    auto place = erased_map();
    memory_storage store;
    place.store = any_storage{storage_archetype{store}};
    place.write = [store](const std::string& key, const std::string& content) mutable {
        store.write(key, as_bytes(content));
    };
    place.remove = [store](const std::string& key) mutable { store.remove(key); };
    return place;
}

}  // namespace

TEST_CASE("any_storage: can be followed over a map in memory") { check_follower_conformance(erased_map); }
TEST_CASE("any_storage: can be followed over a directory") { check_follower_conformance(erased_directory); }
TEST_CASE("any_storage: can be followed over what cannot") { check_follower_conformance(erased_archetype); }
TEST_CASE("any_storage: announces changes of a map in memory") { check_signal_conformance(erased_map); }
TEST_CASE("any_storage: announces changes of a directory") { check_signal_conformance(erased_directory); }
TEST_CASE("any_storage: dates objects of a map in memory") { check_dating_conformance(erased_map); }
TEST_CASE("any_storage: dates files of a directory") { check_dating_conformance(erased_directory); }

TEST_CASE("any_storage: has each optional ability that the inner storage has, and says which it has not") {
    memory_storage objects;
    objects.write("index/a", as_bytes("1"));
    const std::vector<std::string> prefixes{"index/"};

    const any_storage plain{storage_archetype{objects}};
    CHECK_FALSE(plain.follows());
    CHECK(plain.watch(prefixes) == nullptr);
    CHECK_FALSE(plain.modified("index/a").has_value());
    auto lists = plain.follow("index/");
    CHECK(lists.next() == std::vector<std::string>{"index/a"});
    CHECK(lists.next() == std::vector<std::string>{"index/a"});

    const any_storage followable{followable_archetype{objects}};
    CHECK(followable.follows());
    CHECK(followable.watch(prefixes) == nullptr);
    auto follows = followable.follow("index/");
    CHECK(follows.next() == std::vector<std::string>{"index/a"});
    CHECK(follows.next().empty());
    follows.forget();
    CHECK(follows.next() == std::vector<std::string>{"index/a"});

    const any_storage reluctant{reluctant_archetype{objects}};
    CHECK_FALSE(reluctant.follows());
    auto still = reluctant.follow("index/");
    CHECK(still.next() == std::vector<std::string>{"index/a"});
    CHECK(still.next().empty());  // the inner storage's own

    CHECK(any_storage{announcing_archetype{objects}}.watch(prefixes) != nullptr);
    CHECK(any_storage{dated_archetype{objects}}.modified("index/a") == objects.modified("index/a"));
}

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
    CHECK_FALSE(erased.is_file());
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
    const temporary_folder folder;
    folder.write("file", "x");
    CHECK(any_storage{local_storage{folder.path() + "/file"}}.is_file());
}

TEST_CASE("any_storage: keeps the inner storage's batches of ranges, and its word on them and on views") {
    memory_storage objects;
    objects.write("key", as_bytes("content"));
    const std::vector<object_range> ranges{{"key", {1, 2}}, {"other", {0, 1}}};
    const auto told = [&](const any_storage& store) {
        std::string all;
        store.read_ranges(ranges, [&](std::size_t i, const std::optional<byte_buffer>& bytes) {
            all += std::to_string(i) + (bytes ? text_of(*bytes) : "-") + " ";
        });
        return all;
    };
    CHECK(told(any_storage{range_batch_archetype{objects}}) == "0on 1- ");
    CHECK(told(any_storage{storage_archetype{objects}}) == "0on 1- ");
    CHECK(any_storage{range_batch_archetype{objects}}.batches_ranges());
    CHECK_FALSE(any_storage{storage_archetype{objects}}.batches_ranges());
    CHECK(any_storage{viewing_archetype{objects}}.views());
    CHECK_FALSE(any_storage{unviewing_archetype{objects}}.views());
    CHECK_FALSE(any_storage{storage_archetype{objects}}.views());
}

TEST_CASE("any_storage: shows what the inner storage shows, and nothing for one that cannot") {
    memory_storage inner;
    inner.write("key", as_bytes("content"));
    const any_storage erased{inner};
    const auto shown = erased.view("key");
    REQUIRE(shown);
    CHECK(text_of(*shown) == "content");
    CHECK(shown->data() == inner.view("key")->data());
    CHECK_FALSE(erased.view("other"));
    CHECK_FALSE(any_storage{storage_archetype{inner}}.view("a"));
}
