#include <smdebug/storage/cache/known_objects.hpp>

#include <smdebug/storage/concepts.hpp>

#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug::detail;

TEST_CASE("known_objects: remembers listings, of which the last counts") {
    known_objects known;
    CHECK_FALSE(known.find("a"));
    known.learn({{"a", 1, "x"}, {"b", 2, "y"}}, known.state());
    REQUIRE(known.find("a"));
    CHECK(known.find("a")->size == 1);
    CHECK(known.find("b")->version == "y");
    known.learn("a", {.size = 3, .version = "z"}, known.state());
    CHECK(known.find("a")->version == "z");
}

TEST_CASE("known_objects: ignores a listing that began before something was forgotten") {
    known_objects known;
    const auto before = known.state();
    known.forget("a");
    known.learn({{"a", 1, "x"}, {"b", 2, "y"}}, before);
    known.learn("c", {.size = 3}, before);
    CHECK_FALSE(known.find("a"));
    CHECK_FALSE(known.find("b"));
    CHECK_FALSE(known.find("c"));
}

TEST_CASE("known_objects: forgets one key, all, or those that may have changed") {
    known_objects known;
    known.learn({{"a", 1, "x"}, {"b", 2, "y"}, {"c", 2, "y"}}, known.state());
    known.forget("a");
    CHECK_FALSE(known.find("a"));
    known.doubt({"b", "d"});
    CHECK_FALSE(known.find("b"));
    CHECK(known.find("c"));
    known.forget();
    CHECK_FALSE(known.find("c"));
}

TEST_CASE("known_objects: a mark not to cache a key stays until it is forgotten") {
    known_objects known;
    known.pass("a");
    CHECK(known.find("a")->passes);
    known.learn({{"a", 1, "x"}}, known.state());
    known.doubt({"a"});
    CHECK(known.find("a")->passes);
    known.forget("a");
    known.learn({{"a", 1, "x"}}, known.state());
    CHECK_FALSE(known.find("a")->passes);
}

TEST_CASE("known_objects: remembers the recently used keys") {
    known_objects known{100};
    for (int i = 0; i < 1000; ++i) {
        known.learn(std::to_string(i), {.size = 1}, known.state());
        CHECK(known.find("0"));
        CHECK(known.find(std::to_string(i)));
    }
    int remembered = 0;
    for (int i = 0; i < 1000; ++i) {
        remembered += known.find(std::to_string(i)) ? 1 : 0;
    }
    CHECK(remembered >= 50);
    CHECK(remembered <= 102);
    known.forget("0");
    CHECK_FALSE(known.find("0"));
}

TEST_CASE("known_objects: the key before a key comes before it, with hardly any between them") {
    for (const std::string key : {"events/000000000001/000000000001_worker_0.tfevents", "a", "index/0/1.json", "0", "/",
                                  "a/", "odd/h\xC3\xA4sslich \xE2\x82\xAC", "x ", "x\x7F", "\xC3\xA4", "b!", ""}) {
        CAPTURE(key);
        const std::string before = key_before(key);
        CHECK((before < key || key.empty()));
        CHECK(before.size() <= key.size() + 1);
    }
    CHECK(key_before("events/1.tfevents") == "events/1.tfeventr~");
    CHECK(key_before("a\xE2\x82\xAC") == "a");
    CHECK(key_before("a\xC3\xA4") == "a");
}
