#include <smdebug/storage/cache/in_flight.hpp>

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/testing/storage_conformance.hpp>

#include "support/test.hpp"

#include <latch>

using namespace smdebug;
using namespace smdebug::detail;
using namespace smdebug::testing;

namespace {

byte_buffer bytes_of(std::string text) { return byte_buffer::take(std::move(text)); }
versioned_part fetched(std::string text) { return {.bytes = bytes_of(std::move(text))}; }

constexpr auto nothing = [](const versioned_part&) {};

std::string found_in(const in_flight& table, const std::string& key, byte_range where) {
    const std::optional<versioned_part> part = table.find(key, where);
    return part ? std::string{as_text(part->bytes.view())} : "nothing";
}

}  // namespace

TEST_CASE("in_flight: only ranges inside a present part are returned") {
    in_flight table;
    auto [part, fresh] = table.pin("a", {10, 6});
    CHECK(fresh);
    CHECK(table.covers("a", {10, 6}));
    CHECK_FALSE(table.covers("a", {9, 2}));
    CHECK_FALSE(table.covers("a", {10, 7}));
    CHECK_FALSE(table.covers("b", {10, 6}));
    table.put(part, bytes_of("012345"));
    CHECK(found_in(table, "a", {10, 6}) == "012345");
    CHECK(found_in(table, "a", {12, 2}) == "23");
    CHECK(found_in(table, "a", {15, 2}) == "nothing");
    CHECK(found_in(table, "a", {9, 2}) == "nothing");
    CHECK(found_in(table, "a", {12, 0}) == "nothing");
    CHECK(found_in(table, "a", {12, UINT64_MAX}) == "nothing");
    CHECK(found_in(table, "b", {10, 6}) == "nothing");
    part.reset();
    CHECK(found_in(table, "a", {12, 2}) == "nothing");
}

TEST_CASE("in_flight: a whole object is cut at its end, and behind its end nothing is known") {
    in_flight table;
    const auto whole = table.pin("a", whole_object).what;
    CHECK(table.covers("a", {1000, 5}));
    table.put(whole, bytes_of("012345"));
    CHECK(found_in(table, "a", whole_object) == "012345");
    CHECK(found_in(table, "a", {4, 100}) == "45");
    CHECK(found_in(table, "a", {6, 1}) == "nothing");
    table.forget("a");
    CHECK(found_in(table, "a", {4, 100}) == "nothing");
}

TEST_CASE("in_flight: a part of the requested length may not be the whole object") {
    for (const std::uint64_t asked : {6U, 7U}) {
        in_flight table;
        const auto part = table.pin("a", {0, asked}).what;
        CHECK(table.covers("a", whole_object));
        table.put(part, bytes_of("012345"));
        CHECK(found_in(table, "a", whole_object) == (asked == 7 ? "012345" : "nothing"));
        CHECK(found_in(table, "a", {4, 2}) == "45");
        CHECK(found_in(table, "a", {4, 100}) == (asked == 7 ? "45" : "nothing"));
    }
}

TEST_CASE("in_flight: two holders share one part until the last releases it") {
    in_flight table;
    auto one = table.pin("a", {0, 4});
    auto other = table.pin("a", {0, 4});
    CHECK(one.fresh);
    CHECK_FALSE(other.fresh);
    table.put(one.what, bytes_of("0123"));
    one.what.reset();
    CHECK(found_in(table, "a", {0, 4}) == "0123");
    other.what.reset();
    CHECK(found_in(table, "a", {0, 4}) == "nothing");
    CHECK(table.pin("a", {0, 4}).fresh);
}

TEST_CASE("in_flight: a reader waits for a part on its way, and reads it itself if the fetch fails") {
    for (const bool comes : {true, false}) {
        in_flight table;
        const auto part = table.pin("a", {0, 4}).what;
        std::string seen;
        std::thread reader{[&] { seen = found_in(table, "a", {1, 2}); }};
        table.put(part, comes ? std::optional{bytes_of("0123")} : std::nullopt);
        reader.join();
        CHECK(seen == (comes ? "12" : "nothing"));
        CHECK(table.covers("a", {1, 2}) == comes);
    }
}

TEST_CASE("in_flight: parts of two versions are never returned, whatever was fetched in between") {
    in_flight table;
    const auto first = table.pin("a", {0, 4}).what;
    const auto failed = table.pin("a", {4, 4}).what;
    const auto last = table.pin("a", {8, 4}).what;
    const auto other = table.pin("b", {0, 4}).what;
    table.put(first, bytes_of("1111"), {.tag = "v1"});
    table.put(other, bytes_of("bbbb"), {.tag = "w"});
    table.put(failed, std::nullopt);
    CHECK(found_in(table, "a", {0, 4}) == "1111");
    table.put(last, bytes_of("2222"), {.tag = "v2"});
    CHECK(found_in(table, "a", {0, 4}) == "nothing");
    CHECK(found_in(table, "a", {8, 4}) == "nothing");
    CHECK(found_in(table, "b", {0, 4}) == "bbbb");
    const auto again = table.pin("a", {0, 4});
    CHECK(again.fresh);
    table.put(again.what, bytes_of("2222"), {.tag = "v2"});
    CHECK(found_in(table, "a", {0, 4}) == "2222");
}

