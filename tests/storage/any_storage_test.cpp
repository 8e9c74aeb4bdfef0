#include <smdebug/storage/any_storage.hpp>

#include "support/archetypes.hpp"
#include "support/counting_storage.hpp"
#include "support/run_builder.hpp"
#include "support/skipped.hpp"
#include "support/temporary_folder.hpp"
#include "support/test.hpp"

#include <smdebug/storage/cached_storage.hpp>
#include <smdebug/storage/local_storage.hpp>
#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/testing/storage_conformance.hpp>
#include <smdebug/testing/writing_conformance.hpp>
#include <smdebug/trial/basic_trial.hpp>

using namespace smdebug;
using namespace smdebug_test;
using namespace smdebug::testing;

namespace {

// Around any storage that shares its objects with `store`.
template <class Inner>
storage_under_test<any_storage> erased(Inner inner, memory_storage store) {
    return {.store = any_storage{std::move(inner)},
            .write = [store](const std::string& key,
                             const std::string& content) mutable { store.write(key, as_bytes(content)); },
            .remove = [store](const std::string& key) mutable { store.remove(key); }};
}

storage_under_test<any_storage> erased_map() {
    const memory_storage store;
    return erased(store, store);
}

storage_under_test<any_storage> erased_directory() {
    const auto folder = std::make_shared<temporary_folder>();
    return {
        .store = any_storage{local_storage{folder->path() + "/run"}},
        .write = [folder](const std::string& key, const std::string& content) { folder->write("run/" + key, content); },
        .remove = [folder](const std::string& key) { folder->remove("run/" + key); }};
}

// Around a storage with one ability beyond the concept, or none.
template <class Archetype>
storage_under_test<any_storage> erased_archetype() {
    const memory_storage store;
    return erased(Archetype{store}, store);
}

template <class Storage>
Storage filled(Storage store, const object_map& objects) {
    for (const auto& [key, content] : objects) {
        store.write(key, as_bytes(content));
    }
    return store;
}

// A storage as users write it: read() has no default argument, and nothing is inherited.
class four_functions {
public:
    explicit four_functions(memory_storage objects) : objects_(std::move(objects)) {}

    [[nodiscard]] byte_buffer read(std::string_view key, byte_range where) const { return objects_.read(key, where); }
    [[nodiscard]] std::vector<std::string> list(std::string_view prefix, std::string_view after) const {
        return objects_.list(prefix, after);
    }
    [[nodiscard]] std::optional<std::uint64_t> size(std::string_view key) const { return objects_.size(key); }
    [[nodiscard]] std::string name() const { return "four"; }

private:
    memory_storage objects_;
};

}  // namespace

TEST_CASE("any_storage: passes the conformance suite over a map in memory") {
    check_storage_conformance([](const object_map& objects) { return any_storage{filled(memory_storage{}, objects)}; });
}
TEST_CASE("any_storage: passes it over a directory, with objects that it wrote itself") {
    const temporary_folder folder;
    check_storage_conformance(
        [&](const object_map& objects) { return filled(any_storage{local_storage{folder.path()}}, objects); });
}
TEST_CASE("any_storage: passes it over a storage that cannot be copied and can only be read") {
    check_storage_conformance(
        [](const object_map& objects) { return any_storage{storage_archetype{filled(memory_storage{}, objects)}}; });
    const any_storage erased{storage_archetype{memory_storage{}}};
    CHECK(erased.name() == "archetype");
    CHECK(erased.place() == place_kind::unknown);
}
TEST_CASE("any_storage: passes it over a storage that can only be written") {
    check_storage_conformance(
        [](const object_map& objects) { return filled(any_storage{writable_archetype{memory_storage{}}}, objects); });
}

TEST_CASE("any_storage: passes it over a class of exactly the four functions, which a trial takes, too") {
    check_storage_conformance(
        [](const object_map& objects) { return four_functions{filled(memory_storage{}, objects)}; });
    memory_storage run;
    run_builder{run}.collections().step({.step = 3, .tensors = {tensor_of<float>("loss", {1})}}).end();
    const basic_trial<four_functions> trial{four_functions{run}};
    CHECK(trial.steps() == std::vector<step_number>{3});
    CHECK(trial.store().name() == "four");
}

TEST_CASE("any_storage: can be followed over a map in memory") { check_follower_conformance(erased_map); }
TEST_CASE("any_storage: can be followed over a directory") { check_follower_conformance(erased_directory); }
TEST_CASE("any_storage: can be followed over a storage without followers") {
    check_follower_conformance(erased_archetype<storage_archetype>);
}
TEST_CASE("any_storage: announces changes of a map in memory") {
    if (!check_signal_conformance(erased_map)) {
        skipped(lacking::set_up, "the system gives no signal");
    }
}
TEST_CASE("any_storage: announces changes of a directory") {
    if (!check_signal_conformance(erased_directory)) {
        skipped(lacking::set_up, "the system gives no signal");
    }
}
TEST_CASE("any_storage: dates objects of a map in memory") { check_dating_conformance(erased_map); }
TEST_CASE("any_storage: dates files of a directory") { check_dating_conformance(erased_directory); }

