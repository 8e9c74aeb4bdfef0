#include <smdebug/storage/storage_base.hpp>

#include "support/archetypes.hpp"

#include <smdebug/storage/local_storage.hpp>
#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/testing/writing_conformance.hpp>

#include <doctest/doctest.h>

#include <concepts>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace smdebug;
using namespace smdebug_test;
using namespace smdebug::testing;

namespace {

// The storage of an archetype, and a writer to the same objects.
template <class Archetype>
storage_under_test<Archetype> place_of() {
    memory_storage objects;
    return {.store = Archetype{objects},
            .write = [objects](const std::string& key,
                               const std::string& content) mutable { objects.write(key, as_bytes(content)); },
            .remove = [objects](const std::string& key) mutable { objects.remove(key); }};
}

// A storage that currently cannot be written.
struct full_storage : storage_archetype {
    using storage_archetype::storage_archetype;
    int writes = 0;
    void write(std::string_view key, byte_view) {
        ++writes;
        throw unavailable("the disk is full", {.where = std::string{key}});
    }
};

template <class Storage>
using output_of = decltype(create_output(std::declval<Storage&>(), std::string_view{}));

static_assert(std::same_as<output_of<local_storage>, detail::posix::whole_file_output>);
static_assert(std::same_as<output_of<memory_storage>, memory_storage::output>);
static_assert(std::same_as<output_of<appending_archetype>, output_archetype>);
static_assert(std::same_as<output_of<writable_archetype>, detail::gathered_output<writable_archetype>>);
static_assert(!std::copy_constructible<detail::gathered_output<writable_archetype>>);

}  // namespace

TEST_CASE("create_output: a storage that only has write() gets outputs that pass the suite") {
    check_output_conformance(place_of<writable_archetype>);
}
TEST_CASE("create_output: a storage's own outputs are used") {
    check_output_conformance(place_of<appending_archetype>);
}
TEST_CASE("removing_archetype: passes the suite") { check_removal_conformance(place_of<removing_archetype>); }
TEST_CASE("claiming_archetype: passes the suite") { check_claim_conformance(place_of<claiming_archetype>); }

TEST_CASE("gathered_output: commit passes on what write() throws, and nothing is written without a commit") {
    full_storage store{memory_storage{}};
    {
        auto out = create_output(store, "events/x");
        append_texts(out, {"text"});
    }
    CHECK(store.writes == 0);
    auto out = create_output(store, "events/x");
    append_texts(out, {"text"});
    CHECK_THROWS_AS(out.commit(durability::on_disk), unavailable);
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
    memory_storage appending;
    detail::put_whole(appending, "a", as_bytes("text"), durability::on_disk);
    CHECK(as_text(appending.read("a").view()) == "text");
    memory_storage objects;
    writable_archetype writing_whole{objects};
    detail::put_whole(writing_whole, "a", byte_view{}, durability::cached);
    CHECK(objects.size("a") == 0);
}
