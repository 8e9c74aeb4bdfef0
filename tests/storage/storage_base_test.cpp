#include <smdebug/storage/storage_base.hpp>

#include "support/archetypes.hpp"
#include "support/remote_storage.hpp"
#include "support/test.hpp"

#include <smdebug/core/error.hpp>
#include <smdebug/storage/any_storage.hpp>
#include <smdebug/storage/cached_storage.hpp>
#include <smdebug/storage/local_storage.hpp>
#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/testing/writing_conformance.hpp>

using namespace smdebug;
using namespace smdebug_test;
using namespace smdebug::testing;

namespace {

// An archetype, and a writer to the same objects.
template <class Archetype>
storage_under_test<> place_of() {
    memory_storage objects;
    return {.store = Archetype{objects},
            .write = [objects](const std::string& key,
                               const std::string& content) mutable { objects.write(key, as_bytes(content)); },
            .remove = [objects](const std::string& key) mutable { objects.remove(key); }};
}

memory_storage letters() {
    memory_storage objects;
    objects.write("a", as_bytes("0123456789"));
    objects.write("b", as_bytes("abcdefghij"));
    return objects;
}

const std::vector<std::string> keys{"a", "gone", "b"};
const std::vector<object_range> ranges{{"a", {2, 3}}, {"gone", {0, 4}}, {"b", {8, 9}}, {"a", {0, 1}}, {"b", {1, 1}}};

std::string told_of(std::size_t i, std::optional<byte_view> bytes) {
    return std::to_string(i) + (bytes ? std::string{as_text(*bytes)} : "-") + " ";
}

// A storage that currently cannot be written.
struct full_storage : base_archetype {
    using base_archetype::base_archetype;
    int writes = 0;
    [[nodiscard]] storage_abilities abilities() const override { return {.writes = true}; }
    void write(std::string_view key, byte_view) override {
        ++writes;
        throw unavailable("the disk is full", {.where = std::string{key}});
    }
};

}  // namespace

// Reading -----------------------------------------------------------------------------------------------------------

TEST_CASE("storage_base: reads many objects and ranges one by one, in order, without versions") {
    const base_archetype store{letters()};
    std::string told;
    store.read_each(keys, [&](std::size_t i, std::optional<byte_view> bytes, const object_version& version) {
        told += told_of(i, bytes);
        CHECK(version == object_version{});
    });
    CHECK(told == "00123456789 1- 2abcdefghij ");
    told.clear();
    store.read_ranges(ranges, [&](std::size_t i, std::optional<byte_buffer> bytes, const object_version& version) {
        told += told_of(i, bytes ? std::optional{bytes->view()} : std::nullopt);
        CHECK(version == object_version{});
    });
    CHECK(told == "0234 1- 2ij 30 4b ");
    CHECK(text_of(store.read_versioned("a").bytes) == "0123456789");
    CHECK(store.read_versioned("a").version.empty());
    CHECK_THROWS_AS(static_cast<void>(store.read_versioned("gone")), not_found);
}

TEST_CASE("storage_base: a sink that throws or returns false ends the reading") {
    const base_archetype store{letters()};
    for (std::size_t end = 0; end < 3; ++end) {
        std::size_t calls = 0;
        const auto ending = [&](std::size_t i, const auto&, const object_version&) {
            ++calls;
            return i < end;
        };
        store.read_each(keys, ending);
        store.read_ranges(ranges, ending);
        CHECK(calls == 2 * (end + 1));
        const auto throwing = [&](std::size_t i, const auto&, const object_version&) {
            ++calls;
            if (i == end) {
                throw std::runtime_error("enough");
            }
        };
        CHECK_THROWS_AS(store.read_each(keys, throwing), std::runtime_error);
        CHECK_THROWS_AS(store.read_ranges(ranges, throwing), std::runtime_error);
        CHECK(calls == 4 * (end + 1));
    }
}

TEST_CASE("storage_base: reading many passes on errors of the storage other than not_found") {
    const distant_storage store{letters()};
    store.before_read([](std::string_view key, byte_range) { throw unavailable("no", {.where = std::string{key}}); });
    const auto never = [](std::size_t, const auto&, const object_version&) { FAIL("called"); };
    CHECK_THROWS_AS(store.storage_base::read_each(keys, never), unavailable);
    CHECK_THROWS_AS(store.storage_base::read_ranges(ranges, never), unavailable);
}

