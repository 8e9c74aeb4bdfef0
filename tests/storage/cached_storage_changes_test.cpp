// What a cache returns when objects are written, replaced or removed, by itself and by others.
#include <smdebug/storage/cached_storage.hpp>

#include "storage/cached_storage_fixture.hpp"
#include "support/counting_storage.hpp"
#include "support/temporary_folder.hpp"
#include "support/test.hpp"

#include <smdebug/core/error.hpp>
#include <smdebug/storage/cache/disk_cache.hpp>
#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/testing/storage_conformance.hpp>
#include <smdebug/testing/writing_conformance.hpp>

using namespace smdebug;
using namespace smdebug_test;
using namespace smdebug_test::caches;
using namespace smdebug::testing;

TEST_CASE("cached_storage: a missing object is not remembered") {
    counting_storage<> inner;
    const auto store = cached_storage{inner};
    for (int i = 0; i < 2; ++i) {
        CHECK_THROWS_AS(static_cast<void>(store.read(event_key)), not_found);
        CHECK_THROWS_AS(static_cast<void>(store.read(event_key, {0, 1})), not_found);
        CHECK_FALSE(store.view(event_key));
        CHECK_FALSE(store.size(event_key));
    }
    inner.objects().write(event_key, as_bytes("1"));
    CHECK(text_of(store.read(event_key)) == "1");
}

TEST_CASE("cached_storage: an object that disappears between listing and reading is reported as not found") {
    const temporary_folder folder;
    const auto try_it = [](auto store, auto inner) {
        inner.objects().write(nth_key(0), as_bytes("first"));
        inner.objects().write(nth_key(1), as_bytes("second"));
        inner.objects().write(nth_key(2), as_bytes("third"));
        CHECK(store.list("events/", "").size() == 3);
        CHECK(text_of(store.read(nth_key(0))) == "first");
        inner.objects().remove(nth_key(1));
        CHECK_THROWS_AS(static_cast<void>(store.read(nth_key(1), {0, 1})), not_found);
        CHECK_THROWS_AS(static_cast<void>(store.read(nth_key(1))), not_found);
        const std::vector<std::string> keys{nth_key(0), nth_key(1), nth_key(2)};
        std::string told;
        store.read_each(keys, [&](std::size_t, std::optional<byte_view> bytes, const object_version&) {
            told += bytes ? std::string{as_text(*bytes)} : "-";
            told += " ";
        });
        CHECK(told == "first - third ");
        inner.objects().write(nth_key(1), as_bytes("again"));
        CHECK(text_of(store.read(nth_key(1))) == "again");
    };
    const counting_storage<> one;
    try_it(cached_storage{one}, one);
    const plain_counting_storage plain;
    try_it(cached_storage{plain}, plain);
    const counting_storage<> kept;
    try_it(cached_storage{kept, {.folder = folder.path() + "/a"}}, kept);
}

TEST_CASE("cached_storage: its own writes, commits and removals are seen at once") {
    auto store = cached_storage{memory_storage{}};
    auto other = store;
    store.write(event_key, as_bytes("first"));
    CHECK(text_of(store.read(event_key)) == "first");
    other.write(event_key, as_bytes("other"));
    CHECK(text_of(store.read(event_key, {1, 2})) == "th");
    auto out = store.create(event_key);
    append_texts(*out, {"third"});
    CHECK(text_of(other.read(event_key)) == "other");
    out->commit(durability::cached);
    CHECK(text_of(other.read(event_key)) == "third");
    CHECK(store.remove(event_key));
    CHECK_THROWS_AS(static_cast<void>(other.read(event_key)), not_found);
    CHECK_FALSE(store.view(event_key));
}

TEST_CASE("cached_storage: an output keeps the storage alive") {
    memory_storage objects;
    auto out = cached_storage{objects}.create("a");
    append_texts(*out, {"bytes"});
    out->commit(durability::cached);
    CHECK(text_of(objects.read("a")) == "bytes");
}

TEST_CASE("cached_storage: a failed write may have been done, so the cached object is dropped") {
    struct failing : memory_storage {
        void write(std::string_view key, byte_view bytes) {
            memory_storage::write(key, bytes);
            throw unavailable("the answer got lost");
        }
    };
    failing inner;
    inner.memory_storage::write(event_key, as_bytes("first"));
    auto store = cached_storage{inner};
    CHECK(text_of(store.read(event_key)) == "first");
    CHECK_THROWS_AS(store.write(event_key, as_bytes("other")), unavailable);
    CHECK(text_of(store.read(event_key)) == "other");
}

