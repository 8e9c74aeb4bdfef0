#include <smdebug/trial/read/record_batch.hpp>

#include "support/erased_storage.hpp"
#include "support/remote_storage.hpp"
#include "support/test.hpp"

#include <smdebug/core/error.hpp>
#include <smdebug/storage/memory_storage.hpp>

using namespace smdebug;
using namespace smdebug::detail;
using namespace smdebug_test;
using byte_ranges = std::vector<byte_range>;
using texts = std::vector<std::string>;

namespace {

constexpr std::uint64_t no_end = std::numeric_limits<std::uint64_t>::max();

memory_storage letters() {
    memory_storage objects;
    objects.write("a", as_bytes("0123456789"));
    objects.write("b", as_bytes("abcdefghij"));
    return objects;
}

// A record from a source, or why there is none.
template <class Source>
std::string taken(Source& source, byte_range record) {
    try {
        return std::string{as_text(source.at(record))};
    } catch (const error& why) {
        return "!" + std::string{why.message()};
    }
}

}  // namespace

TEST_CASE("collected_event_file: records come as they were put, cut to their length; one is held at a time") {
    collected_event_file file{"key", 4};
    byte_buffer long_one = byte_buffer::take(std::string{"0123456789"});
    const std::weak_ptr<const void> owner = long_one.owner();
    file.put(0, long_one);
    long_one = {};
    file.fail(1, std::make_exception_ptr(unavailable("the line is down")));
    file.put(2, std::nullopt);
    file.put(3, byte_buffer{});
    CHECK(file.key() == "key");
    CHECK(file.is_there());
    CHECK(as_text(file.at({5, 3})) == "012");
    CHECK_FALSE(owner.expired());
    CHECK_THROWS_AS(static_cast<void>(file.at({0, 1})), unavailable);
    CHECK(owner.expired());
    CHECK_THROWS_AS(static_cast<void>(file.at({0, 1})), not_found);
    CHECK_FALSE(file.taken());
    CHECK(file.at({0, 1}).empty());
    CHECK(file.taken());
}

TEST_CASE("collected_event_file: its first record decides whether a file exists") {
    collected_event_file missing{"key", 2};
    missing.put(1, byte_buffer{});
    missing.put(0, std::nullopt);
    CHECK_FALSE(missing.is_there());
    collected_event_file failed{"key", 1};
    failed.fail(0, std::make_exception_ptr(unavailable("no")));
    CHECK(failed.is_there());
    CHECK(collected_event_file{"key", 0}.is_there());
}

TEST_CASE("record_batch: each file comes when its last record has arrived, in order, with its records in their order") {
    record_batch batch;
    const byte_ranges of_a{{8, 5}, {0, 2}, {4, 1}};
    const byte_ranges of_b{{2, 2}, {2, 2}};
    batch.add("nothing of it", {});
    batch.add("a", of_a);
    batch.add("nor of it", {});
    batch.add("gone", of_b);
    batch.add("b", of_b);
    batch.add("", {});
    CHECK(batch.records() == 7);
    const remote_storage store{letters()};
    texts seen;
    batch.read(any_storage(store), [&](std::size_t file, collected_event_file& source) {
        CHECK(file == seen.size());
        std::string line = source.key();
        if (source.key() == "a") {
            for (const byte_range record : of_a) {
                line += " " + taken(source, record);
            }
        } else if (source.key() == "b") {
            line += " " + taken(source, of_b[0]) + " " + taken(source, of_b[1]);
        }
        seen.push_back(source.is_there() ? line : "no " + line);
    });
    CHECK(seen == texts{"nothing of it", "a 89 01 4", "nor of it", "no gone", "b cd cd", ""});
    const asked_for asked = store.asked();
    CHECK(asked.calls == texts{"ranges 7"});
    CHECK(asked.requests.size() == 3);  // one per file
}

TEST_CASE("record_batch: without wanted records nothing is requested") {
    const remote_storage store{letters()};
    record_batch batch;
    batch.read(any_storage(store), [](std::size_t, collected_event_file&) { FAIL("called"); });
    batch.add("a", {});
    std::size_t files = 0;
    batch.read(any_storage(store), [&](std::size_t, collected_event_file& source) {
        ++files;
        CHECK(source.taken());
    });
    CHECK(files == 1);
    CHECK(store.asked().calls.empty());
}

