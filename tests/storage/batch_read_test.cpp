#include <smdebug/storage/batch_read.hpp>

#include "support/archetypes.hpp"
#include "support/remote_storage.hpp"
#include "support/test.hpp"

#include <smdebug/core/error.hpp>
#include <smdebug/storage/any_storage.hpp>
#include <smdebug/storage/memory_storage.hpp>

using namespace smdebug;
using namespace smdebug_test;

namespace {

memory_storage letters() {
    memory_storage objects;
    objects.write("a", as_bytes("0123456789"));
    objects.write("b", as_bytes("abcdefghij"));
    return objects;
}

const std::vector<object_range> wanted{{"a", {2, 3}}, {"gone", {0, 4}}, {"b", {8, 9}}, {"a", {0, 1}}, {"b", {1, 1}}};

std::string told_of(std::size_t i, const std::optional<byte_buffer>& bytes) {
    return std::to_string(i) + (bytes ? std::string{as_text(bytes->view())} : "-") + " ";
}

std::string all_of(const any_storage& store) {
    std::string told;
    store.read_ranges(wanted, [&](std::size_t i, std::optional<byte_buffer> bytes, const object_version&) {
        told += told_of(i, bytes);
    });
    return told;
}

std::string past_errors(const any_storage& store) {
    std::string told;
    read_ranges_past_errors(
        store, wanted,
        [&](std::size_t i, std::optional<byte_buffer> bytes, const object_version&) { told += told_of(i, bytes); },
        [&](std::size_t i) {
            try {
                throw;
            } catch (const error& why) {
                told += std::to_string(i) + "!" + why.where() + " ";
            } catch (const std::bad_alloc&) {
                told += std::to_string(i) + "!memory ";
            }
        });
    return told;
}

}  // namespace

