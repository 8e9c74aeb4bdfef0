#include <smdebug/storage/concepts.hpp>

#include "support/archetypes.hpp"

#include <smdebug/storage/any_storage.hpp>
#include <smdebug/storage/local_storage.hpp>
#include <smdebug/storage/memory_storage.hpp>

#include <doctest/doctest.h>

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

using namespace smdebug;

namespace {

// Near misses: each lacks one thing that the archetype has.
struct base {
    [[nodiscard]] byte_buffer read(std::string_view) const { return {}; }
    [[nodiscard]] byte_buffer read(std::string_view, byte_range) const { return {}; }
    [[nodiscard]] std::vector<std::string> list(std::string_view, std::string_view) const { return {}; }
    [[nodiscard]] std::optional<std::uint64_t> size(std::string_view) const { return {}; }
    [[nodiscard]] std::string name() const { return {}; }
};
struct no_ranges : base {
    [[nodiscard]] byte_buffer read(std::string_view) const { return {}; }  // hides both of base
};
struct reads_strings : base {
    [[nodiscard]] std::string read(std::string_view) const { return {}; }
    [[nodiscard]] std::string read(std::string_view, byte_range) const { return {}; }
};
struct lists_views : base {
    [[nodiscard]] std::vector<std::string_view> list(std::string_view, std::string_view) const { return {}; }
};
struct lists_without_after : base {
    [[nodiscard]] std::vector<std::string> list(std::string_view) const { return {}; }
};
struct lists_mutably : base {
    [[nodiscard]] std::vector<std::string> list(std::string_view, std::string_view) { return {}; }
};
struct plain_size : base {
    [[nodiscard]] std::uint64_t size(std::string_view) const { return 0; }
};
struct unnamed : base {
    void name() const {}
};
struct unmovable : base {
    unmovable() = default;
    unmovable(unmovable&&) = delete;
};

struct sink_by_string : base {
    void read_each(std::span<const std::string>, std::string) const {}
};
struct writes_elsewhere : base {
    bool write(std::string_view, byte_view) { return true; }
};

static_assert(storage<base>);
static_assert(storage<smdebug_test::storage_archetype>);
static_assert(!batch_reader<smdebug_test::storage_archetype>);
static_assert(!writable_storage<smdebug_test::storage_archetype>);
static_assert(!std::copyable<smdebug_test::storage_archetype>);

static_assert(!object_reader<no_ranges> && object_lister<no_ranges> && !storage<no_ranges>);
static_assert(!object_reader<reads_strings> && !storage<reads_strings>);
static_assert(!object_lister<lists_views> && object_reader<lists_views> && !storage<lists_views>);
static_assert(!object_lister<lists_without_after> && !object_lister<lists_mutably>);
static_assert(!object_prober<plain_size> && !storage<plain_size>);
static_assert(!described<unnamed> && !storage<unnamed>);
static_assert(!storage<unmovable> && object_reader<unmovable>);
static_assert(!batch_reader<sink_by_string> && !object_writer<writes_elsewhere>);
static_assert(!place_prober<base> && place_prober<local_storage> && place_prober<any_storage>);

}  // namespace

TEST_CASE("storage concepts: the library's storages model them, with their optional abilities") {
    CHECK(storage<local_storage>);
    CHECK(batch_reader<local_storage>);
    CHECK(writable_storage<local_storage>);
    CHECK(storage<memory_storage>);
    CHECK(writable_storage<memory_storage>);
    CHECK_FALSE(batch_reader<memory_storage>);
    CHECK(storage<any_storage>);
    CHECK(batch_reader<any_storage>);
    CHECK_FALSE(writable_storage<any_storage>);
}