TEST_CASE("record_batch: unreadable records fail alone, and so do those of a file that disappears meanwhile") {
    const byte_ranges three{{0, 1}, {1, 1}, {2, 1}};
    memory_storage objects = letters();
    const remote_storage store{objects, {.gap = 0, .largest_request = 1}};
    store.before_read([&](std::string_view key, byte_range where) {
        if (key == "a" && where.offset == 1) {
            throw unavailable("the line is down");
        }
        if (key == "b" && where.offset == 2) {
            objects.remove("b");
        }
    });
    record_batch batch;
    batch.add("a", three);
    batch.add("b", three);
    texts seen;
    batch.read(any_storage(store), [&](std::size_t, collected_event_file& source) {
        CHECK(source.is_there());
        for (const byte_range record : three) {
            seen.push_back(taken(source, record));
        }
    });
    REQUIRE(seen.size() == 6);
    CHECK(seen[0] == "0");
    CHECK(seen[1] == "!the line is down");
    CHECK(seen[2] == "2");
    CHECK(seen[5] == "!event file b was removed while it was read");
}

TEST_CASE("record_batch: small records of a large range do not keep all of it in memory") {
    memory_storage objects;
    objects.write("a", std::vector<std::byte>(100'000));
    std::weak_ptr<const void> answer;
    struct watched : remote_storage {
        using remote_storage::remote_storage;
        std::weak_ptr<const void>* last = nullptr;
        void read_ranges(std::span<const object_range> ranges, range_sink sink) const override {
            remote_storage::read_ranges(
                ranges, [&](std::size_t i, std::optional<byte_buffer> bytes, const object_version& version) {
                    *last = bytes->owner();
                    return sink(i, std::move(bytes), version);
                });
        }
    };
    watched store{objects};
    store.last = &answer;
    for (const bool scattered : {true, false}) {
        record_batch batch;
        const std::uint64_t length = scattered ? 10 : 40'000;
        batch.add("a", byte_ranges{{0, length}, {50'000, length}});
        batch.read(any_storage(store), [&](std::size_t, collected_event_file& source) {
            CHECK(source.at({0, length}).size() == length);
            CHECK(source.at({50'000, length}).size() == length);
            CHECK(answer.expired() == scattered);
        });
        CHECK(store.asked().requests.size() == 1);
    }
}

TEST_CASE("record_batch: handles any offsets and lengths in an index file") {
    const remote_storage store{letters()};
    const byte_ranges hostile{{no_end, no_end}, {0, no_end}, {no_end - 1, 2}, {3, 0}, {5, no_end / 2}};
    record_batch batch;
    batch.add("a", hostile);
    texts seen;
    batch.read(any_storage(store), [&](std::size_t, collected_event_file& source) {
        for (const byte_range record : hostile) {
            seen.push_back(taken(source, record));
        }
    });
    CHECK(seen == texts{"", "0123456789", "", "", "56789"});
}

TEST_CASE("paged_event_file: records come page by page, one call each; larger ones alone") {
    const remote_storage store{letters()};
    const byte_ranges all{{0, 2}, {3, 2}, {2, 1}, {9, 9}, {1, no_end}, {4, 1}};
    const any_storage file_store = any_storage(store);
    paged_event_file file{file_store, "a", all, 5};
    CHECK(file.is_there());
    texts seen;
    for (const byte_range record : all) {
        seen.push_back(taken(file, record));
    }
    CHECK(seen == texts{"01", "34", "2", "9", "123456789", "4"});
    CHECK(store.asked().calls == texts{"ranges 3", "ranges 1", "ranges 1", "ranges 1"});
    CHECK_FALSE(paged_event_file{file_store, "gone", all, 5}.is_there());
}

TEST_CASE("paged_event_file: a page that cannot be read fails its records, and the next one is read") {
    memory_storage objects = letters();
    const remote_storage store{objects};
    const byte_ranges all{{0, 2}, {2, 2}, {4, 2}, {6, 2}};
    bool down = true;
    store.before_read([&](std::string_view, byte_range) {
        if (down) {
            throw unavailable("the line is down");
        }
    });
    const any_storage file_store = any_storage(store);
    paged_event_file file{file_store, "a", all, 4};
    CHECK(file.is_there());
    CHECK(taken(file, all[0]) == "!the line is down");
    CHECK(taken(file, all[1]) == "!the line is down");
    down = false;
    CHECK(taken(file, all[2]) == "45");
    CHECK(taken(file, all[3]) == "67");
    const any_storage other_store = any_storage(store);
    paged_event_file other{other_store, "a", all, 4};
    CHECK(taken(other, all[0]) == "01");
    CHECK(taken(other, all[1]) == "23");
    objects.remove("a");
    CHECK(taken(other, all[2]) == "!event file a was removed while it was read");
}
