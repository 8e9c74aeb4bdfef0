#include <smdebug/storage/cached_storage.hpp>

#include "storage/cached_storage_fixture.hpp"
#include "support/archetypes.hpp"
#include "support/counting_storage.hpp"
#include "support/gate.hpp"
#include "support/temporary_folder.hpp"
#include "support/test.hpp"

#include <smdebug/core/error.hpp>
#include <smdebug/storage/any_storage.hpp>
#include <smdebug/storage/cache/disk_cache.hpp>
#include <smdebug/storage/local_storage.hpp>
#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/testing/storage_conformance.hpp>

using namespace smdebug;
using namespace smdebug::detail;
using namespace smdebug_test;
using namespace smdebug_test::caches;
using namespace smdebug::testing;

namespace {

// Waits until another thread has reached a point.
template <class Done>
bool comes_true(Done&& done) {
    const auto until = far_away();
    while (!done()) {
        if (change_signal::clock::now() > until) {
            return false;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds{1});
    }
    return true;
}

}  // namespace

TEST_CASE(
    "cached_storage: has the inner storage's abilities and its name, and reads ahead if there are threads for it") {
    static_assert(storage<cached_storage> && writable_storage<cached_storage> && std::copyable<cached_storage>);
    const memory_storage objects;
    storage_abilities expected = objects.abilities();
    expected.reads_ahead = true;
    CHECK(cached_storage{objects}.abilities() == expected);
    CHECK(cached_storage{any_storage{cached_storage{objects}}}.abilities() == expected);
    CHECK(cached_storage{objects, {.threads_ahead = 0}}.abilities() == objects.abilities());
    for (const any_storage& inner : std::vector<any_storage>{
             storage_archetype{objects}, followable_archetype{objects}, range_batch_archetype{objects},
             viewing_archetype{objects}, unviewing_archetype{objects}, claiming_archetype{objects}}) {
        expected = inner.abilities();
        expected.reads_ahead = true;
        CHECK(cached_storage{inner}.abilities() == expected);
        CHECK(any_storage{cached_storage{inner}}.abilities() == expected);
        CHECK(cached_storage{inner}.name() == "archetype");
    }
    // They may change.
    class learner : public memory_storage {
    public:
        bool* writes = nullptr;
        [[nodiscard]] storage_abilities abilities() const override { return {.writes = *writes}; }
    };
    bool writes = false;
    learner inner;
    inner.writes = &writes;
    const cached_storage around{inner};
    CHECK_FALSE(around.abilities().writes);
    writes = true;
    CHECK(around.abilities().writes);
}

TEST_CASE("cached_storage: a read of a part fetches the whole object once, and later reads copy nothing") {
    counting_storage<> inner;
    inner.write(event_key, as_bytes("0123456789"));
    const auto store = cached_storage{inner};
    CHECK(text_of(store.read(event_key, {2, 3})) == "234");
    CHECK(inner.calls() == std::vector<std::string>{"entries events/", "read " + std::string{event_key}});
    const auto whole = store.read(event_key);
    CHECK(text_of(whole) == "0123456789");
    const auto copy = store;
    CHECK(copy.read(event_key, {4, 100}).data() == whole.data() + 4);
    CHECK(store.view(event_key)->data() == whole.data());
    CHECK(store.read_ahead(event_key));
    CHECK(inner.calls().empty());
}

TEST_CASE("cached_storage: one listing covers a thousand objects") {
    counting_storage<> inner;
    constexpr int all = 2500;
    for (int i = 0; i < all; ++i) {
        inner.write(nth_key(i), as_bytes(std::to_string(i)));
    }
    const auto store = cached_storage{inner};
    for (int i = 0; i < all; ++i) {
        REQUIRE(text_of(store.read(nth_key(i), {0, 9})) == std::to_string(i));
    }
    const auto calls = inner.calls();
    CHECK(count_of(calls, "entries ") == 3);
    CHECK(count_of(calls, "read ") == all);
    CHECK(calls.size() == all + 3);
}

TEST_CASE("cached_storage: caches the keys that its options accept, all by default") {
    counting_storage<> inner;
    inner.write("kept/a", as_bytes("x"));
    inner.write("other/a", as_bytes("x"));
    const auto all = cached_storage{inner};
    const auto some =
        cached_storage{inner, {.cacheable = [](std::string_view key) { return key.starts_with("kept/"); }}};
    const auto is_cached = [&](const auto& store, const std::string& key) {
        static_cast<void>(store.read(key));
        static_cast<void>(inner.calls());
        static_cast<void>(store.read(key, {0, 1}));
        return inner.calls().empty();
    };
    CHECK(is_cached(all, "kept/a"));
    CHECK(is_cached(all, "other/a"));
    CHECK(is_cached(some, "kept/a"));
    CHECK(some.read_ahead("other/a"));
    for (int i = 0; i < 2; ++i) {
        static_cast<void>(some.read("other/a", {0, 1}));
        CHECK(inner.calls() == std::vector<std::string>{"part other/a"});
    }
}

