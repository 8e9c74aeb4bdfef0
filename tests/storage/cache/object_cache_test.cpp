#include <smdebug/storage/cache/object_cache.hpp>

#include "support/counting_storage.hpp"
#include "support/temporary_folder.hpp"
#include "support/test.hpp"

#include <smdebug/core/error.hpp>
#include <smdebug/testing/storage_conformance.hpp>

using namespace smdebug;
using namespace smdebug::detail;
using namespace smdebug_test;
using namespace smdebug::testing;

TEST_CASE("object_cache: says what is cached, what is to be fetched, and what is not to be cached") {
    counting_storage<> inner;
    inner.write("a.tfevents", as_bytes("12345"));
    inner.write("large.tfevents", as_bytes("1234567890"));
    detail::object_cache reader{inner,
                                {.largest_object = 9,
                                 .cacheable = [](std::string_view key) { return key.ends_with(".tfevents"); },
                                 .threads_ahead = 0}};
    CHECK(reader.read_ahead("a.tfevents") == std::optional{false});
    CHECK(reader.read_ahead("large.tfevents") == std::optional{false});  // nothing is known yet
    CHECK(reader.read_ahead("collections/a") == std::nullopt);
    CHECK_FALSE(reader.view("a.tfevents"));
    CHECK(inner.calls().empty());
    reader.prefetch("a.tfevents");
    reader.prefetch("large.tfevents");
    reader.prefetch("collections/a");
    CHECK(inner.calls() == std::vector<std::string>{"entries ", "read a.tfevents"});
    CHECK(reader.read_ahead("a.tfevents") == std::optional{true});
    CHECK(reader.read_ahead("large.tfevents") == std::nullopt);
    REQUIRE(reader.view("a.tfevents"));
    CHECK(text_of(*reader.view("a.tfevents")) == "12345");
    reader.pass("a.tfevents");
    CHECK(reader.read_ahead("a.tfevents") == std::nullopt);
    reader.forget("a.tfevents");
    CHECK(reader.read_ahead("a.tfevents") == std::optional{false});
}

TEST_CASE("object_cache: an object fetched while its key is forgotten is not kept") {
    plain_counting_storage inner;
    inner.write("a.tfevents", as_bytes("older"));
    detail::object_cache reader{inner, {}};
    bool replaced = false;
    inner.before_each([&](const std::string& call) {
        if (call == "read a.tfevents" && !std::exchange(replaced, true)) {
            inner.objects().write("a.tfevents", as_bytes("newer"));
            reader.forget("a.tfevents");
        }
    });
    static_cast<void>(reader.read("a.tfevents", whole_object));
    CHECK(text_of(reader.read("a.tfevents", whole_object)) == "newer");
}

TEST_CASE("object_cache: keeps the version of the fetched bytes") {
    const temporary_folder folder;
    counting_storage<> inner;
    inner.write("a.tfevents", as_bytes("first"));
    {
        detail::object_cache reader{inner, {.folder = folder.path()}};
        REQUIRE(reader.learn("a.tfevents"));
        inner.objects().write("a.tfevents", as_bytes("other"));
        CHECK(text_of(reader.read("a.tfevents", whole_object)) == "other");
        static_cast<void>(inner.calls());
        CHECK(text_of(reader.read("a.tfevents", {0, 2})) == "ot");
        CHECK(inner.calls().empty());
    }
    detail::object_cache next{inner, {.folder = folder.path()}};
    CHECK(text_of(next.read("a.tfevents", whole_object)) == "other");
    CHECK(inner.calls() == std::vector<std::string>{"entries "});
}
