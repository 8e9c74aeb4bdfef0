#include <smdebug/storage/cache/memory_cache.hpp>

#include <smdebug/core/bytes.hpp>
#include <smdebug/testing/storage_conformance.hpp>

#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug::detail;
using namespace smdebug::testing;

namespace {

byte_buffer bytes_of(std::string text) { return byte_buffer::take(std::move(text)); }

}  // namespace

TEST_CASE("memory_cache: returns what was kept under that version, and shares its memory") {
    memory_cache cache{1'000'000};
    const object_identity first{"place", "key", "1"};
    const object_identity second{"place", "key", "2"};
    CHECK_FALSE(cache.find(first));
    const byte_buffer bytes = bytes_of("content");
    cache.keep(first, bytes);
    REQUIRE(cache.find(first));
    CHECK(cache.find(first)->data() == bytes.data());
    CHECK(cache.holds(first));
    CHECK_FALSE(cache.find(second));
    CHECK_FALSE(cache.holds(second));
    cache.keep(second, bytes_of("other"));
    CHECK_FALSE(cache.find(first));
    CHECK(text_of(*cache.find(second)) == "other");
    cache.drop(first);  // does not exist
    CHECK(cache.holds(second));
    cache.drop(second);
    CHECK_FALSE(cache.holds(second));
    CHECK(cache.held_bytes() == 0);
}

TEST_CASE("memory_cache: forgets one key, or all") {
    memory_cache cache{1'000'000};
    cache.keep({"", "a", ""}, bytes_of("1"));
    cache.keep({"", "b", ""}, bytes_of("2"));
    cache.forget("a");
    cache.forget("c");
    CHECK_FALSE(cache.holds({"", "a", ""}));
    CHECK(cache.holds({"", "b", ""}));
    cache.forget();
    CHECK_FALSE(cache.holds({"", "b", ""}));
    CHECK(cache.held_bytes() == 0);
    cache.keep({"", "b", ""}, bytes_of("3"));
    CHECK(text_of(*cache.find({"", "b", ""})) == "3");
}

TEST_CASE("memory_cache: stays within its bound and evicts the least recently used object first") {
    memory_cache cache{10'000};
    const auto key = [](int i) { return "key " + std::to_string(i); };
    for (int i = 0; i < 1000; ++i) {
        const std::string name = key(i);
        cache.keep({"", name, ""}, bytes_of(std::string(1000, 'x')));
        CHECK(cache.held_bytes() <= 10'000);
        CHECK(cache.find({"", "key 0", ""}));  // used all the time
        CHECK(cache.holds({"", name, ""}));
    }
    int held = 0;
    for (int i = 0; i < 1000; ++i) {
        held += cache.holds({"", key(i), ""}) ? 1 : 0;
    }
    CHECK(held == 7);
    CHECK(cache.holds({"", key(994), ""}));
}

TEST_CASE("memory_cache: empty objects count against the bound, too") {
    memory_cache cache{10'000};
    for (int i = 0; i < 1000; ++i) {
        cache.keep({"", std::to_string(i), ""}, byte_buffer{});
    }
    CHECK(cache.held_bytes() <= 10'000);
    CHECK(cache.holds({"", "999", ""}));
    CHECK_FALSE(cache.holds({"", "0", ""}));
}

TEST_CASE("memory_cache: too large an object is not kept, and evicts only its older version") {
    memory_cache cache{1000};
    CHECK(cache.largest() == 744);
    cache.keep({"", "a", "1"}, bytes_of("1"));
    cache.keep({"", "b", ""}, bytes_of("2"));
    cache.keep({"", "a", "2"}, bytes_of(std::string(745, 'x')));
    CHECK_FALSE(cache.holds({"", "a", "1"}));
    CHECK_FALSE(cache.holds({"", "a", "2"}));
    CHECK(cache.holds({"", "b", ""}));
    cache.keep({"", "a", "3"}, bytes_of(std::string(744, 'x')));
    CHECK(cache.holds({"", "a", "3"}));
    memory_cache none{0};
    CHECK(none.largest() == 0);
    none.keep({"", "a", ""}, byte_buffer{});
    CHECK_FALSE(none.holds({"", "a", ""}));
}

TEST_CASE("memory_cache: threads keep, find and forget at once") {
    memory_cache cache{20'000};
    std::atomic<int> wrong{0};
    {
        std::vector<std::jthread> threads;
        for (int thread = 0; thread < 4; ++thread) {
            threads.emplace_back([&, thread] {
                for (int i = 0; i < 500; ++i) {
                    const std::string key = std::to_string(i % 20);
                    cache.keep({"", key, ""}, bytes_of(std::string(1000, static_cast<char>('a' + i % 20))));
                    if (const auto found = cache.find({"", key, ""})) {
                        wrong += text_of(*found) == std::string(1000, static_cast<char>('a' + i % 20)) ? 0 : 1;
                    }
                    if (i % 10 == thread) {
                        cache.forget(key);
                    }
                    if (i % 100 == 99) {
                        cache.forget();
                    }
                }
            });
        }
    }
    CHECK(wrong == 0);
    CHECK(cache.held_bytes() <= 20'000);
}
