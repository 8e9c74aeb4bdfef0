#include <smdebug/storage/cache/prefetch.hpp>

#include "support/counting_storage.hpp"
#include "support/temporary_folder.hpp"

#include <smdebug/core/error.hpp>
#include <smdebug/storage/any_storage.hpp>
#include <smdebug/storage/cached_storage.hpp>
#include <smdebug/storage/memory_storage.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <future>
#include <latch>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

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

// The keys fetched so far, and a way to wait for more.
class fetched_list {
public:
    void add(const std::string& key) {
        const std::lock_guard lock{guard_};
        keys_.push_back(key);
        threads_.insert(std::this_thread::get_id());
        more_.notify_all();
    }
    [[nodiscard]] std::vector<std::string> await(std::size_t count) {
        std::unique_lock lock{guard_};
        more_.wait(lock, [&] { return keys_.size() >= count; });
        return keys_;
    }
    [[nodiscard]] std::size_t threads() {
        const std::lock_guard lock{guard_};
        return threads_.size();
    }

private:
    std::mutex guard_;
    std::condition_variable more_;
    std::vector<std::string> keys_;
    std::set<std::thread::id> threads_;
};

}  // namespace

TEST_CASE("object_holder: a held part is fetched once, however it is read and whatever the cache's size") {
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

TEST_CASE("object_holder: the rest of a partly held object is read as usual") {
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

TEST_CASE("object_holder: reading a part that cannot be fetched reports the error; other parts are fetched") {
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

TEST_CASE("object_holder: a write through the storage is seen at once, even if an older version is held") {
    auto store = cached_storage{counting_storage<>{some_objects()}};
    const auto held = store.hold();
    held->prefetch(all_whole());
    CHECK(text_in(store, keys[0], {0, 3}) == "012");
    store.write(keys[0], as_bytes("new"));
    CHECK(as_text(store.read(keys[0]).view()) == "new");
}

TEST_CASE("object_holder: a disk cache supplies what it has, and keeps whole objects") {
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

TEST_CASE("object_holder: destruction releases all parts, waiting readers read themselves; may outlive the storage") {
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

TEST_CASE("object_holder: a local storage holds nothing") { CHECK(any_storage{some_objects()}.hold() == nullptr); }

TEST_CASE("fetch_crew: fetches the requested keys on few threads, in order") {
    fetched_list list;
    fetch_crew one{[&](const std::string& key) { list.add(key); }, 1, 100};
    std::vector<std::string> wanted;
    for (int i = 0; i < 50; ++i) {
        wanted.push_back(std::to_string(i));
        one.wish(wanted.back());
    }
    CHECK(list.await(50) == wanted);
    CHECK(list.threads() == 1);

    fetched_list other;
    fetch_crew three{[&](const std::string& key) { other.add(key); }, 3, 1000};
    for (int i = 0; i < 500; ++i) {
        three.wish(std::to_string(i));
    }
    std::vector<std::string> all = other.await(500);
    CHECK(std::set<std::string>(all.begin(), all.end()).size() == 500);
    CHECK(other.threads() <= 3);
}

TEST_CASE("fetch_crew: if too many keys are queued, the oldest are dropped; a repeated key counts once") {
    fetched_list list;
    std::latch begun{1};
    std::latch go_on{1};
    fetch_crew crew{[&](const std::string& key) {
                        if (key == "first") {
                            begun.count_down();
                            go_on.wait();
                        }
                        list.add(key);
                    },
                    1, 3};
    crew.wish("first");
    begun.wait();
    for (const char* key : {"a", "b", "b", "c", "d", "d", "e"}) {
        crew.wish(key);
    }
    go_on.count_down();
    CHECK(list.await(4) == std::vector<std::string>{"first", "c", "d", "e"});
}

TEST_CASE("fetch_crew: a fetch that throws affects no other") {
    fetched_list list;
    fetch_crew crew{[&](const std::string& key) {
                        list.add(key);
                        if (key == "error") {
                            throw unavailable("no");
                        }
                        if (key == "number") {
                            throw 5;
                        }
                    },
                    1, 10};
    crew.wish("error");
    crew.wish("number");
    crew.wish("fine");
    CHECK(list.await(3) == std::vector<std::string>{"error", "number", "fine"});
}

TEST_CASE("fetch_crew: destruction drops the queue and waits for the running fetch") {
    fetched_list list;
    std::latch begun{1};
    std::atomic<bool> ending{false};
    {
        fetch_crew crew{[&](const std::string& key) {
                            begun.count_down();
                            while (!ending) {
                                std::this_thread::yield();
                            }
                            list.add(key);
                        },
                        1, 10};
        crew.wish("first");
        begun.wait();
        crew.wish("second");
        ending = true;
    }
    const auto fetched = list.await(1);
    CHECK(fetched.size() <= 2);
    CHECK(fetched.front() == "first");
}

TEST_CASE("fetch_crew: without threads, room in the queue, or keys it does nothing") {
    fetched_list list;
    {
        const auto add = [&](const std::string& key) { list.add(key); };
        fetch_crew idle{add, 0, 10};
        idle.wish("a");
        fetch_crew closed{add, 3, 0};
        closed.wish("a");
        const fetch_crew unasked{add, 3, 3};
    }
    CHECK(list.threads() == 0);
}