TEST_CASE("any_storage: has each optional ability that the inner storage has, and says which it lacks") {
    memory_storage objects;
    objects.write("index/a", as_bytes("1"));
    const std::vector<std::string> prefixes{"index/"};

    const any_storage plain{storage_archetype{objects}};
    CHECK_FALSE(plain.abilities().follows);
    CHECK(plain.watch(prefixes) == nullptr);
    CHECK_FALSE(plain.modified("index/a").has_value());
    auto lists = plain.follow("index/");
    CHECK(lists->next() == std::vector<std::string>{"index/a"});
    CHECK(lists->next() == std::vector<std::string>{"index/a"});

    const any_storage followable{followable_archetype{objects}};
    CHECK(followable.abilities().follows);
    CHECK(followable.watch(prefixes) == nullptr);
    auto follows = followable.follow("index/");
    CHECK(follows->next() == std::vector<std::string>{"index/a"});
    CHECK(follows->next().empty());
    follows->forget();
    CHECK(follows->next() == std::vector<std::string>{"index/a"});

    const any_storage reluctant{reluctant_archetype{objects}};
    CHECK_FALSE(reluctant.abilities().follows);
    auto still = reluctant.follow("index/");
    CHECK(still->next() == std::vector<std::string>{"index/a"});
    CHECK(still->next().empty());  // the inner storage's own

    CHECK(any_storage{announcing_archetype{objects}}.watch(prefixes) != nullptr);
    CHECK(any_storage{dated_archetype{objects}}.modified("index/a") == objects.modified("index/a"));
}

TEST_CASE("any_storage: keeps the inner storage's batch reads and its place()") {
    struct counting : memory_storage {
        std::shared_ptr<int> batches = std::make_shared<int>(0);
        void read_each(std::span<const std::string> keys, object_sink sink) const override {
            ++*batches;
            memory_storage::read_each(keys, sink);
        }
        [[nodiscard]] place_kind place() const override { return place_kind::missing; }
    };
    const counting inner;
    const any_storage erased{inner};
    const any_storage again = erased;  // copies share
    const std::vector<std::string> keys{"x", "y"};
    int called = 0;
    again.read_each(keys, [&](std::size_t, std::optional<byte_view>, const object_version&) { ++called; });
    CHECK(*inner.batches == 1);
    CHECK(called == 2);
    CHECK(erased.place() == place_kind::missing);
    CHECK(any_storage{memory_storage{}}.place() == place_kind::unknown);
    CHECK(any_storage{local_storage{"/not/there"}}.place() == place_kind::missing);
    CHECK(any_storage{local_storage{"/not/there"}}.name() == "/not/there");
    const temporary_folder folder;
    folder.write("file", "x");
    CHECK(any_storage{local_storage{folder.path() + "/file"}}.place() == place_kind::file);
}

TEST_CASE("any_storage: reads ranges as the inner storage does, or one by one") {
    memory_storage objects;
    objects.write("key", as_bytes("content"));
    const std::vector<object_range> ranges{{"key", {1, 2}}, {"other", {0, 1}}};
    const auto told = [&](const any_storage& store) {
        std::string all;
        store.read_ranges(ranges, [&](std::size_t i, const std::optional<byte_buffer>& bytes, const object_version&) {
            all += std::to_string(i) + (bytes ? text_of(*bytes) : "-") + " ";
        });
        return all;
    };
    CHECK(told(any_storage{range_batch_archetype{objects}}) == "0on 1- ");
    CHECK(told(any_storage{storage_archetype{objects}}) == "0on 1- ");
}

TEST_CASE("any_storage: lists with versions as the inner storage does, and says if there are none") {
    memory_storage store;
    store.write("a/1", as_bytes("x"));
    store.write("a/2", as_bytes("xy"));
    store.write("b", as_bytes("xyz"));
    const any_storage erased{store};
    CHECK(erased.entries("a/", "", 10) == store.entries("a/", "", 10));
    CHECK(erased.entries({}, "a/1", 1) == store.entries("", "a/1", 1));
    CHECK_FALSE(any_storage{plain_counting_storage{store}}.entries({}, {}, 1).has_value());
}

TEST_CASE("any_storage: returns the inner storage's views, and nothing if it has none") {
    memory_storage inner;
    inner.write("key", as_bytes("content"));
    const any_storage erased{inner};
    const auto shown = erased.view("key");
    REQUIRE(shown);
    CHECK(text_of(*shown) == "content");
    CHECK(shown->data() == inner.view("key")->data());
    CHECK_FALSE(erased.view("other"));
    CHECK_FALSE(any_storage{storage_archetype{inner}}.view("a"));
}

