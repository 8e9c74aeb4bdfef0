#include <smdebug/storage/cache/metadata_cache.hpp>

#include "support/counting_storage.hpp"

#include <smdebug/core/error.hpp>
#include <smdebug/storage/concepts.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

using namespace smdebug;
using namespace smdebug::detail;
using namespace smdebug_test;

namespace {

constexpr auto any_key = [](std::string_view) { return true; };

}  // namespace

TEST_CASE("metadata_cache: the key before a key comes before it, with hardly any between them") {
    for (const std::string key : {"events/000000000001/000000000001_worker_0.tfevents", "a", "index/0/1.json", "0", "/",
                                  "a/", "odd/h\xC3\xA4sslich \xE2\x82\xAC", "x ", "x\x7F", "\xC3\xA4", "b!", ""}) {
        CAPTURE(key);
        const std::string before = detail::key_before(key);
        CHECK((before < key || key.empty()));
        CHECK(before.size() <= key.size() + 1);
    }
    CHECK(detail::key_before("events/1.tfevents") == "events/1.tfeventr~");
    CHECK(detail::key_before("a\xE2\x82\xAC") == "a");
    CHECK(detail::key_before("a\xC3\xA4") == "a");
}

TEST_CASE("metadata_cache: makes one request for a thousand, and none for irrelevant keys") {
    counting_storage<> store;
    for (int i = 0; i < 1500; ++i) {
        store.write("events/" + std::to_string(10'000 + i), as_bytes("x"));
        store.write("index/" + std::to_string(10'000 + i), as_bytes("x"));
    }
    store.write("events/99999.other", as_bytes("x"));
    metadata_cache scout{store, [](std::string_view key) { return !key.ends_with(".other"); }};
    CHECK(scout.learn("events/10007")->size == 1);
    CHECK(scout.learn("events/11006"));
    CHECK(store.calls() == std::vector<std::string>{"entries events/"});
    CHECK(scout.learn("events/11007"));
    CHECK(store.calls() == std::vector<std::string>{"entries events/"});
    CHECK_FALSE(scout.known().find("events/99999.other"));
    CHECK_FALSE(scout.known().find("index/10000"));
    CHECK_FALSE(scout.known().find("events/10006"));
}

TEST_CASE("metadata_cache: finds a key after more than a thousand close ones") {
    counting_storage<> store;
    for (int i = 0; i < 2500; ++i) {
        store.write("a" + std::string{"\x7E"} + std::to_string(10'000 + i), as_bytes("x"));
    }
    const std::string key = "a\x7F";
    store.write(key, as_bytes("1234"));
    metadata_cache scout{store, any_key};
    REQUIRE(scout.learn(key));
    CHECK(scout.learn(key)->size == 4);
    CHECK(store.calls().size() == 3);
}

TEST_CASE("metadata_cache: gives up on a key with too many before it") {
    counting_storage<> store;
    for (int i = 0; i < 20'000; ++i) {
        store.write("a" + std::string{"\x7E"} + std::to_string(100'000 + i), as_bytes("x"));
    }
    const std::string key = "a\x7F";
    store.write(key, as_bytes("1234"));
    metadata_cache scout{store, any_key};
    CHECK_FALSE(scout.learn(key));
    CHECK(store.calls().size() <= 20);
}

TEST_CASE("metadata_cache: a missing object is nothing, and is requested again") {
    counting_storage<> store;
    metadata_cache scout{store, any_key};
    CHECK_FALSE(scout.learn("a"));
    CHECK_FALSE(scout.learn("a"));
    CHECK(store.calls().size() == 2);
    store.objects().write("a", as_bytes("1"));
    CHECK(scout.learn("a"));
}

TEST_CASE("metadata_cache: says whether an object has changed, or was removed") {
    counting_storage<> store;
    store.write("a", as_bytes("1"));
    metadata_cache scout{store, any_key};
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

TEST_CASE("metadata_cache: without the right to list it uses sizes") {
    counting_storage<> store;
    store.write("a", as_bytes("1"));
    store.before_each([](const std::string& call) {
        if (call.starts_with("entries")) {
            throw access_denied("the test says so");
        }
    });
    metadata_cache scout{store, any_key};
    REQUIRE(scout.learn("a"));
    CHECK(scout.learn("a")->version.empty());
    CHECK(store.calls() == std::vector<std::string>{"entries ", "size a"});
    CHECK_FALSE(scout.learn("b"));
    CHECK(store.calls() == std::vector<std::string>{"size b"});
    scout.forget();
    static_cast<void>(scout.learn("a"));
    CHECK(store.calls() == std::vector<std::string>{"entries ", "size a"});
}

TEST_CASE("metadata_cache: a failure of the storage means nothing is known, this time only") {
    plain_counting_storage store;
    store.write("a", as_bytes("1"));
    bool silent = true;
    store.before_each([&](const std::string&) {
        if (silent) {
            throw unavailable("the test says so");
        }
    });
    metadata_cache scout{store, any_key};
    CHECK_FALSE(scout.learn("a"));
    silent = false;
    CHECK(scout.learn("a")->size == 1);
}
