#include <smdebug/storage/versioned_read.hpp>

#include "support/archetypes.hpp"

#include <smdebug/storage/memory_storage.hpp>

#include <doctest/doctest.h>

#include <stdexcept>

using namespace smdebug;
using namespace smdebug_test;

TEST_CASE("read_each: an exception of the sink ends the reading and is passed on") {
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

TEST_CASE("read_each_past_errors: continues after unreadable objects, and passes on the sink's own errors") {
    struct moody : memory_storage {
        using memory_storage::read;
        [[nodiscard]] byte_buffer read(std::string_view key) const {
            if (key == "b" || key == "d") {
                throw access_denied("no", {.where = std::string{key}});
            }
            return memory_storage::read(key);
        }
    };
    moody store;
    for (const char* key : {"a", "b", "c", "d"}) {
        store.write(key, as_bytes(key));
    }
    const std::vector<std::string> keys{"a", "b", "missing", "c", "d"};
    std::string told;
    read_each_past_errors(
        store, keys,
        [&](std::size_t i, std::optional<byte_view> bytes) {
            told += std::to_string(i) + (bytes ? std::string{as_text(*bytes)} : "-") + " ";
        },
        [&](std::size_t i, const error& why) { told += std::to_string(i) + "!" + why.where() + " "; });
    CHECK(told == "0a 1!b 2- 3c 4!d ");
    int calls = 0;
    CHECK_THROWS_AS(read_each_past_errors(
                        store, keys,
                        [&](std::size_t, std::optional<byte_view>) {
                            ++calls;
                            throw unavailable("the sink's own");
                        },
                        [](std::size_t, const error&) { FAIL("called"); }),
                    unavailable);
    CHECK(calls == 1);
    // Either function ends it by returning false.
    told.clear();
    const auto up_to = [&](std::size_t end) {
        told.clear();
        return read_each_past_errors(
            store, keys,
            [&](std::size_t i, std::optional<byte_view>) {
                told += std::to_string(i);
                return i < end;
            },
            [&](std::size_t i, const error&) {
                told += std::to_string(i) + "!";
                return i < end;
            });
    };
    CHECK_FALSE(up_to(0));
    CHECK(told == "0");
    CHECK_FALSE(up_to(1));
    CHECK(told == "01!");
    CHECK_FALSE(up_to(2));
    CHECK(told == "01!2");
    CHECK(up_to(5));
    CHECK(told == "01!234!");
}

TEST_CASE("read_each: passes on errors of the storage other than not_found") {
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