TEST_CASE("read_each_past_errors: continues after unreadable objects, and passes on the sink's own errors") {
    struct moody : memory_storage {
        [[nodiscard]] byte_buffer read(std::string_view key, byte_range where = whole_object) const override {
            if (key == "b" || key == "d") {
                throw access_denied("no", {.where = std::string{key}});
            }
            return memory_storage::read(key, where);
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
        [&](std::size_t i, std::optional<byte_view> bytes, const object_version&) {
            told += std::to_string(i) + (bytes ? std::string{as_text(*bytes)} : "-") + " ";
        },
        [&](std::size_t i, const error& why) { told += std::to_string(i) + "!" + why.where() + " "; });
    CHECK(told == "0a 1!b 2- 3c 4!d ");
    int calls = 0;
    CHECK_THROWS_AS(read_each_past_errors(
                        store, keys,
                        [&](std::size_t, std::optional<byte_view>, const object_version&) {
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
            [&](std::size_t i, std::optional<byte_view>, const object_version&) {
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

TEST_CASE("read_ranges: ranges are delivered in order, whether or not the storage reads them together") {
    const std::string expected = "0234 1- 2ij 30 4b ";
    CHECK(all_of(storage_archetype{letters()}) == expected);
    const remote_storage remote{letters()};
    CHECK(all_of(remote) == expected);
    CHECK(remote.asked().calls == std::vector<std::string>{"ranges 5"});
    CHECK(all_of(any_storage{letters()}) == expected);
}

TEST_CASE("read_ranges_past_errors: continues after unreadable ranges") {
    const auto moody = [](std::string_view key, byte_range where) {
        if (key == "b" && where.offset + where.length > 8) {
            throw access_denied("no", {.where = std::string{key}});
        }
        if (key == "a" && where.offset == 0) {
            throw std::bad_alloc{};
        }
    };
    const std::string expected = "0234 1- 2!b 3!memory 4b ";
    const std::vector<object_range> neighbours{{"b", {0, 4}}, {"b", {4, 4}}, {"b", {8, 2}}, {"a", {2, 2}}};
    const remote_storage remote{letters(), {.gap = 0}};
    remote.before_read(moody);
    CHECK(past_errors(remote) == expected);
    CHECK(past_errors(distant_storage{remote}) == expected);
    // Ranges of one request fail together, but not alone.
    std::string told;
    read_ranges_past_errors(
        remote, neighbours,
        [&](std::size_t i, const std::optional<byte_buffer>& bytes, const object_version&) {
            told += told_of(i, bytes);
        },
        [&](std::size_t i) { told += std::to_string(i) + "! "; });
    CHECK(told == "0abcd 1efgh 2! 323 ");
}

TEST_CASE("read_ranges_past_errors: if everything fails, each range is read alone once") {
    const memory_storage objects = letters();
    const remote_storage remote{objects};
    remote.before_read([](std::string_view key, byte_range) { throw unavailable("no", {.where = std::string{key}}); });
    const std::vector<object_range> many(50, object_range{"a", {0, 1}});
    std::size_t failed = 0;
    read_ranges_past_errors(
        remote, many, [](std::size_t, const std::optional<byte_buffer>&, const object_version&) { FAIL("called"); },
        [&](std::size_t i) { CHECK(i == failed++); });
    CHECK(failed == 50);
    CHECK(remote.asked().requests.size() == 51);
    // If one fails, the later ones are read together again.
    const remote_storage better{objects, {.gap = 0}};
    better.before_read([](std::string_view key, byte_range) {
        if (key == "b") {
            throw unavailable("no", {.where = std::string{key}});
        }
    });
    std::vector<object_range> one_bad(100, object_range{"a", {0, 1}});
    one_bad[3] = {"b", {0, 1}};
    std::size_t seen = 0;
    read_ranges_past_errors(
        better, one_bad, [&](std::size_t, const std::optional<byte_buffer>&, const object_version&) { ++seen; },
        [](std::size_t i) { CHECK(i == 3); });
    CHECK(seen == 99);
    CHECK(better.asked().calls.size() == 9);
}

TEST_CASE("read_ranges_past_errors: errors of the sink and of `failed` are passed on, whatever their type") {
    const remote_storage remote{letters()};
    int calls = 0;
    CHECK_THROWS_AS(read_ranges_past_errors(
                        remote, wanted,
                        [&](std::size_t, const std::optional<byte_buffer>&, const object_version&) {
                            ++calls;
                            throw unavailable("the sink's own");
                        },
                        [](std::size_t) { FAIL("called"); }),
                    unavailable);
    CHECK_THROWS_AS(read_ranges_past_errors(
                        remote, wanted,
                        [&](std::size_t, const std::optional<byte_buffer>&, const object_version&) {
                            ++calls;
                            throw std::bad_alloc{};
                        },
                        [](std::size_t) { FAIL("called"); }),
                    std::bad_alloc);
    CHECK(calls == 2);
    remote.before_read([](std::string_view, byte_range) { throw unavailable("no"); });
    CHECK_THROWS_AS(read_ranges_past_errors(
                        remote, wanted, [](std::size_t, const std::optional<byte_buffer>&, const object_version&) {},
                        [](std::size_t) { throw; }),
                    unavailable);
}

TEST_CASE("read_ranges_past_errors: false from either function ends it") {
    const remote_storage remote{letters()};
    std::size_t calls = 0;
    const auto up_to = [&](std::size_t end) {
        calls = 0;
        return read_ranges_past_errors(
            remote, wanted,
            [&](std::size_t i, const std::optional<byte_buffer>&, const object_version&) {
                ++calls;
                return i < end;
            },
            [&](std::size_t i) {
                ++calls;
                return i < end;
            });
    };
    CHECK_FALSE(up_to(0));
    CHECK(calls == 1);
    CHECK(up_to(wanted.size()));
    CHECK(calls == wanted.size());
    remote.before_read([](std::string_view, byte_range) { throw unavailable("no"); });
    CHECK_FALSE(up_to(1));
    CHECK(calls == 2);
}
