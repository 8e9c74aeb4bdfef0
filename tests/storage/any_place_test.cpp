#include <smdebug/storage/any_place.hpp>

#include "support/archetypes.hpp"
#include "support/storage_conformance.hpp"
#include "support/temporary_folder.hpp"
#include "support/writing_conformance.hpp"

#include <smdebug/storage/any_storage.hpp>
#include <smdebug/storage/local_storage.hpp>
#include <smdebug/storage/memory_storage.hpp>

#include <doctest/doctest.h>

#include <concepts>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace smdebug;
using namespace smdebug_test;

namespace {

// Around any storage that shares its objects with `store`.
template <class Inner>
storage_under_test<any_place> erased(Inner inner, memory_storage store) {
    return {.store = any_place{std::move(inner)},
            .write = [store](const std::string& key,
                             const std::string& content) mutable { store.write(key, as_bytes(content)); },
            .remove = [store](const std::string& key) mutable { store.remove(key); }};
}

storage_under_test<any_place> erased_map() {
    const memory_storage store;
    return erased(store, store);
}

storage_under_test<any_place> erased_directory() {
    const auto folder = std::make_shared<temporary_folder>();
    return {
        .store = any_place{local_storage{folder->path() + "/run"}},
        .write = [folder](const std::string& key, const std::string& content) { folder->write("run/" + key, content); },
        .remove = [folder](const std::string& key) { folder->remove("run/" + key); }};
}

// Around what can do one thing beyond the concept, or none.
template <class Archetype>
storage_under_test<any_place> erased_archetype() {
    const memory_storage store;
    return erased(Archetype{store}, store);
}

template <class Storage>
Storage filled(Storage store, const object_map& objects) {
    for (const auto& [key, content] : objects) {
        store.write(key, as_bytes(content));
    }
    return store;
}

}  // namespace

TEST_CASE("any_place: passes the conformance suite over a map in memory") {
    check_storage_conformance([](const object_map& objects) { return any_place{filled(memory_storage{}, objects)}; });
}
TEST_CASE("any_place: passes it over a directory, with objects that it wrote itself") {
    const temporary_folder folder;
    check_storage_conformance(
        [&](const object_map& objects) { return filled(any_place{local_storage{folder.path()}}, objects); });
}
TEST_CASE("any_place: passes it over what cannot be copied, and can write and nothing else") {
    check_storage_conformance(
        [](const object_map& objects) { return filled(any_place{writable_archetype{memory_storage{}}}, objects); });
}

TEST_CASE("any_place: is written piece by piece over a map in memory") { check_output_conformance(erased_map); }
TEST_CASE("any_place: is written piece by piece over a directory") { check_output_conformance(erased_directory); }
TEST_CASE("any_place: is written piece by piece over what has outputs of its own") {
    check_output_conformance(erased_archetype<appending_archetype>);
}
TEST_CASE("any_place: is written piece by piece over what has none") {
    check_output_conformance(erased_archetype<writable_archetype>);
}
TEST_CASE("any_place: removes objects of a map in memory") { check_removal_conformance(erased_map); }
TEST_CASE("any_place: removes files") { check_removal_conformance(erased_directory); }
TEST_CASE("any_place: removes what an archetype removes") {
    check_removal_conformance(erased_archetype<removing_archetype>);
}
TEST_CASE("any_place: holds keys of a map in memory") { check_claim_conformance(erased_map); }
TEST_CASE("any_place: holds keys of a directory") { check_claim_conformance(erased_directory); }
TEST_CASE("any_place: holds what an archetype holds") { check_claim_conformance(erased_archetype<claiming_archetype>); }

TEST_CASE("any_place: says what the inner storage cannot do, and refuses it, naming place and key") {
    const auto made = erased_archetype<writable_archetype>();
    auto place = made.store;
    const auto& write = made.write;
    CHECK_FALSE(place.removes());
    CHECK_FALSE(place.claims());
    CHECK_FALSE(worth_claiming(place));
    CHECK_FALSE(can_remove(place));
    write("key", "content");
    const auto refuses = [](auto&& call) {
        try {
            call();
        } catch (const unsupported& thrown) {
            CHECK(thrown.where() == "key");
            const std::string says = thrown.what();
            CHECK(says.find("archetype") != std::string::npos);
            CHECK(says.find("key") != std::string::npos);
            return true;
        }
        return false;
    };
    any_place& store = place;
    CHECK(refuses([&] { store.remove("key"); }));
    CHECK(refuses([&] { static_cast<void>(store.claim("key")); }));
    CHECK(refuses([&] { static_cast<void>(store.claimed("key")); }));
    CHECK(text_of(place.read("key")) == "content");

    CHECK(erased_archetype<removing_archetype>().store.removes());
    CHECK_FALSE(erased_archetype<removing_archetype>().store.claims());
    CHECK(erased_archetype<claiming_archetype>().store.claims());
    CHECK_FALSE(erased_archetype<claiming_archetype>().store.removes());
    CHECK(worth_claiming(erased_directory().store));
    CHECK(can_remove(erased_directory().store));
}

TEST_CASE("any_place: keeps the inner storage's word on what it can do today") {
    class moody : public memory_storage {
    public:
        [[nodiscard]] bool claims() const { return false; }
        [[nodiscard]] bool removes() const { return false; }
    };
    const any_place place{moody{}};
    CHECK_FALSE(place.claims());
    CHECK_FALSE(place.removes());
}

TEST_CASE("any_place: keeps the inner storage's batch reads and its word on whether it is there") {
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
    const any_place place{inner};
    const std::vector<std::string> keys{"x", "y"};
    int called = 0;
    place.read_each(keys, [&](std::size_t, std::optional<byte_view>) { ++called; });
    CHECK(*inner.batches == 1);
    CHECK(called == 2);
    CHECK_FALSE(place.exists());
    CHECK(any_place{memory_storage{}}.exists());  // which cannot tell
    CHECK_FALSE(any_place{local_storage{"/not/there"}}.exists());
    CHECK(any_place{local_storage{"/not/there"}}.name() == "/not/there");
}

TEST_CASE("any_place: copies are handles on one place, also of a storage that cannot be copied") {
    any_place first{appending_archetype{memory_storage{}}};
    any_place second = first;
    auto out = first.create("a");
    append_texts(out, {"from the first"});
    { const any_place gone = std::move(first); }
    out.commit(durability::cached);
    CHECK(text_of(second.read("a")) == "from the first");
    first = second;
    first.write("b", as_bytes("2"));
    CHECK(second.size("b") == 1);
    const any_storage read_only{second};  // is a storage like any other
    CHECK(read_only.list("", "").size() == 2);
}

TEST_CASE("any_place: is made of what can be written, on purpose, and never of itself") {
    static_assert(std::constructible_from<any_place, memory_storage>);
    static_assert(std::constructible_from<any_place, const local_storage&>);
    static_assert(!std::convertible_to<memory_storage, any_place>);
    static_assert(!std::constructible_from<any_place, any_storage>);
    static_assert(!std::constructible_from<any_place, std::string>);
    static_assert(std::copyable<any_place>);
    static_assert(!std::copy_constructible<any_output> && !std::copy_constructible<any_claim>);
    CHECK(any_place{memory_storage{"label"}}.name() == "memory:label");
}
