#include <smdebug/storage/cache/object_cache.hpp>

#include "support/archetypes.hpp"
#include "support/counting_storage.hpp"
#include "support/temporary_folder.hpp"
#include "support/test.hpp"

#include <smdebug/core/error.hpp>
#include <smdebug/storage/batch_read.hpp>
#include <smdebug/storage/cached_storage.hpp>
#include <smdebug/testing/storage_conformance.hpp>

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

TEST_CASE("cached_storage: a batch is in order, whichever objects are cached, until the sink throws or returns false") {
    std::vector<object_range> parts;
    for (const std::string& key : letters) {
        parts.push_back({key, {1, 2}});
    }
    for (unsigned pattern = 0; pattern < 32; ++pattern) {
        const cached_storage store{five_objects()};
        for (std::size_t i = 0; i < letters.size(); ++i) {
            if ((pattern >> i & 1U) != 0) {
                static_cast<void>(store.read(letters[i]));
            }
        }
        for (std::size_t end = 0; end < 6; ++end) {
            std::size_t next = 0;
            const auto ending = [&](std::size_t i, const auto& bytes, const object_version&) {
                CHECK(i == next++);
                CHECK(bytes.has_value());
                return i < end;
            };
            const std::size_t last = std::min<std::size_t>(end + 1, letters.size());
            store.read_each(letters, ending);
            CHECK(next == last);
            next = 0;
            store.read_ranges(parts, ending);
            CHECK(next == last);
            next = 0;
            const auto throwing = [&](std::size_t i, const auto&, const object_version&) {
                ++next;
                if (i == end) {
                    throw std::runtime_error("enough");
                }
            };
            if (end < letters.size()) {
                CHECK_THROWS_AS(store.read_each(letters, throwing), std::runtime_error);
                CHECK_THROWS_AS(store.read_ranges(parts, throwing), std::runtime_error);
                CHECK(next == 2 * last);
            }
        }
    }
}