TEST_CASE("cached_storage: parts of too large an object are read each time, and its size is requested once") {
    counting_storage<> inner;
    inner.write(event_key, as_bytes("0123456789"));
    const auto store = cached_storage{inner, {.largest_object = 9}};
    for (int i = 0; i < 3; ++i) {
        CHECK(text_of(store.read(event_key, {2, 3})) == "234");
    }
    CHECK(store.read(event_key).size() == 10);
    CHECK(store.read_ahead(event_key));
    const auto calls = inner.calls();
    CHECK(count_of(calls, "entries ") == 1);
    CHECK(count_of(calls, "part ") == 3);
    CHECK(calls.size() == 5);
}

TEST_CASE("cached_storage: without versions it requests the size once") {
    plain_counting_storage inner;
    inner.write(event_key, as_bytes("0123456789"));
    const auto store = cached_storage{inner};
    for (int i = 0; i < 3; ++i) {
        CHECK(text_of(store.read(event_key, {2, 3})) == "234");
    }
    const std::string key{event_key};
    CHECK(inner.calls() == std::vector<std::string>{"size " + key, "read " + key});
}

TEST_CASE("cached_storage: the least recently used object is evicted first, and stays whole for its readers") {
    counting_storage<> inner;
    for (int i = 0; i < 4; ++i) {
        inner.write(nth_key(i), as_bytes(std::string(1000, static_cast<char>('a' + i))));
    }
    const auto store = cached_storage{inner, {.memory_bytes = 3 * 1256}};
    const byte_buffer first = store.read(nth_key(0));
    for (const int i : {1, 2, 0, 3, 0, 2, 3}) {  // 3 is cached, 1 is evicted
        static_cast<void>(store.read(nth_key(i)));
    }
    CHECK(count_of(inner.calls(), "read ") == 4);
    static_cast<void>(store.read(nth_key(1)));
    CHECK(count_of(inner.calls(), "read ") == 1);
    static_cast<void>(store.read(nth_key(0)));
    CHECK(count_of(inner.calls(), "read ") == 1);
    CHECK(text_of(first) == std::string(1000, 'a'));
}

TEST_CASE("cached_storage: if many threads want the same object, one fetches it") {
    counting_storage<> inner;
    constexpr int objects = 20;
    for (int i = 0; i < objects; ++i) {
        inner.write(nth_key(i), as_bytes(std::string(1000, static_cast<char>('a' + i))));
    }
    const auto store = cached_storage{inner};
    std::atomic<int> wrong{0};
    {
        std::vector<std::jthread> readers;
        for (int thread = 0; thread < 8; ++thread) {
            readers.emplace_back([&] {
                for (int i = 0; i < objects; ++i) {
                    // The first object first: a listing begins at the requested key.
                    wrong +=
                        text_of(store.read(nth_key(i), {10, 5})) == std::string(5, static_cast<char>('a' + i)) ? 0 : 1;
                    static_cast<void>(store.read_ahead(nth_key(objects - 1 - i)));
                }
            });
        }
    }
    CHECK(wrong == 0);
    const auto calls = inner.calls();
    CHECK(count_of(calls, "read ") == objects);
    CHECK(count_of(calls, "entries ") == 1);
    CHECK(count_of(calls, "part ") == 0);
}