TEST_CASE("storage_base: what a class does not override is not there, and says so") {
    base_archetype store{letters()};
    const std::vector<std::string> prefixes{"a"};
    CHECK(store.view("a") == std::nullopt);
    CHECK(store.open("a") == nullptr);
    CHECK(store.read_ahead("a"));
    CHECK(store.hold() == nullptr);
    CHECK(store.entries("", "", 1) == std::nullopt);
    CHECK(store.modified("a") == std::nullopt);
    CHECK(store.follow("") == nullptr);
    CHECK(store.watch(prefixes) == nullptr);
    CHECK(store.place() == place_kind::unknown);
    CHECK(store.problems().empty());
    CHECK(store.source() == nullptr);
    CHECK_THROWS_AS(store.write("a", {}), unsupported);
    CHECK_THROWS_AS(static_cast<void>(store.create("a")), unsupported);
    CHECK_THROWS_AS(store.remove("a", durability::cached), unsupported);
    CHECK(store.remove_unfinished("", [](std::string_view) { return true; }).empty());
    CHECK_THROWS_AS(static_cast<void>(store.claim("a", durability::cached)), unsupported);
    CHECK_THROWS_AS(static_cast<void>(store.claimed("a")), unsupported);
}

// Abilities ---------------------------------------------------------------------------------------------------------

TEST_CASE("storage_base: one override is enough, and any_storage calls it") {
    struct batches : base_archetype {
        using base_archetype::base_archetype;
        std::shared_ptr<int> calls = std::make_shared<int>(0);
        void read_ranges(std::span<const object_range> wanted, range_sink sink) const override {
            ++*calls;
            base_archetype::read_ranges(wanted, sink);
        }
    };
    const batches inner{letters()};
    const any_storage store{inner};
    std::size_t next = 0;
    store.read_ranges(ranges, [&](std::size_t i, auto&&, const object_version&) { CHECK(i == next++); });
    CHECK(next == ranges.size());
    CHECK(*inner.calls == 1);
    store.read_ranges(ranges, [&](std::size_t, auto&&, const object_version&) { return false; });
    CHECK(*inner.calls == 2);
}

TEST_CASE("abilities: those of a plain class are what its functions can do") {
    const storage_abilities none{.batches_ranges = false, .views = false, .reads_ahead = false, .opens_small = false};
    storage_abilities writes = none;
    writes.writes = true;
    const memory_storage objects;
    CHECK(any_storage{storage_archetype{objects}}.abilities() == none);
    CHECK(any_storage{writable_archetype{objects}}.abilities() == writes);
}

TEST_CASE("abilities: the library's storages") {
    const storage_abilities local{.batches_ranges = false,
                                  .reads_ahead = false,
                                  .opens_small = false,
                                  .follows = true,
                                  .writes = true,
                                  .removes = true,
                                  .claims = true};
    CHECK(memory_storage{}.abilities() == local);
    CHECK(local_storage{"."}.abilities() == local);
    CHECK(any_storage{local_storage{"."}}.abilities() == local);
}

TEST_CASE("look_interval: the pause between checks is the chosen one or the storage's own, whichever is longer") {
    using std::chrono::milliseconds;
    struct pacing : base_archetype {
        using base_archetype::base_archetype;
        [[nodiscard]] storage_abilities abilities() const override { return {.look_interval = milliseconds{500}}; }
    };
    CHECK(detail::look_interval(memory_storage{}, milliseconds{100}) == milliseconds{100});
    CHECK(detail::look_interval(pacing{memory_storage{}}, milliseconds{100}) == milliseconds{500});
    CHECK(detail::look_interval(pacing{memory_storage{}}, milliseconds{700}) == milliseconds{700});
    CHECK(detail::look_interval(cached_storage{pacing{memory_storage{}}}, milliseconds{100}) == milliseconds{500});
}

// Writing -----------------------------------------------------------------------------------------------------------

TEST_CASE("storage_base: a plain class that has write() gets outputs that pass the suite") {
    check_output_conformance(place_of<writable_archetype>);
}
TEST_CASE("storage_base: a class that overrides write() gets them, too") {
    check_output_conformance(place_of<removing_archetype>);
}
TEST_CASE("storage_base: a storage's own outputs are used") { check_output_conformance(place_of<appending_archetype>); }
TEST_CASE("removing_archetype: passes the suite") { check_removal_conformance(place_of<removing_archetype>); }
TEST_CASE("claiming_archetype: passes the suite") { check_claim_conformance(place_of<claiming_archetype>); }

