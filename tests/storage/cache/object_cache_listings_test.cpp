#include <smdebug/storage/cache/object_cache.hpp>

#include "support/counting_storage.hpp"
#include "support/test.hpp"

#include <smdebug/core/error.hpp>
#include <smdebug/storage/concepts.hpp>

using namespace smdebug;
using namespace smdebug::detail;
using namespace smdebug_test;

TEST_CASE("object_cache: makes one request for a thousand, and none for irrelevant keys") {
    counting_storage<> store;
    for (int i = 0; i < 1500; ++i) {
        store.write("events/" + std::to_string(10'000 + i), as_bytes("x"));
        store.write("index/" + std::to_string(10'000 + i), as_bytes("x"));
    }
    store.write("events/99999.other", as_bytes("x"));
    detail::object_cache scout{store, {.cacheable = [](std::string_view key) { return !key.ends_with(".other"); }}};
    CHECK(scout.learn("events/10007")->size == 1);
    CHECK(scout.learn("events/11006"));
    CHECK(store.calls() == std::vector<std::string>{"entries events/"});
    CHECK(scout.learn("events/11007"));
    CHECK(store.calls() == std::vector<std::string>{"entries events/"});
    for (const std::string key : {"events/99999.other", "index/10000", "events/10006"}) {
        CHECK(scout.learn(key));
        CHECK(store.calls().size() == 1);
    }
}

TEST_CASE("object_cache: finds a key after more than a thousand close ones") {
    counting_storage<> store;
    for (int i = 0; i < 2500; ++i) {
        store.write("a" + std::string{"\x7E"} + std::to_string(10'000 + i), as_bytes("x"));
    }
    const std::string key = "a\x7F";
    store.write(key, as_bytes("1234"));
    detail::object_cache scout{store, {}};
    REQUIRE(scout.learn(key));
    CHECK(scout.learn(key)->size == 4);
    CHECK(store.calls().size() == 3);
}

TEST_CASE("object_cache: gives up on a key with too many before it") {
    counting_storage<> store;
    for (int i = 0; i < 20'000; ++i) {
        store.write("a" + std::string{"\x7E"} + std::to_string(100'000 + i), as_bytes("x"));
    }
    const std::string key = "a\x7F";
    store.write(key, as_bytes("1234"));
    detail::object_cache scout{store, {}};
    CHECK_FALSE(scout.learn(key));
    CHECK(store.calls().size() <= 20);
}

TEST_CASE("object_cache: a missing object is nothing, and is requested again") {
    counting_storage<> store;
    detail::object_cache scout{store, {}};
    CHECK_FALSE(scout.learn("a"));
    CHECK_FALSE(scout.learn("a"));
    CHECK(store.calls().size() == 2);
    store.objects().write("a", as_bytes("1"));
    CHECK(scout.learn("a"));
}

TEST_CASE("object_cache: says whether an object has changed, or was removed") {
    counting_storage<> store;
    store.write("a", as_bytes("1"));
    detail::object_cache scout{store, {}};
    const auto first = scout.learn("a");
    REQUIRE(first);
    CHECK_FALSE(scout.has_changed("a", *first));
    store.objects().write("a", as_bytes("2"));
    CHECK(scout.has_changed("a", *first));
    const auto second = scout.learn("a");
    CHECK_FALSE(scout.has_changed("a", *second));
    store.objects().remove("a");
    CHECK(scout.has_changed("a", *second));
}

TEST_CASE("object_cache: without the right to list it uses sizes") {
    counting_storage<> store;
    store.write("a", as_bytes("1"));
    store.before_each([](const std::string& call) {
        if (call.starts_with("entries")) {
            throw access_denied("the test says so");
        }
    });
    detail::object_cache scout{store, {}};
    REQUIRE(scout.learn("a"));
    CHECK(scout.learn("a")->version.empty());
    CHECK(store.calls() == std::vector<std::string>{"entries ", "size a"});
    CHECK_FALSE(scout.learn("b"));
    CHECK(store.calls() == std::vector<std::string>{"size b"});
    scout.forget();
    static_cast<void>(scout.learn("a"));
    CHECK(store.calls() == std::vector<std::string>{"entries ", "size a"});
}

TEST_CASE("object_cache: a failure of the storage means nothing is known, this time only") {
    plain_counting_storage store;
    store.write("a", as_bytes("1"));
    bool silent = true;
    store.before_each([&](const std::string&) {
        if (silent) {
            throw unavailable("the test says so");
        }
    });
    detail::object_cache scout{store, {}};
    CHECK_FALSE(scout.learn("a"));
    silent = false;
    CHECK(scout.learn("a")->size == 1);
}