TEST_CASE("cached_storage: readers, writers and a cache that is too small return only what was written") {
    const auto try_it = [](auto store) {
        std::atomic<bool> done{false};
        std::atomic<int> wrong{0};
        const auto text = [](int round) { return std::string(2000, static_cast<char>('a' + round % 26)); };
        for (int i = 0; i < 3; ++i) {
            store.write(nth_key(i), as_bytes(text(0)));
        }
        {
            std::vector<std::jthread> readers;
            for (int thread = 0; thread < 3; ++thread) {
                readers.emplace_back([&, thread] {
                    while (!done) {
                        for (int i = 0; i < 3; ++i) {
                            const std::string seen =
                                text_of(store.read(nth_key(i), {static_cast<unsigned>(thread), 500}));
                            wrong += seen == std::string(500, seen.empty() ? '?' : seen.front()) ? 0 : 1;
                            static_cast<void>(store.read_ahead(nth_key((i + 1) % 3)));
                        }
                        wrong += store.list("events/", "").size() == 3 ? 0 : 1;
                    }
                });
            }
            auto writer = store;
            for (int round = 1; round < 200; ++round) {
                writer.write(nth_key(round % 3), as_bytes(text(round)));
                // A write is seen by its own thread, whatever the others do.
                wrong += text_of(store.read(nth_key(round % 3))) == text(round) ? 0 : 1;
            }
            done = true;
        }
        CHECK(wrong == 0);
    };
    const temporary_folder folder;
    try_it(cached_storage{memory_storage{}, {.memory_bytes = 2 * 2256}});
    try_it(cached_storage{memory_storage{}});
    try_it(cached_storage{plain_counting_storage{}});
    try_it(cached_storage{memory_storage{},
                          {.memory_bytes = 3000, .folder = folder.path() + "/1", .folder_bytes = 20'000}});
}

TEST_CASE("cached_storage: a failed fetch fails all threads that waited for it, and is not remembered") {
    counting_storage<> inner;
    inner.write(event_key, as_bytes("0123456789"));
    gate hold;
    std::atomic<int> reads{0};
    inner.before_each([&](const std::string& call) {
        if (call.starts_with("read ") && reads++ == 0) {
            hold.pass();
            throw unavailable("the test says so", {.where = call});
        }
    });
    const auto store = cached_storage{inner};
    std::atomic<int> failed{0};
    {
        std::vector<std::jthread> readers;
        for (int thread = 0; thread < 4; ++thread) {
            readers.emplace_back([&] {
                try {
                    static_cast<void>(store.read(event_key, {1, 1}));
                } catch (const unavailable& thrown) {
                    failed += thrown.where().starts_with("read ") ? 1 : 0;
                }
            });
        }
        hold.await_waiting(1);
        std::this_thread::sleep_for(std::chrono::milliseconds{20});  // usually the others are waiting by then
        hold.open();
    }
    CHECK(failed >= 1);
    CHECK(reads <= 4);
    CHECK(text_of(store.read(event_key, {1, 1})) == "1");
}

TEST_CASE("cached_storage: a read behind the end of a constant object returns nothing, and keeps it cached") {
    counting_storage<> inner;
    inner.write(event_key, as_bytes("0123456789"));
    const auto store = cached_storage{inner};
    CHECK(store.read(event_key, {10, 5}).empty());
    CHECK(store.read(event_key, {UINT64_MAX, 5}).empty());
    static_cast<void>(inner.calls());
    CHECK(text_of(store.read(event_key, {8, 5})) == "89");
    CHECK(store.read(event_key, {12, 0}).empty());
    CHECK(inner.calls().empty());
}

TEST_CASE("cached_storage: a reader without the right to list can read") {
    counting_storage<> inner;
    inner.write(event_key, as_bytes("0123456789"));
    inner.before_each([](const std::string& call) {
        if (call.starts_with("entries ")) {
            throw access_denied("the test says so");
        }
    });
    const std::string key{event_key};
    const auto store = cached_storage{inner};
    CHECK(text_of(store.read(key, {1, 1})) == "1");
    CHECK(text_of(store.read(key, {2, 1})) == "2");
    CHECK(inner.calls() == std::vector<std::string>{"entries events/", "size " + key, "read " + key});
    const temporary_folder folder;
    const auto on_disk = cached_storage{inner, {.folder = folder.path()}};
    CHECK(text_of(on_disk.read(key, {1, 1})) == "1");
    CHECK(text_of(on_disk.read(key, {1, 1})) == "1");
    CHECK(inner.calls() == std::vector<std::string>{"entries events/", "size " + key, "read " + key});
}

TEST_CASE("cached_storage: a listing that fails does not fail the read") {
    counting_storage<> inner;
    inner.write(event_key, as_bytes("0123456789"));
    int failures = 1;
    inner.before_each([&](const std::string& call) {
        if (call.starts_with("entries ") && failures-- > 0) {
            throw unavailable("the test says so");
        }
    });
    const auto store = cached_storage{inner};
    CHECK(text_of(store.read(event_key, {1, 1})) == "1");
    static_cast<void>(inner.calls());
    CHECK(text_of(store.read(event_key, {1, 1})) == "1");
    CHECK(count_of(inner.calls(), "read ") == 1);
}

// Reading ahead ---------------------------------------------------------------------------------------------------

TEST_CASE("cached_storage: read_ahead fetches the object, and a read waits for one on its way") {
    counting_storage<> inner;
    inner.write(event_key, as_bytes("0123456789"));
    gate hold;
    inner.before_each([&](const std::string& call) {
        if (call.starts_with("read ")) {
            hold.pass();
        }
    });
    const auto store = cached_storage{inner};
    CHECK_FALSE(store.read_ahead(event_key));
    hold.await_waiting(1);
    CHECK(store.read_ahead(event_key));  // on its way
    std::string seen;
    {
        const std::jthread reader{[&] { seen = text_of(store.read(event_key, {3, 2})); }};
        std::this_thread::sleep_for(std::chrono::milliseconds{5});
        hold.open();
    }
    CHECK(seen == "34");
    CHECK(count_of(inner.calls(), "read ") == 1);
    CHECK(store.read_ahead(event_key));
}

TEST_CASE("cached_storage: after a failed prefetch the read itself makes a request, even if that fails, too") {
    counting_storage<> inner;
    inner.write(event_key, as_bytes("0123456789"));
    std::atomic<int> reads{0};
    gate hold;
    inner.before_each([&](const std::string& call) {
        if (call.starts_with("read ") && reads++ == 0) {
            hold.pass();
            throw unavailable("the test says so");
        }
    });
    const auto store = cached_storage{inner};
    CHECK_FALSE(store.read_ahead(event_key));
    hold.await_waiting(1);
    std::string seen;
    {
        const std::jthread reader{[&] { seen = text_of(store.read(event_key, {3, 2})); }};
        std::this_thread::sleep_for(std::chrono::milliseconds{5});
        hold.open();
    }
    CHECK(seen == "34");
    CHECK(reads == 2);
    CHECK_FALSE(store.read_ahead("events/missing.tfevents"));
    CHECK_THROWS_AS(static_cast<void>(store.read("events/missing.tfevents")), not_found);
}

TEST_CASE("cached_storage: of too many prefetches the newest are kept, and destruction waits for running ones") {
    counting_storage<> inner;
    for (int i = 0; i < 100; ++i) {
        inner.write(nth_key(i), as_bytes("x"));
    }
    gate hold;
    inner.before_each([&](const std::string& call) {
        if (call.starts_with("read ")) {
            hold.pass();
        }
    });
    {
        auto store = std::optional{cached_storage{inner, {.threads_ahead = 2, .most_ahead = 3}}};
        const auto copy = *store;
        CHECK_FALSE(store->read_ahead(nth_key(0)));
        CHECK_FALSE(store->read_ahead(nth_key(1)));
        hold.await_waiting(2);
        for (int i = 2; i < 100; ++i) {
            CHECK_FALSE(store->read_ahead(nth_key(i)));
            CHECK_FALSE(store->read_ahead(nth_key(i)));  // not queued twice
        }
        store.reset();
        hold.open();
        CHECK(comes_true([&] { return copy.read_ahead(nth_key(97)) && copy.read_ahead(nth_key(99)); }));
    }
    const auto calls = inner.calls();
    CHECK(count_of(calls, "read ") == 5);
    for (const int i : {0, 1, 97, 98, 99}) {
        CHECK(count_of(calls, "read " + nth_key(i)) == 1);
    }
}

TEST_CASE("cached_storage: without threads it prefetches nothing; the inner storage may prefetch uncached objects") {
    counting_storage<> inner;
    inner.write(event_key, as_bytes("x"));
    const auto store = cached_storage{inner, {.threads_ahead = 0}};
    CHECK_FALSE(store.read_ahead(event_key));
    CHECK(inner.calls().empty());
    const cache_options nothing{.cacheable = [](std::string_view) { return false; }};
    CHECK_FALSE(cached_storage{prefetching_archetype{memory_storage{}}, nothing}.read_ahead("a"));
    CHECK(cached_storage{storage_archetype{memory_storage{}}, nothing}.read_ahead("a"));
}

// On disk -----------------------------------------------------------------------------------------------------------

TEST_CASE("cached_storage: the next process finds what is cached on disk, and makes one listing") {
    const temporary_folder folder;
    counting_storage<> inner;
    for (int i = 0; i < 50; ++i) {
        inner.write(nth_key(i), as_bytes(std::string(1000, static_cast<char>('a' + i % 26))));
    }
    const auto read_all = [&] {
        const auto store = cached_storage{inner, {.folder = folder.path() + "/cache"}};
        for (int i = 0; i < 50; ++i) {
            CHECK(text_of(store.read(nth_key(i), {5, 3})) == std::string(3, static_cast<char>('a' + i % 26)));
        }
        return inner.calls();
    };
    CHECK(count_of(read_all(), "read ") == 50);
    CHECK(read_all() == std::vector<std::string>{"entries events/"});
    // A reused prefix: the same keys, the same sizes, other objects.
    for (int i = 0; i < 50; ++i) {
        inner.objects().write(nth_key(i), as_bytes(std::string(1000, static_cast<char>('a' + i % 26))));
    }
    CHECK(count_of(read_all(), "read ") == 50);
}