TEST_CASE("in_flight: one thread fetches, the others wait; another key or version is another fetch") {
    in_flight table;
    std::latch begun{1};
    std::latch go_on{1};
    std::atomic<int> fetches{0};
    std::atomic<int> kept{0};
    std::optional<versioned_part> second;
    std::optional<versioned_part> third;
    {
        const std::jthread first{[&] {
            static_cast<void>(table.get(
                "key", "1", in_flight::by::reader,
                [&] {
                    ++fetches;
                    begun.count_down();
                    go_on.wait();
                    return fetched("content");
                },
                [&](const versioned_part&) { ++kept; }));
        }};
        begun.wait();
        CHECK(table.is_under_way("key", "1"));
        CHECK_FALSE(table.is_under_way("key", "2"));
        CHECK_FALSE(table.is_under_way("other", "1"));
        CHECK_FALSE(table.wait("key", "2"));
        const auto fetch = [&] {
            ++fetches;
            return fetched("another");
        };
        CHECK(text_of(table.get("key", "2", in_flight::by::reader, fetch, nothing)->bytes) == "another");
        CHECK_FALSE(table.get("key", "1", in_flight::by::prefetch, fetch, nothing));
        const std::jthread waits{[&] { second = table.get("key", "1", in_flight::by::reader, fetch, nothing); }};
        const std::jthread looks{[&] { third = table.wait("key", "1"); }};
        std::this_thread::sleep_for(std::chrono::milliseconds{10});
        go_on.count_down();
    }
    REQUIRE(second);
    CHECK((text_of(second->bytes) == "content" || fetches == 3));  // it may have been too late to wait
    CHECK((!third || text_of(third->bytes) == "content"));
    CHECK(kept == 1);
    CHECK_FALSE(table.is_under_way("key", "1"));
}

TEST_CASE("in_flight: passes on what fetch throws, and the next call tries again") {
    in_flight table;
    const auto fails = [&]() -> versioned_part { throw unavailable("no"); };
    for (const auto who : {in_flight::by::reader, in_flight::by::prefetch}) {
        CHECK_THROWS_AS(static_cast<void>(table.get("key", "", who, fails, nothing)), unavailable);
    }
    CHECK(text_of(table
                      .get(
                          "key", "", in_flight::by::reader, [] { return fetched("yes"); }, nothing)
                      ->bytes) == "yes");
}

TEST_CASE("in_flight: an object forgotten meanwhile is not kept, and no later thread waits for it") {
    in_flight table;
    bool kept = false;
    const auto bytes = table.get(
        "key", "", in_flight::by::reader,
        [&] {
            table.forget("other");
            CHECK(table.is_under_way("key", ""));
            table.forget("key");
            CHECK_FALSE(table.is_under_way("key", ""));
            return fetched("older");
        },
        [&](const versioned_part&) { kept = true; });
    CHECK(text_of(bytes->bytes) == "older");
    CHECK_FALSE(kept);
    static_cast<void>(table.get(
        "key", "", in_flight::by::reader,
        [&] {
            table.forget();
            return fetched("older");
        },
        [&](const versioned_part&) { kept = true; }));
    CHECK_FALSE(kept);
}

TEST_CASE("in_flight: an object that cannot be kept is returned anyway") {
    in_flight table;
    const auto bytes = table.get(
        "key", "", in_flight::by::reader, [] { return fetched("content"); },
        [](const versioned_part&) { throw std::bad_alloc{}; });
    CHECK(text_of(bytes->bytes) == "content");
    CHECK_FALSE(table.is_under_way("key", ""));
}

TEST_CASE("in_flight: many threads, many keys, and fetches that fail") {
    in_flight table;
    std::atomic<int> wrong{0};
    {
        std::vector<std::jthread> threads;
        for (int thread = 0; thread < 6; ++thread) {
            threads.emplace_back([&, thread] {
                for (int i = 0; i < 300; ++i) {
                    const std::string key = std::to_string(i % 7);
                    const auto who = thread % 3 == 0 ? in_flight::by::prefetch : in_flight::by::reader;
                    try {
                        const auto bytes = table.get(
                            key, "", who,
                            [&] {
                                if (i % 5 == 0) {
                                    throw unavailable("no " + key, {.where = key});
                                }
                                std::this_thread::yield();
                                return fetched(key);
                            },
                            nothing);
                        wrong +=
                            bytes ? (text_of(bytes->bytes) == key ? 0 : 1) : (who == in_flight::by::prefetch ? 0 : 1);
                    } catch (const unavailable& thrown) {
                        wrong += thrown.where() == key ? 0 : 1;
                    }
                    if (i % 11 == 0) {
                        table.forget(key);
                    }
                }
            });
        }
    }
    CHECK(wrong == 0);
}