TEST_CASE("gathered_output: commit passes on what write() throws, and nothing is written without a commit") {
    full_storage store{memory_storage{}};
    append_texts(*store.create("events/x"), {"text"});
    CHECK(store.writes == 0);
    const auto out = store.create("events/x");
    append_texts(*out, {"text"});
    CHECK_THROWS_AS(out->commit(durability::on_disk), unavailable);
    CHECK(store.writes == 1);
}

TEST_CASE("gather: appends pieces, and allocates only at each doubling") {
    std::vector<std::byte> all;
    detail::gather(all, {});
    CHECK(all.capacity() == 0);
    const std::string text(1000, 'x');
    const std::vector<byte_view> pieces{as_bytes(text), {}, as_bytes(text)};
    detail::gather(all, pieces);
    CHECK(all.capacity() == 2000);
    int growths = 0;
    for (int i = 0; i < 1000; ++i) {
        const std::size_t before = all.capacity();
        detail::gather(all, pieces);
        growths += all.capacity() == before ? 0 : 1;
    }
    CHECK(all.size() == 2'002'000);
    CHECK(growths <= 11);
    CHECK(as_text(all).find_first_not_of('x') == std::string_view::npos);
}

TEST_CASE("put_whole: an object appears at once, also in storages that can only write whole objects") {
    any_storage appending{memory_storage{}};
    detail::put_whole(appending, "a", as_bytes("text"), durability::on_disk);
    CHECK(as_text(appending.read("a").view()) == "text");
    memory_storage objects;
    any_storage writing_whole{writable_archetype{objects}};
    detail::put_whole(writing_whole, "a", byte_view{}, durability::cached);
    CHECK(objects.size("a") == 0);
}

TEST_CASE("object_claim: holds unless it knows better") {
    struct silent final : object_claim {
        void release() override {}
    };
    CHECK(silent{}.holds());
}

TEST_CASE("remove_unfinished: asks the storage, also through wrappers") {
    struct keeps_parts : removing_archetype {
        using removing_archetype::removing_archetype;
        std::vector<std::string> remove_unfinished(std::string_view prefix,
                                                   function_ref<bool(std::string_view)> which) override {
            std::vector<std::string> removed;
            for (const std::string key : {"events/a", "events/b", "index/a"}) {
                if (key.starts_with(prefix) && which(key)) {
                    removed.push_back(key);
                }
            }
            return removed;
        }
    };
    const auto those_of_a = [](std::string_view key) { return key.ends_with("a"); };
    any_storage wrapped{cached_storage{keeps_parts{memory_storage{}}}};
    CHECK(wrapped.remove_unfinished("events/", those_of_a) == std::vector<std::string>{"events/a"});
    CHECK(wrapped.remove_unfinished("", those_of_a) == std::vector<std::string>{"events/a", "index/a"});
}

TEST_CASE("claim, remove: the durability reaches the storage, also through wrappers") {
    struct durable_storage : memory_storage {
        using memory_storage::memory_storage;
        [[nodiscard]] std::unique_ptr<object_claim> claim(std::string_view key, durability how) override {
            done->push_back(how == durability::on_disk ? "claim on disk" : "claim");
            return memory_storage::claim(key, how);
        }
        bool remove(std::string_view key, durability how) override {
            done->push_back(std::string{how == durability::on_disk ? "remove on disk " : "remove "} + std::string{key});
            return memory_storage::remove(key, how);
        }
        std::shared_ptr<std::vector<std::string>> done = std::make_shared<std::vector<std::string>>();
    };
    for (const bool is_cached : {false, true}) {
        const durable_storage inner;
        any_storage store = is_cached ? any_storage{cached_storage{inner}} : any_storage{inner};
        static_cast<void>(store.claim("a", durability::on_disk));
        static_cast<void>(store.claim("a"));
        CHECK_FALSE(store.remove("b", durability::on_disk));
        CHECK_FALSE(store.remove("c"));
        CHECK(*inner.done == std::vector<std::string>{"claim on disk", "claim", "remove on disk b", "remove c"});
    }
}
