#include <smdebug/storage/cache/held_parts.hpp>

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/testing/storage_conformance.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <latch>
#include <new>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace smdebug;
using namespace smdebug::detail;
using namespace smdebug::testing;

namespace {

byte_buffer bytes_of(std::string text) { return byte_buffer::take(std::move(text)); }

constexpr auto nothing = [](const byte_buffer&) {};

}  // namespace

TEST_CASE("single_flight: one thread fetches, the others wait; another key or version is another fetch") {
    single_flight table;
    std::latch begun{1};
    std::latch go_on{1};
    std::atomic<int> fetches{0};
    std::atomic<int> kept{0};
    std::optional<byte_buffer> second;
    std::optional<byte_buffer> third;
    {
        const std::jthread first{[&] {
            static_cast<void>(table.get(
                "key", "1", single_flight::by::reader,
                [&] {
                    ++fetches;
                    begun.count_down();
                    go_on.wait();
                    return bytes_of("content");
                },
                [&](const byte_buffer&) { ++kept; }));
        }};
        begun.wait();
        CHECK(table.is_under_way("key", "1"));
        CHECK_FALSE(table.is_under_way("key", "2"));
        CHECK_FALSE(table.is_under_way("other", "1"));
        CHECK_FALSE(table.wait("key", "2"));
        const auto fetch = [&] {
            ++fetches;
            return bytes_of("another");
        };
        CHECK(text_of(*table.get("key", "2", single_flight::by::reader, fetch, nothing)) == "another");
        CHECK_FALSE(table.get("key", "1", single_flight::by::ahead, fetch, nothing));
        const std::jthread waits{[&] { second = table.get("key", "1", single_flight::by::reader, fetch, nothing); }};
        const std::jthread looks{[&] { third = table.wait("key", "1"); }};
        std::this_thread::sleep_for(std::chrono::milliseconds{10});
        go_on.count_down();
    }
    REQUIRE(second);
    CHECK((text_of(*second) == "content" || fetches == 3));  // it may have been too late to wait
    CHECK((!third || text_of(*third) == "content"));
    CHECK(kept == 1);
    CHECK_FALSE(table.is_under_way("key", "1"));
}

TEST_CASE("single_flight: passes on what fetch throws, and the next call tries again") {
    single_flight table;
    const auto fails = [&]() -> byte_buffer { throw unavailable("no"); };
    for (const auto who : {single_flight::by::reader, single_flight::by::ahead}) {
        CHECK_THROWS_AS(static_cast<void>(table.get("key", "", who, fails, nothing)), unavailable);
    }
    CHECK(text_of(*table.get(
              "key", "", single_flight::by::reader, [] { return bytes_of("yes"); }, nothing)) == "yes");
}

TEST_CASE("single_flight: an object forgotten meanwhile is not kept, and no later thread waits for it") {
    single_flight table;
    bool kept = false;
    const auto bytes = table.get(
        "key", "", single_flight::by::reader,
        [&] {
            table.forget("other");
            CHECK(table.is_under_way("key", ""));
            table.forget("key");
            CHECK_FALSE(table.is_under_way("key", ""));
            return bytes_of("older");
        },
        [&](const byte_buffer&) { kept = true; });
    CHECK(text_of(*bytes) == "older");
    CHECK_FALSE(kept);
    static_cast<void>(table.get(
        "key", "", single_flight::by::reader,
        [&] {
            table.forget();
            return bytes_of("older");
        },
        [&](const byte_buffer&) { kept = true; }));
    CHECK_FALSE(kept);
}

TEST_CASE("single_flight: an object that cannot be kept is returned anyway") {
    single_flight table;
    const auto bytes = table.get(
        "key", "", single_flight::by::reader, [] { return bytes_of("content"); },
        [](const byte_buffer&) { throw std::bad_alloc{}; });
    CHECK(text_of(*bytes) == "content");
    CHECK_FALSE(table.is_under_way("key", ""));
}

TEST_CASE("single_flight: many threads, many keys, and fetches that fail") {
    single_flight table;
    std::atomic<int> wrong{0};
    {
        std::vector<std::jthread> threads;
        for (int thread = 0; thread < 6; ++thread) {
            threads.emplace_back([&, thread] {
                for (int i = 0; i < 300; ++i) {
                    const std::string key = std::to_string(i % 7);
                    const auto who = thread % 3 == 0 ? single_flight::by::ahead : single_flight::by::reader;
                    try {
                        const auto bytes = table.get(
                            key, "", who,
                            [&] {
                                if (i % 5 == 0) {
                                    throw unavailable("no " + key, {.where = key});
                                }
                                std::this_thread::yield();
                                return bytes_of(key);
                            },
                            nothing);
                        wrong += bytes ? (text_of(*bytes) == key ? 0 : 1) : (who == single_flight::by::ahead ? 0 : 1);
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
