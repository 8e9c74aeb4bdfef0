#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/testing/storage_conformance.hpp>
#include <smdebug/testing/writing_conformance.hpp>

#include <support/skipped.hpp>
#include "support/archetypes.hpp"
#include "support/test.hpp"
#include "support/thrown_code.hpp"

using namespace smdebug;
using namespace smdebug_test;
using namespace smdebug::testing;

namespace {

memory_storage filled(const object_map& objects) {
    memory_storage store;
    for (const auto& [key, content] : objects) {
        store.write(key, as_bytes(content));
    }
    return store;
}

storage_under_test<memory_storage> empty_place() {
    memory_storage store;
    return {.store = store,
            .write = [store](const std::string& key,
                             const std::string& content) mutable { store.write(key, as_bytes(content)); },
            .remove = [store](const std::string& key) mutable { store.remove(key); }};
}

}  // namespace

TEST_CASE("memory_storage: passes the conformance suite") { check_storage_conformance(filled); }

TEST_CASE("memory_storage: can be followed") { check_follower_conformance(empty_place); }
TEST_CASE("memory_storage: announces changes") {
    if (!check_signal_conformance(empty_place)) {
        skipped(lacking::set_up, "the system gives no signal");
    }
}
TEST_CASE("memory_storage: dates its objects") { check_dating_conformance(empty_place); }
TEST_CASE("memory_storage: is written piece by piece") { check_output_conformance(empty_place); }
TEST_CASE("memory_storage: removes objects") { check_removal_conformance(empty_place); }
TEST_CASE("memory_storage: holds keys") { check_claim_conformance(empty_place); }

TEST_CASE("memory_storage: a follower returns a key once for each time it was written, and keeps the objects alive") {
    auto store = std::make_unique<memory_storage>();
    auto follower = store->follow("index/");
    store->write("index/b", as_bytes("1"));
    store->write("index/a", as_bytes("1"));
    store->write("events/x", as_bytes("1"));
    CHECK(follower->next() == std::vector<std::string>{"index/a", "index/b"});
    CHECK(follower->next().empty());
    store->write("index/a", as_bytes("another in its place"));
    CHECK(follower->next() == std::vector<std::string>{"index/a"});
    CHECK(follower->next().empty());
    store->remove("index/b");
    CHECK(follower->next().empty());
    store->write("index/b", as_bytes("back"));
    store->write("index/c", as_bytes("gone before it was seen"));
    store->remove("index/c");
    CHECK(follower->next() == std::vector<std::string>{"index/b"});
    auto other = store->follow("events/");
    store.reset();
    follower->forget();
    CHECK(follower->next() == std::vector<std::string>{"index/a", "index/b"});
    CHECK(other->next() == std::vector<std::string>{"events/x"});
}

TEST_CASE("memory_storage: a signal covers only its prefixes, reports removals, and does not keep the objects alive") {
    auto store = std::make_unique<memory_storage>();
    const auto signal = store->watch(std::vector<std::string>{"index/", "end"});
    const auto now = [] { return change_signal::clock::now(); };
    store->write("events/x", as_bytes("1"));
    store->write("collections/end", as_bytes("1"));
    CHECK_FALSE(signal->wait_until(now()));
    store->write("end", as_bytes("1"));
    store->write("index/a", as_bytes("1"));
    CHECK(signal->wait_until(now()));
    CHECK_FALSE(signal->wait_until(now()));
    store->remove("end");
    CHECK(signal->wait_until(now()));
    store->remove("end");  // does not exist
    CHECK_FALSE(signal->wait_until(now()));
    store.reset();
    signal->interrupt();
    CHECK_FALSE(signal->wait_until(far_away()));
}

TEST_CASE("storage_archetype: passes the conformance suite with only the concept's operations") {
    check_storage_conformance([](const object_map& objects) { return storage_archetype{filled(objects)}; });
}

TEST_CASE("memory_storage: a replaced or removed object stays whole for its readers") {
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

TEST_CASE("memory_storage: outputs and claims keep the objects alive") {
    auto store = std::make_unique<memory_storage>();
    const memory_storage other = *store;
    auto out = store->create("a");
    auto held = store->claim("b");
    store.reset();
    append_texts(*out, {"text"});
    out->commit(durability::on_disk);
    CHECK(text_of(other.read("a")) == "text");
    CHECK(other.claimed("b"));
    held->release();
    CHECK_FALSE(other.claimed("b"));
}

TEST_CASE("memory_storage: another copy sees a claim, which is announced like any object") {
    memory_storage store;
    memory_storage copy = store;
    auto follower = store.follow("run/");
    {
        const auto held = store.claim("run/claim");
        CHECK(thrown_code([&] { static_cast<void>(copy.claim("run/claim")); }) == error_code::in_use);
        CHECK(follower->next() == std::vector<std::string>{"run/claim"});
        CHECK(text_of(store.read("run/claim")) == "smdebug, in memory\n");
    }
    CHECK(follower->next().empty());
    CHECK_NOTHROW(static_cast<void>(copy.claim("run/claim")));
}
