#include <smdebug/storage/cached_storage.hpp>

#include "support/counting_storage.hpp"
#include "support/temporary_folder.hpp"
#include "support/test.hpp"

#include <smdebug/core/error.hpp>
#include <smdebug/storage/any_storage.hpp>
#include <smdebug/storage/memory_storage.hpp>

#include <future>

using namespace smdebug;
using namespace smdebug::detail;
using namespace smdebug_test;

namespace {

const std::vector<std::string> keys{"events/a.tfevents", "events/b.tfevents", "events/c.tfevents"};

memory_storage some_objects() {
    memory_storage store;
    for (const std::string& key : keys) {
        store.write(key, as_bytes("0123456789 of " + key));
    }
    return store;
}
std::vector<object_range> all_whole() {
    return {{keys[0], whole_object}, {keys[1], whole_object}, {keys[2], whole_object}};
}
template <class Storage>
std::string text_in(const Storage& store, std::string_view key, byte_range where) {
    return std::string{as_text(store.read(key, where).view())};
}
// How often an object was requested, by whatever call.
std::size_t times(const std::vector<std::string>& calls, const std::string& key) {
    return static_cast<std::size_t>(std::count_if(calls.begin(), calls.end(), [&](const std::string& call) {
        return !call.starts_with("entries") && call.find(key) != std::string::npos;
    }));
}

}  // namespace

TEST_CASE("cached_storage::hold: a held part is fetched once, however it is read and whatever the cache's size") {
    const counting_storage<> far{some_objects()};
    const any_storage store{cached_storage{far, {.memory_bytes = 0}}};
    const auto held = store.hold();
    REQUIRE(held);
    held->prefetch(all_whole());
    for (int again = 0; again < 3; ++again) {
        for (const std::string& key : keys) {
            CHECK(text_in(store, key, {3, 4}) == "3456");
            CHECK(as_text(store.read(key).view()) == "0123456789 of " + key);
        }
        std::size_t given = 0;
        store.read_each(keys, [&](std::size_t, std::optional<byte_view> bytes, const object_version&) {
            given += bytes ? 1U : 0U;
        });
        store.read_ranges(all_whole(), [&](std::size_t, std::optional<byte_buffer> bytes, const object_version&) {
            given += bytes ? 1U : 0U;
        });
        CHECK(given == 6);
    }
    const auto calls = far.calls();
    for (const std::string& key : keys) {
        CHECK(times(calls, key) == 1);
    }
    held->release(keys[1]);
    CHECK(text_in(store, keys[1], {3, 4}) == "3456");
    CHECK(text_in(store, keys[2], {3, 4}) == "3456");
    const auto after = far.calls();
    CHECK(times(after, keys[1]) == 1);
    CHECK(times(after, keys[2]) == 0);
}

TEST_CASE("cached_storage::hold: the rest of a partly held object is read as usual") {
    const counting_storage<> far{some_objects()};
    const auto store = cached_storage{far, {.memory_bytes = 0}};
    const auto held = store.hold();
    held->prefetch(std::vector<object_range>{{keys[0], {2, 3}}, {keys[0], {6, 2}}});
    CHECK(text_in(store, keys[0], {2, 3}) == "234");
    CHECK(text_in(store, keys[0], {6, 2}) == "67");
    CHECK(times(far.calls(), keys[0]) == 1);
    CHECK(text_in(store, keys[0], {4, 3}) == "456");
    CHECK(times(far.calls(), keys[0]) == 1);
}

TEST_CASE("cached_storage::hold: reading a part that cannot be fetched reports the error; other parts are fetched") {
    const counting_storage<> far{some_objects()};
    far.before_each([](const std::string& call) {
        if (call.ends_with(keys[1])) {
            throw unavailable("not today");
        }
    });
    const auto store = cached_storage{far};
    const auto held = store.hold();
    std::vector<object_range> parts = all_whole();
    parts.push_back({"events/none.tfevents", whole_object});
    held->prefetch(parts);
    CHECK(text_in(store, keys[0], {3, 4}) == "3456");
    CHECK_THROWS_AS(static_cast<void>(store.read(keys[1])), unavailable);
    CHECK(text_in(store, keys[2], {3, 4}) == "3456");
    CHECK_THROWS_AS(static_cast<void>(store.read("events/none.tfevents")), not_found);
}

TEST_CASE("cached_storage::hold: a write through the storage is seen at once, even if an older version is held") {
    auto store = cached_storage{counting_storage<>{some_objects()}};
    const auto held = store.hold();
    held->prefetch(all_whole());
    CHECK(text_in(store, keys[0], {0, 3}) == "012");
    store.write(keys[0], as_bytes("new"));
    CHECK(as_text(store.read(keys[0]).view()) == "new");
}

TEST_CASE("cached_storage::hold: a disk cache supplies what it has, and keeps whole objects") {
    const temporary_folder place;
    const counting_storage<> far{some_objects()};
    for (const std::size_t fetches : {1U, 0U}) {
        const auto store = cached_storage{far, {.folder = place.path() + "/cache"}};
        {
            const auto held = store.hold();
            held->prefetch(all_whole());
            for (const std::string& key : keys) {
                CHECK(text_in(store, key, {3, 4}) == "3456");
            }
        }
        const auto calls = far.calls();
        for (const std::string& key : keys) {
            CHECK(times(calls, key) == fetches);
        }
    }
}

TEST_CASE(
    "cached_storage::hold: destruction releases all parts, waiting readers read themselves; may outlive the storage") {
    const counting_storage<> far{some_objects()};
    std::promise<void> begun;
    std::promise<void> go_on;
    far.before_each([&, first = true](const std::string& call) mutable {
        if (first && call.starts_with("ranges")) {
            first = false;
            begun.set_value();
            go_on.get_future().wait();
        }
    });
    auto store = std::make_unique<cached_storage>(far);
    auto held = store->hold();
    held->prefetch(all_whole());
    begun.get_future().wait();
    auto read = std::async(std::launch::async, [&] { return text_in(*store, keys[2], {3, 4}); });
    auto end = std::async(std::launch::async, [&] { held.reset(); });
    go_on.set_value();
    CHECK(read.get() == "3456");
    end.get();
    held = store->hold();
    store.reset();
    held->prefetch(all_whole());
    held.reset();
}

TEST_CASE("cached_storage::hold: a local storage holds nothing") {
    CHECK(any_storage{some_objects()}.hold() == nullptr);
}
