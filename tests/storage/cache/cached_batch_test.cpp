#include <smdebug/storage/cache/cached_batch.hpp>

#include "support/archetypes.hpp"
#include "support/counting_storage.hpp"
#include "support/temporary_folder.hpp"

#include <smdebug/core/error.hpp>
#include <smdebug/storage/batch_read.hpp>
#include <smdebug/storage/cache/disk_cache.hpp>
#include <smdebug/storage/cache/memory_cache.hpp>
#include <smdebug/storage/cached_storage.hpp>
#include <smdebug/testing/storage_conformance.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

using namespace smdebug;
using namespace smdebug::detail;
using namespace smdebug_test;
using namespace smdebug::testing;

namespace {

const std::vector<std::string> letters{"a.tfevents", "b.tfevents", "c.tfevents", "d.tfevents", "e.tfevents"};

counting_storage<> five_objects() {
    counting_storage<> inner;
    for (const std::string& key : letters) {
        inner.write(key, as_bytes(std::string(10, key.front())));
    }
    return inner;
}

// "0a 1- ": positions in order, each with the first letter of its object.
template <class Bytes>
std::string told_of(std::size_t i, const std::optional<Bytes>& bytes) {
    std::string told = std::to_string(i);
    if constexpr (std::same_as<Bytes, byte_buffer>) {
        told += bytes ? std::string{as_text(bytes->view())} : "-";
    } else {
        told += bytes ? std::string{as_text(*bytes).substr(0, 1)} : "-";
    }
    return told + " ";
}

template <class Store>
std::string each(const Store& store, const std::vector<std::string>& keys) {
    std::string told;
    store.read_each(
        keys, [&](std::size_t i, std::optional<byte_view> bytes, const object_version&) { told += told_of(i, bytes); });
    return told;
}

template <class Store>
std::string ranges(const Store& store, const std::vector<object_range>& wanted) {
    std::string told;
    store.read_ranges(wanted, [&](std::size_t i, std::optional<byte_buffer> bytes, const object_version&) {
        told += told_of(i, bytes);
    });
    return told;
}

}  // namespace

TEST_CASE("cached_batch: items are delivered in order, whichever are cached") {
    for (unsigned pattern = 0; pattern < 32; ++pattern) {
        std::vector<std::size_t> far;
        for (std::size_t i = 0; i < 5; ++i) {
            if ((pattern >> i & 1U) != 0) {
                far.push_back(i);
            }
        }
        std::vector<std::size_t> given;
        const auto take = [&](std::size_t place) { given.push_back(place); };
        detail::in_order(
            5, far, take, [&](std::size_t place, int bytes) { given.push_back(place + static_cast<unsigned>(bytes)); },
            [&](auto&& next) {
                for (std::size_t i = 0; i < far.size(); ++i) {
                    next(i, 0);
                }
            });
        CHECK(given == std::vector<std::size_t>{0, 1, 2, 3, 4});
    }
}

TEST_CASE("cached_batch: the cache supplies cached objects, one call the rest, which a memory cache does not keep") {
    const auto inner = five_objects();
    const auto store = cached(inner);
    static_cast<void>(store.read("b.tfevents"));
    static_cast<void>(store.read("e.tfevents"));
    static_cast<void>(inner.calls());
    const std::string all = "0a 1b 2c 3d 4e ";
    CHECK(each(store, letters) == all);
    CHECK(inner.calls() == std::vector<std::string>{"each a.tfevents c.tfevents d.tfevents"});
    CHECK(each(store, letters) == all);
    CHECK(inner.calls() == std::vector<std::string>{"each a.tfevents c.tfevents d.tfevents"});
    CHECK(each(store, {"b.tfevents", "e.tfevents"}) == "0b 1e ");
    CHECK(inner.calls().empty());
    CHECK(each(store, {}).empty());
    CHECK(each(store, {"x.tfevents", "b.tfevents", "collections/x"}) == "0- 1b 2- ");
    CHECK(inner.calls() == std::vector<std::string>{"each x.tfevents collections/x"});
}

TEST_CASE("cached_batch: a cold cache passes the keys on and makes no other request") {
    const auto inner = five_objects();
    CHECK(each(cached(inner), letters) == "0a 1b 2c 3d 4e ");
    CHECK(inner.calls().size() == 1);
    CHECK(ranges(cached(inner), {{"a.tfevents", {0, 1}}, {"c.tfevents", {0, 2}}}) == "0a 1cc ");
    CHECK(inner.calls().size() == 1);
}

