#include <smdebug/hook/place_opener.hpp>

#include <doctest/doctest.h>

#include <smdebug/core/error.hpp>
#include <smdebug/storage/any_place.hpp>
#include <smdebug/storage/local_storage.hpp>
#include <smdebug/storage/memory_storage.hpp>

#include <support/archetypes.hpp>

#include <concepts>
#include <string>

using namespace smdebug;
using namespace smdebug::detail;

TEST_CASE("place_opener: a folder is opened as users write it, and is no other place") {
    CHECK(place_opener<local_storage>::open("file:///runs/a").name() == "/runs/a");
    CHECK(place_opener<local_storage>::open("runs/a/").name() == "runs/a");
    CHECK_THROWS_AS(static_cast<void>(place_opener<local_storage>::open("s3://bucket/run")), unsupported);
}

TEST_CASE("place_opener: another storage is given the text as it is") {
    CHECK(place_opener<memory_storage>::open("file:///~").name() == "memory:file:///~");
}

TEST_CASE("named_storage: is what can be made of a text, and can be written") {
    static_assert(named_storage<local_storage> && named_storage<memory_storage> && named_storage<any_place>);
    static_assert(!named_storage<smdebug_test::writable_archetype>);
    class reader : public smdebug_test::storage_archetype {
    public:
        explicit reader(const std::string& /*text*/) : storage_archetype(memory_storage{}) {}
    };
    static_assert(std::constructible_from<reader, std::string> && !named_storage<reader>);
}
