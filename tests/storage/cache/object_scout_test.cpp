#include <smdebug/storage/cache/object_scout.hpp>

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

TEST_CASE("object_scout: the key before a key comes before it, and hardly any lies between them") {
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

TEST_CASE("object_scout: asks once for a thousand, and not for what is not of interest") {
    counting_storage<> store;
    for (int i = 0; i < 1500; ++i) {
        store.write("events/" + std::to_string(10'000 + i), as_bytes("x"));
        store.write("index/" + std::to_string(10'000 + i), as_bytes("x"));
    }
    store.write("events/99999.other", as_bytes("x"));
    object_scout scout{store, [](std::string_view key) { return !key.ends_with(".other"); }, true};
    CHECK(scout.learn("events/10007")->size == 1);
    CHECK(scout.learn("events/11006"));
    CHECK(store.calls() == std::vector<std::string>{"entries events/"});
    CHECK(scout.learn("events/11007"));
    CHECK(store.calls() == std::vector<std::string>{"entries events/"});
    CHECK_FALSE(scout.known().find("events/99999.other"));
    CHECK_FALSE(scout.known().find("index/10000"));
    CHECK_FALSE(scout.known().find("events/10006"));
}

TEST_CASE("object_scout: finds a key behind more than a thousand that lie close before it") {
    counting_storage<> store;
    for (int i = 0; i < 2500; ++i) {
        store.write("a" + std::string{"\x7E"} + std::to_string(10'000 + i), as_bytes("x"));
    }
    const std::string key = "a\x7F";
    store.write(key, as_bytes("1234"));
    object_scout scout{store, any_key, true};
    REQUIRE(scout.learn(key));
    CHECK(scout.learn(key)->size == 4);
    CHECK(store.calls().size() == 3);
}

TEST_CASE("object_scout: what has too much before it is not looked for to the end") {
    counting_storage<> store;
    for (int i = 0; i < 20'000; ++i) {
        store.write("a" + std::string{"\x7E"} + std::to_string(100'000 + i), as_bytes("x"));
    }
    const std::string key = "a\x7F";
    store.write(key, as_bytes("1234"));
    object_scout scout{store, any_key, true};
    CHECK_FALSE(scout.learn(key));
    CHECK(store.calls().size() <= 20);
}

TEST_CASE("object_scout: what is missing is nothing, and asked for again") {
    counting_storage<> store;
    object_scout scout{store, any_key, true};
    CHECK_FALSE(scout.learn("a"));
    CHECK_FALSE(scout.learn("a"));
    CHECK(store.calls().size() == 2);
    store.objects().write("a", as_bytes("1"));
    CHECK(scout.learn("a"));
}

TEST_CASE("object_scout: tells whether an object has changed, or is gone") {
    counting_storage<> store;
    store.write("a", as_bytes("1"));
    object_scout scout{store, any_key, true};
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

TEST_CASE("object_scout: where listing is not allowed sizes have to do, if they may") {
    counting_storage<> store;
    store.write("a", as_bytes("1"));
    store.before_each([](const std::string& call) {
        if (call.starts_with("entries")) {
            throw access_denied("the test says so");
        }
    });
    object_scout scout{store, any_key, true};
    REQUIRE(scout.learn("a"));
    CHECK(scout.learn("a")->version.empty());
    CHECK(store.calls() == std::vector<std::string>{"entries ", "size a"});
    CHECK_FALSE(scout.learn("b"));
    CHECK(store.calls() == std::vector<std::string>{"size b"});
    scout.forget();
    static_cast<void>(scout.learn("a"));
    CHECK(store.calls() == std::vector<std::string>{"entries ", "size a"});

    object_scout strict{store, any_key, false};
    CHECK_FALSE(strict.learn("a"));
    CHECK(store.calls() == std::vector<std::string>{"entries "});
}

TEST_CASE("object_scout: a storage that does not answer tells nothing, this time") {
    plain_counting_storage store;
    store.write("a", as_bytes("1"));
    bool silent = true;
    store.before_each([&](const std::string&) {
        if (silent) {
            throw unavailable("the test says so");
        }
    });
    object_scout scout{store, any_key, true};
    CHECK_FALSE(scout.learn("a"));
    silent = false;
    CHECK(scout.learn("a")->size == 1);
}