TEST_CASE("cached_storage: a replacement by others is seen when the version is learnt again") {
    const temporary_folder folder;
    const auto try_it = [](auto store, auto inner) {
        const auto seen = [&] { return text_of(store.read(event_key)); };
        const std::vector<std::function<void()>> ways{
            [&] { static_cast<void>(store.list("events/", "")); },
            [&] { static_cast<void>(store.entries("events/", "", 5)); },
            [&] { store.forget(event_key); },
            [&] { store.forget(); },
        };
        inner.objects().write(event_key, as_bytes("0"));
        CHECK(seen() == "0");
        for (std::size_t way = 0; way < ways.size(); ++way) {
            CAPTURE(way);
            const std::string older = seen();
            inner.objects().write(event_key, as_bytes(std::to_string(way + 1)));  // of the same size
            CHECK(seen() == older);
            ways[way]();
            CHECK(seen() == std::to_string(way + 1));
            CHECK(text_of(store.read(event_key, {0, 2})) == std::to_string(way + 1));
        }
    };
    const counting_storage<> one;
    try_it(cached_storage{one}, one);
    const counting_storage<> kept;
    try_it(cached_storage{kept, {.folder = folder.path() + "/a"}}, kept);
}

TEST_CASE("cached_storage: without versions, another size or forget() shows a replacement") {
    plain_counting_storage inner;
    const auto store = cached_storage{inner};
    inner.write(event_key, as_bytes("first"));
    CHECK(text_of(store.read(event_key)) == "first");
    inner.objects().write(event_key, as_bytes("replaced"));
    static_cast<void>(store.list("events/", ""));
    CHECK(text_of(store.read(event_key)) == "replaced");
    inner.objects().write(event_key, as_bytes("REPLACED"));
    store.forget(event_key);
    CHECK(text_of(store.read(event_key)) == "REPLACED");
}

TEST_CASE("cached_storage: an object replaced between listing and fetching is returned and cached in its new version") {
    const temporary_folder folder;
    const auto try_it = [](auto make, auto inner) {
        inner.objects().write(event_key, as_bytes("first"));
        {
            const auto store = make();
            static_cast<void>(store.list("", ""));
            static_cast<void>(store.entries("", "", 9));
            inner.objects().write(event_key, as_bytes("other"));
            CHECK(text_of(store.read(event_key)) == "other");
            CHECK(text_of(store.read(event_key)) == "other");
            inner.objects().write(event_key, as_bytes("longer"));
            static_cast<void>(store.entries("", "", 9));
            inner.objects().write(event_key, as_bytes("longest"));
            CHECK(text_of(store.read(event_key, {0, 9})) == "longest");
        }
        CHECK(text_of(make().read(event_key)) == "longest");
    };
    const counting_storage<> one;
    try_it([&] { return cached_storage{one}; }, one);
    try_it([&] { return cached_storage{one, {.folder = folder.path() + "/a"}}; }, one);
}

TEST_CASE("cached_storage: growing files that are read in turns are not fetched repeatedly") {
    counting_storage<> inner;
    constexpr int files = 4;
    std::vector<std::string> written(files);
    std::vector<std::string> seen(files);
    const auto store = cached_storage{inner};
    std::uint64_t fetched = 0;
    for (int round = 0; round < 50; ++round) {
        for (std::size_t i = 0; i < files; ++i) {
            written[i] += "round " + std::to_string(round) + " of file " + std::to_string(i) + ";";
            inner.objects().write(nth_key(static_cast<int>(i)), as_bytes(written[i]));
        }
        for (std::size_t i = 0; i < files; ++i) {
            const auto calls_before = inner.calls();
            const std::string more = text_of(store.read(nth_key(static_cast<int>(i)), {seen[i].size(), UINT64_MAX}));
            const auto calls = inner.calls();
            fetched += count_of(calls, "read ") > 0 ? written[i].size() : more.size();
            seen[i] += more;
            REQUIRE(seen[i] == written[i]);
        }
    }
    std::uint64_t all = 0;
    for (const std::string& one : written) {
        all += one.size();
    }
    CHECK(fetched <= 2 * all);
}