TEST_CASE("cached_batch: ranges of cached objects come from the cache, the rest in one call") {
    const auto inner = five_objects();
    const auto store = cached(inner);
    const byte_buffer whole = store.read("b.tfevents");
    static_cast<void>(inner.calls());
    const std::vector<object_range> wanted{{"a.tfevents", {0, 2}}, {"b.tfevents", {1, 3}}, {"b.tfevents", {9, 9}},
                                           {"x.tfevents", {0, 1}}, {"c.tfevents", {8, 5}}, {"b.tfevents", {0, 0}}};
    CHECK(ranges(store, wanted) == "0aa 1bbb 2b 3- 4cc 5 ");
    CHECK(inner.calls() == std::vector<std::string>{"ranges a.tfevents x.tfevents c.tfevents"});
    store.read_ranges(std::array{object_range{"b.tfevents", {4, 2}}},
                      [&](std::size_t, const std::optional<byte_buffer>& bytes, const object_version&) {
                          CHECK(bytes->data() == whole.data() + 4);
                      });
}

TEST_CASE("cached_batch: a range behind a cached object's end checks whether the object has grown") {
    const auto inner = five_objects();
    const auto store = cached(inner);
    static_cast<void>(store.read("a.tfevents"));
    CHECK(ranges(store, {{"a.tfevents", {10, 5}}}) == "0 ");
    inner.objects().write("a.tfevents", as_bytes("aaaaaaaaaaMORE"));
    CHECK(ranges(store, {{"a.tfevents", {10, 5}}}) == "0MORE ");
    inner.objects().remove("a.tfevents");
    store.forget();
    CHECK(ranges(store, {{"a.tfevents", {10, 5}}}) == "0- ");
}

TEST_CASE("cached_batch: works over a storage without batch reads") {
    plain_counting_storage inner;
    inner.write("a.tfevents", as_bytes("aaa"));
    inner.write("b.tfevents", as_bytes("bbb"));
    const auto store = cached(inner);
    static_cast<void>(store.read("b.tfevents"));
    static_cast<void>(inner.calls());
    CHECK(each(store, {"a.tfevents", "b.tfevents", "c.tfevents"}) == "0a 1b 2- ");
    CHECK(inner.calls() == std::vector<std::string>{"read a.tfevents", "read c.tfevents"});
    CHECK(ranges(store, {{"b.tfevents", {0, 2}}, {"a.tfevents", {1, 1}}}) == "0bb 1a ");
    CHECK(inner.calls() == std::vector<std::string>{"part a.tfevents"});
}

TEST_CASE("cached_batch: an error is thrown after everything before it has been delivered") {
    const auto inner = five_objects();
    inner.before_each([](const std::string& call) {
        if (call == "one d.tfevents") {
            throw unavailable("no", {.where = "d.tfevents"});
        }
    });
    const auto store = cached(inner);
    static_cast<void>(store.read("b.tfevents"));
    static_cast<void>(store.read("c.tfevents"));
    std::string told;
    const auto sink = [&](std::size_t i, std::optional<byte_view> bytes, const auto&...) { told += told_of(i, bytes); };
    CHECK_THROWS_AS(store.read_each(letters, sink), unavailable);
    CHECK(told == "0a 1b 2c ");
    told.clear();
    read_each_past_errors(store, letters, sink, [&](std::size_t i, const error& why) {
        told += std::to_string(i) + "!" + why.where() + " ";
    });
    CHECK(told == "0a 1b 2c 3!d.tfevents 4e ");
    told.clear();
    const std::vector<object_range> wanted{{"b.tfevents", {0, 1}}, {"c.tfevents", {0, 1}}, {"d.tfevents", {0, 1}}};
    CHECK_THROWS_AS(store.read_ranges(wanted, [&](std::size_t i, const auto& bytes,
                                                  const object_version&) { told += told_of(i, bytes); }),
                    unavailable);
    CHECK(told == "0b 1c ");
}

TEST_CASE("cached_batch: an exception of the sink ends it, at a cached or other object, and is passed on unchanged") {
    const auto inner = five_objects();
    const auto store = cached(inner);
    static_cast<void>(store.read("b.tfevents"));
    for (std::size_t end = 0; end < letters.size(); ++end) {
        std::size_t called = 0;
        CHECK_THROWS_AS(store.read_each(letters,
                                        [&](std::size_t i, auto, const object_version&) {
                                            ++called;
                                            if (i == end) {
                                                throw std::runtime_error("enough");
                                            }
                                        }),
                        std::runtime_error);
        CHECK(called == end + 1);
    }
}

