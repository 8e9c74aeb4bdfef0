#include <smdebug/storage/read_each.hpp>

#include "support/archetypes.hpp"

#include <smdebug/storage/memory_storage.hpp>

#include <doctest/doctest.h>

#include <stdexcept>

using namespace smdebug;
using namespace smdebug_test;

TEST_CASE("read_each: what the sink throws ends the reading and comes out") {
    memory_storage objects;
    objects.write("a", as_bytes("1"));
    objects.write("b", as_bytes("2"));
    const storage_archetype store{objects};
    const std::vector<std::string> keys{"a", "b"};
    int called = 0;
    CHECK_THROWS_AS(read_each(store, keys,
                              [&](std::size_t, std::optional<byte_view>) {
                                  ++called;
                                  throw std::runtime_error("enough");
                              }),
                    std::runtime_error);
    CHECK(called == 1);
}

TEST_CASE("read_each: an error of the storage that is not not_found comes out") {
    struct failing : memory_storage {
        [[nodiscard]] byte_buffer read(std::string_view key) const {
            throw unavailable("the line is down", {.where = std::string{key}});
        }
        [[nodiscard]] byte_buffer read(std::string_view key, byte_range) const { return read(key); }
    };
    const std::vector<std::string> keys{"a"};
    CHECK_THROWS_AS(read_each(failing{}, keys, [](std::size_t, std::optional<byte_view>) { FAIL("called"); }),
                    unavailable);
}