TEST_CASE("any_storage: has the problems of the inner storage, also through a cache, or none") {
    struct reporting : memory_storage {
        using memory_storage::memory_storage;
        [[nodiscard]] std::vector<problem> problems() const override {
            return {{problem_kind::left_out, "a", "it is a link"}};
        }
    };
    CHECK(any_storage{reporting{}}.problems() == reporting{}.problems());
    CHECK(any_storage{cached_storage{any_storage{reporting{}}}}.problems() == reporting{}.problems());
    CHECK(any_storage{memory_storage{}}.problems().empty());
}

TEST_CASE("any_storage: reads ahead as the inner storage does, and treats everything as local if it cannot") {
    const memory_storage objects;
    CHECK_FALSE(any_storage{prefetching_archetype{objects}}.read_ahead("a"));
    CHECK(any_storage{storage_archetype{objects}}.read_ahead("a"));
}

TEST_CASE("any_storage: is written piece by piece over a map in memory") { check_output_conformance(erased_map); }
TEST_CASE("any_storage: is written piece by piece over a directory") { check_output_conformance(erased_directory); }
TEST_CASE("any_storage: is written piece by piece over a storage with outputs of its own") {
    check_output_conformance(erased_archetype<appending_archetype>);
}
TEST_CASE("any_storage: is written piece by piece over a storage without outputs") {
    check_output_conformance(erased_archetype<writable_archetype>);
}
TEST_CASE("any_storage: removes objects of a map in memory") { check_removal_conformance(erased_map); }
TEST_CASE("any_storage: removes files") { check_removal_conformance(erased_directory); }
TEST_CASE("any_storage: removes what an archetype removes") {
    check_removal_conformance(erased_archetype<removing_archetype>);
}
TEST_CASE("any_storage: holds keys of a map in memory") { check_claim_conformance(erased_map); }
TEST_CASE("any_storage: holds keys of a directory") { check_claim_conformance(erased_directory); }
TEST_CASE("any_storage: holds what an archetype holds") {
    check_claim_conformance(erased_archetype<claiming_archetype>);
}

TEST_CASE("any_storage: refuses what the inner storage cannot do, with advice, as its abilities say") {
    const auto refusal = [](auto&& call) -> std::string {
        try {
            call();
        } catch (const unsupported& thrown) {
            CHECK(thrown.where() == "key");
            return thrown.what();
        }
        return "no refusal";
    };
    memory_storage objects;
    objects.write("key", as_bytes("content"));

    any_storage reads{storage_archetype{objects}};
    CHECK_FALSE(reads.abilities().writes);
    const std::string read_only =
        "archetype cannot write the object key: it can only be read; choose a storage that has write(), and whose "
        "abilities() say so";
    CHECK(refusal([&] { reads.write("key", as_bytes("other")); }).find(read_only) != std::string::npos);
    CHECK(refusal([&] { static_cast<void>(reads.create("key")); }).find(read_only) != std::string::npos);
    CHECK(reads.remove_unfinished("", [](std::string_view) { return true; }).empty());

    any_storage writes{writable_archetype{objects}};
    CHECK(writes.abilities().writes);
    CHECK(refusal([&] { writes.remove("key"); }).find("archetype cannot remove the object key") != std::string::npos);
    CHECK(refusal([&] {
              static_cast<void>(writes.claim("key"));
          }).find("archetype cannot hold for one writer alone the object key") != std::string::npos);
    CHECK(refusal([&] {
              static_cast<void>(writes.claimed("key"));
          }).find("archetype cannot identify the holder of the object key") != std::string::npos);
    CHECK(text_of(objects.read("key")) == "content");
}

TEST_CASE("any_storage: added problems follow those of the storage, and belong to the handle") {
    const any_storage plain{memory_storage{}};
    const problem first{problem_kind::left_out, "a", "is left out"};
    const problem second{problem_kind::damaged, "b", "is damaged"};
    const any_storage noted = plain.with_problems({first});
    CHECK(plain.problems().empty());
    CHECK(noted.problems() == std::vector<problem>{first});
    CHECK(noted.with_problems({second}).problems() == std::vector<problem>{first, second});
}

TEST_CASE("any_storage: copies are handles on one storage, even if that cannot be copied") {
    any_storage first{appending_archetype{memory_storage{}}};
    any_storage second = first;
    auto out = first.create("a");
    append_texts(*out, {"from the first"});
    { const any_storage gone = std::move(first); }
    out->commit(durability::cached);
    CHECK(text_of(second.read("a")) == "from the first");
    first = second;
    first.write("b", as_bytes("2"));
    CHECK(second.size("b") == 1);
    CHECK(first.list("", "").size() == 2);
}

TEST_CASE("any_storage: is made from any storage, and from nothing else") {
    static_assert(std::constructible_from<any_storage, memory_storage>);
    static_assert(std::constructible_from<any_storage, const local_storage&>);
    static_assert(std::convertible_to<memory_storage, any_storage>);
    static_assert(std::convertible_to<storage_archetype, any_storage>);
    static_assert(!std::constructible_from<any_storage, std::string>);
    static_assert(std::copyable<any_storage>);
    CHECK(any_storage{memory_storage{"label"}}.name() == "memory:label");
}