TEST_CASE("cached_batch: an object evicted during the batch is read, or is missing") {
    const auto inner = five_objects();
    const auto store = cached(inner);
    static_cast<void>(store.read("b.tfevents"));
    static_cast<void>(store.read("d.tfevents"));
    std::string told;
    store.read_each(letters, [&](std::size_t i, std::optional<byte_view> bytes, const object_version&) {
        told += told_of(i, bytes);
        if (i == 0) {
            store.forget();
            inner.objects().remove("d.tfevents");
        }
    });
    CHECK(told == "0a 1b 2c 3- 4e ");
}

TEST_CASE("cached_batch: a cache on disk keeps objects of a scan") {
    const temporary_folder folder;
    const auto inner = five_objects();
    CHECK(each(cached(inner, disk_cache{folder.path()}), letters) == "0a 1b 2c 3d 4e ");
    const auto calls = inner.calls();
    REQUIRE(calls.size() == 3);  // everything, whether or not it is still current
    CHECK(calls[0] == "entries ");
    CHECK(calls[1].starts_with("each a.tfevents b"));
    CHECK(calls[2] == "entries ");
    const auto store = cached(inner, disk_cache{folder.path()});
    CHECK(each(store, letters) == "0a 1b 2c 3d 4e ");
    CHECK(text_of(store.read("c.tfevents", {0, 2})) == "cc");
    CHECK(inner.calls() == std::vector<std::string>{"entries "});
}

TEST_CASE("cached_batch: a disk cache fetches objects whole if small or mostly wanted, otherwise in parts") {
    const temporary_folder folder;
    counting_storage<> inner;
    const std::string large(5'000'000, 'l');
    inner.write("large.tfevents", as_bytes(large));
    inner.write("much.tfevents", as_bytes(large));
    inner.write("small.tfevents", as_bytes("sss"));
    const std::vector<object_range> wanted{{"large.tfevents", {0, 2}}, {"large.tfevents", {1000, 2}},
                                           {"much.tfevents", {0, 2}},  {"much.tfevents", {2'000'000, 2'000'000}},
                                           {"small.tfevents", {0, 2}}, {"gone.tfevents", {0, 1}}};
    for (const bool warm : {false, true}) {
        CAPTURE(warm);
        const auto store = cached(inner, disk_cache{folder.path()});
        std::vector<std::size_t> sizes;
        store.read_ranges(wanted, [&](std::size_t i, const std::optional<byte_buffer>& bytes, const object_version&) {
            CHECK(i == sizes.size());
            sizes.push_back(bytes ? bytes->size() : 99);
        });
        CHECK(sizes == std::vector<std::size_t>{2, 2, 2, 2'000'000, 2, 99});
        const auto calls = inner.calls();
        CHECK(contains(calls, "each much.tfevents small.tfevents") == !warm);
        CHECK(contains(calls, "ranges large.tfevents large.tfevents gone.tfevents"));
    }
}

TEST_CASE("cached_batch: if the disk accepts nothing, only the first object is fetched twice") {
    const temporary_folder folder;
    folder.write("file", "in the way");
    const auto inner = five_objects();
    std::vector<object_range> wanted;
    for (const std::string& key : letters) {
        wanted.push_back({.key = key, .where = {0, 1}});
    }
    int fetched = 0;
    inner.before_each([&](const std::string& call) { fetched += call.starts_with("one ") ? 1 : 0; });
    CHECK(ranges(cached(inner, disk_cache{folder.path() + "/file"}), wanted) == "0a 1b 2c 3d 4e ");
    CHECK(fetched <= 6);
}

TEST_CASE("cached_batch: an object replaced during a scan is not kept under its listed version") {
    const temporary_folder folder;
    const auto inner = five_objects();
    inner.before_each([&](const std::string& call) {
        if (call == "one c.tfevents") {
            inner.objects().write("c.tfevents", as_bytes("CCCCCCCCCC"));  // of the same size
        }
    });
    CHECK(each(cached(inner, disk_cache{folder.path()}), letters) == "0a 1b 2C 3d 4e ");
    CHECK(std::distance(std::filesystem::directory_iterator{folder.path()}, std::filesystem::directory_iterator{}) ==
          4);
    CHECK(each(cached(inner, disk_cache{folder.path()}), letters) == "0a 1b 2C 3d 4e ");
}
