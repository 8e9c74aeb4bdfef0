#include <smdebug/testing/storage_conformance.hpp>
#include <smdebug/testing/writing_conformance.hpp>
#include <smdebug/watch/recent_steps.hpp>

#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug::detail;
using namespace smdebug::testing;

namespace {

constexpr std::string_view event_file = "events/000000000000/000000000000_worker_0.tfevents";

void put(step_memory& store, std::string_view key, std::string_view text) {
    const auto output = store.create(key);
    const std::array pieces{as_bytes(text.substr(0, text.size() / 2)), as_bytes(text.substr(text.size() / 2))};
    output->append(pieces);
    output->commit(durability::cached);
}

step_memory filled(const object_map& objects) {
    step_memory store;
    for (const auto& [key, content] : objects) {
        store.write(key, as_bytes(content));
    }
    return store;
}

storage_under_test<step_memory> empty_place() {
    step_memory store;
    return {.store = store,
            .write = [store](const std::string& key,
                             const std::string& content) mutable { store.write(key, as_bytes(content)); },
            .remove = [store](const std::string& key) mutable { store.remove(key); }};
}

}  // namespace

TEST_CASE("step_memory: passes the conformance suite") { check_storage_conformance(filled); }
TEST_CASE("step_memory: is written piece by piece") { check_output_conformance(empty_place); }
TEST_CASE("step_memory: removes objects") { check_removal_conformance(empty_place); }

TEST_CASE("step_memory: the memory of a removed event file is used again, that of others is not") {
    step_memory store{1};
    const std::string text(1000, 'x');
    put(store, event_file, text);
    const std::byte* const first = store.read(event_file).data();
    put(store, "index/a.json", "{}");
    CHECK(store.objects() == 2);

    CHECK(store.remove("index/a.json"));
    CHECK(store.spare() == 0);
    CHECK(store.remove(event_file));
    CHECK_FALSE(store.remove(event_file));
    CHECK(store.spare() == 1);
    put(store, event_file, text);
    CHECK(store.read(event_file).data() == first);
    CHECK(store.spare() == 0);
}

TEST_CASE("step_memory: what somebody holds is not used again before he lets go") {
    step_memory store{1};
    put(store, event_file, "an older step");
    std::optional<byte_buffer> held = store.read(event_file, {.offset = 3, .length = 5});
    store.remove(event_file);
    CHECK(store.spare() == 0);
    put(store, event_file, "a newer step!");
    CHECK(as_text(held->view()) == "older");
    held.reset();
    CHECK(store.spare() == 1);
}

TEST_CASE("step_memory: what is held outlives the storage") {
    byte_buffer held;
    {
        step_memory store;
        put(store, event_file, "still here");
        held = store.read(event_file);
    }
    CHECK(as_text(held.view()) == "still here");
}

TEST_CASE("step_memory: no more memory is kept than configured") {
    step_memory store{2};
    for (const char* key : {"events/a", "events/b", "events/c"}) {
        put(store, key, "12345678");
    }
    for (const char* key : {"events/a", "events/b", "events/c"}) {
        store.remove(key);
    }
    CHECK(store.spare() == 2);
}

TEST_CASE("step_memory: a small step leaves the memory of a large one to the next large one") {
    step_memory store{1};
    const std::string large(100'000, 'x');
    put(store, event_file, large);
    const std::byte* const first = store.read(event_file).data();
    store.remove(event_file);
    put(store, "events/small", "12345678");
    CHECK(store.read("events/small").data() != first);
    CHECK(as_text(store.read("events/small").view()) == "12345678");
    CHECK(store.spare() == 1);
    store.remove("events/small");
    put(store, event_file, large);
    CHECK(store.read(event_file).data() == first);
}

TEST_CASE("step_memory: an output that is not committed leaves nothing behind") {
    step_memory store;
    {
        auto output = store.create(event_file);
        const std::array pieces{as_bytes("half")};
        output->append(pieces);
    }
    CHECK(store.objects() == 0);
    CHECK_THROWS_AS(static_cast<void>(store.read(event_file)), not_found);
}