TEST_CASE("cached_storage: the cache supplies cached objects, one call the rest, which a memory cache does not keep") {
    const auto inner = five_objects();
    const auto store = cached_storage{inner};
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

TEST_CASE("cached_storage: a cold cache passes the keys on and makes no other request") {
    const auto inner = five_objects();
    CHECK(each(cached_storage{inner}, letters) == "0a 1b 2c 3d 4e ");
    CHECK(inner.calls().size() == 1);
    CHECK(ranges(cached_storage{inner}, {{"a.tfevents", {0, 1}}, {"c.tfevents", {0, 2}}}) == "0a 1cc ");
    CHECK(inner.calls().size() == 1);
}

TEST_CASE("cached_storage: ranges of cached objects come from the cache, the rest in one call") {
    const auto inner = five_objects();
    const auto store = cached_storage{inner};
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

TEST_CASE("cached_storage: a range behind a cached object's end checks whether the object has grown") {
    const auto inner = five_objects();
    const auto store = cached_storage{inner};
    static_cast<void>(store.read("a.tfevents"));
    CHECK(ranges(store, {{"a.tfevents", {10, 5}}}) == "0 ");
    inner.objects().write("a.tfevents", as_bytes("aaaaaaaaaaMORE"));
    CHECK(ranges(store, {{"a.tfevents", {10, 5}}}) == "0MORE ");
    inner.objects().remove("a.tfevents");
    store.forget();
    CHECK(ranges(store, {{"a.tfevents", {10, 5}}}) == "0- ");
}

TEST_CASE("cached_storage: works over a storage without batch reads") {
    plain_counting_storage inner;
    inner.write("a.tfevents", as_bytes("aaa"));
    inner.write("b.tfevents", as_bytes("bbb"));
    const auto store = cached_storage{inner};
    static_cast<void>(store.read("b.tfevents"));
    static_cast<void>(inner.calls());
    CHECK(each(store, {"a.tfevents", "b.tfevents", "c.tfevents"}) == "0a 1b 2- ");
    CHECK(inner.calls() == std::vector<std::string>{"read a.tfevents", "read c.tfevents"});
    CHECK(ranges(store, {{"b.tfevents", {0, 2}}, {"a.tfevents", {1, 1}}}) == "0bb 1a ");
    CHECK(inner.calls() == std::vector<std::string>{"part a.tfevents"});
}

TEST_CASE("cached_storage: an error is thrown after everything before it has been delivered") {
    const auto inner = five_objects();
    inner.before_each([](const std::string& call) {
        if (call == "one d.tfevents") {
            throw unavailable("no", {.where = "d.tfevents"});
        }
    });
    const auto store = cached_storage{inner};
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

TEST_CASE("cached_storage: an object evicted during the batch is read, or is missing") {
    const auto inner = five_objects();
    const auto store = cached_storage{inner};
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

TEST_CASE("cached_storage: a cache on disk keeps objects of a scan") {
    const temporary_folder folder;
    const auto inner = five_objects();
    CHECK(each(cached_storage{inner, {.folder = folder.path()}}, letters) == "0a 1b 2c 3d 4e ");
    const auto calls = inner.calls();
    REQUIRE(calls.size() == 3);  // everything, whether or not it is still current
    CHECK(calls[0] == "entries ");
    CHECK(calls[1].starts_with("each a.tfevents b"));
    CHECK(calls[2] == "entries ");
    const auto store = cached_storage{inner, {.folder = folder.path()}};
    CHECK(each(store, letters) == "0a 1b 2c 3d 4e ");
    CHECK(text_of(store.read("c.tfevents", {0, 2})) == "cc");
    CHECK(inner.calls() == std::vector<std::string>{"entries "});
}

TEST_CASE("cached_storage: what a read finds in the folder stays in memory, what a batch finds there does not") {
    const temporary_folder folder;
    const auto inner = five_objects();
    static_cast<void>(each(cached_storage{inner, {.folder = folder.path()}}, letters));
    const cached_storage store{inner, {.folder = folder.path()}};
    CHECK(each(store, letters) == "0a 1b 2c 3d 4e ");
    static_cast<void>(store.read("b.tfevents"));
    static_cast<void>(inner.calls());
    for (const auto& file : std::filesystem::directory_iterator{folder.path()}) {
        std::filesystem::remove(file);
    }
    static_cast<void>(store.read("b.tfevents"));
    CHECK(inner.calls().empty());
    static_cast<void>(store.read("c.tfevents"));
    CHECK(inner.calls() == std::vector<std::string>{"read c.tfevents"});
}

TEST_CASE("cached_storage: a disk cache fetches objects whole if small or mostly wanted, otherwise in parts") {
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
        const auto store = cached_storage{inner, {.folder = folder.path()}};
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

TEST_CASE("cached_storage: if the disk accepts nothing, only the first object is fetched twice") {
    const temporary_folder folder;
    folder.write("file", "in the way");
    const auto inner = five_objects();
    std::vector<object_range> wanted;
    for (const std::string& key : letters) {
        wanted.push_back({.key = key, .where = {0, 1}});
    }
    int fetched = 0;
    inner.before_each([&](const std::string& call) { fetched += call.starts_with("one ") ? 1 : 0; });
    CHECK(ranges(cached_storage{inner, {.folder = folder.path() + "/file"}}, wanted) == "0a 1b 2c 3d 4e ");
    CHECK(fetched <= 6);
}

TEST_CASE("cached_storage: an object replaced during a scan is not kept under its listed version") {
    const temporary_folder folder;
    const auto inner = five_objects();
    inner.before_each([&](const std::string& call) {
        if (call == "one c.tfevents") {
            inner.objects().write("c.tfevents", as_bytes("CCCCCCCCCC"));  // of the same size
        }
    });
    CHECK(each(cached_storage{inner, {.folder = folder.path()}}, letters) == "0a 1b 2C 3d 4e ");
    CHECK(std::distance(std::filesystem::directory_iterator{folder.path()}, std::filesystem::directory_iterator{}) ==
          4);
    CHECK(each(cached_storage{inner, {.folder = folder.path()}}, letters) == "0a 1b 2C 3d 4e ");
}
