#include <smdebug/storage/concepts.hpp>

#include "support/archetypes.hpp"

#include <smdebug/storage/any_storage.hpp>
#include <smdebug/storage/local_storage.hpp>
#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/storage/posix/folder_follower.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

using namespace smdebug;
using namespace smdebug::detail;

namespace {

// Near misses: each lacks one operation of the archetype.
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
struct follower_of_views {
    [[nodiscard]] std::vector<std::string_view> next() { return {}; }
    void forget() {}
};
struct follower_without_forget {
    [[nodiscard]] std::vector<std::string> next() { return {}; }
};
struct follower_that_stays : smdebug_test::follower_archetype {
    follower_that_stays(follower_that_stays&&) = delete;
};
struct follows_by_listing : base {
    [[nodiscard]] std::vector<std::string> follow(std::string_view) const { return {}; }
};
struct follows_everything : base {
    [[nodiscard]] smdebug_test::follower_archetype follow() const;
};
struct follows_mutably : base {
    [[nodiscard]] smdebug_test::follower_archetype follow(std::string_view);
};
struct watches_one : base {
    [[nodiscard]] std::unique_ptr<change_signal> watch(const std::string&) const { return {}; }
};
struct watches_by_kind : base {
    [[nodiscard]] std::unique_ptr<smdebug::detail::sleeping_signal> watch(std::span<const std::string>) const {
        return {};
    }
};
struct watches_for_all : base {
    [[nodiscard]] std::shared_ptr<change_signal> watch(std::span<const std::string>) const { return {}; }
};
struct views_always : base {
    [[nodiscard]] byte_buffer view(std::string_view) const { return {}; }
};
struct views_bare : base {
    [[nodiscard]] std::optional<byte_view> view(std::string_view) const { return {}; }
};
struct views_mutably : base {
    [[nodiscard]] std::optional<byte_buffer> view(std::string_view) { return {}; }
};
struct ranges_of_keys : base {
    void read_ranges(std::span<const std::string>, range_sink) const {}
};
struct ranges_of_views : base {
    void read_ranges(std::span<const object_range>, object_sink) const {}
};
struct ranges_mutably : base {
    void read_ranges(std::span<const object_range>, range_sink) {}
};
struct ranges_with_count : base {
    std::size_t read_ranges(std::span<const object_range>, range_sink) const { return 0; }
};
struct reads_versions : base {
    [[nodiscard]] versioned_object read_versioned(std::string_view) const { return {}; }
};
struct entries_without_bound : reads_versions {
    [[nodiscard]] std::vector<object_entry> entries(std::string_view, std::string_view) const { return {}; }
};
struct entries_of_keys : reads_versions {
    [[nodiscard]] std::vector<std::string> entries(std::string_view, std::string_view, std::size_t) const { return {}; }
};
struct entries_mutably : reads_versions {
    [[nodiscard]] std::vector<object_entry> entries(std::string_view, std::string_view, std::size_t) { return {}; }
};
struct dates_always : base {
    [[nodiscard]] std::chrono::system_clock::time_point modified(std::string_view) const { return {}; }
};
struct dates_steadily : base {
    [[nodiscard]] std::optional<std::chrono::steady_clock::time_point> modified(std::string_view) const { return {}; }
};

struct exists_or_not : base {
    [[nodiscard]] bool place() const { return true; }
};
struct places_mutably : base {
    [[nodiscard]] place_kind place() { return place_kind::folder; }
};

static_assert(storage<base>);
static_assert(storage<smdebug_test::storage_archetype>);
static_assert(!batch_reader<smdebug_test::storage_archetype>);
static_assert(!std::copyable<smdebug_test::storage_archetype>);

static_assert(!storage<no_ranges> && !storage<reads_strings> && !storage<lists_views> &&
              !storage<lists_without_after> && !storage<lists_mutably> && !storage<plain_size> && !storage<unnamed> &&
              !storage<unmovable>);
static_assert(!batch_reader<sink_by_string>);
static_assert(key_follower<smdebug_test::follower_archetype> && key_follower<folder_follower> &&
              key_follower<memory_storage::follower> && key_follower<any_follower>);
static_assert(!key_follower<follower_of_views> && !key_follower<follower_without_forget> &&
              !key_follower<follower_that_stays> && !key_follower<const smdebug_test::follower_archetype>);
static_assert(followable_storage<smdebug_test::followable_archetype> &&
              !followable_storage<smdebug_test::storage_archetype>);
static_assert(!followable_storage<follows_by_listing> && !followable_storage<follows_everything> &&
              !followable_storage<follows_mutably>);
static_assert(announcing_storage<smdebug_test::announcing_archetype> &&
              !announcing_storage<smdebug_test::followable_archetype> && !announcing_storage<watches_one> &&
              !announcing_storage<watches_by_kind> && !announcing_storage<watches_for_all>);
static_assert(dated_storage<smdebug_test::dated_archetype> && !dated_storage<smdebug_test::announcing_archetype> &&
              !dated_storage<dates_always> && !dated_storage<dates_steadily>);
static_assert(!viewing_storage<base> && !viewing_storage<views_always> && !viewing_storage<views_bare> &&
              !viewing_storage<views_mutably>);
static_assert(range_batch_reader<smdebug_test::range_batch_archetype> &&
              !range_batch_reader<smdebug_test::storage_archetype> && !range_batch_reader<ranges_of_keys> &&
              !range_batch_reader<ranges_of_views> && !range_batch_reader<ranges_mutably> &&
              !range_batch_reader<ranges_with_count>);
static_assert(versioned_storage<smdebug_test::versioned_archetype> &&
              !versioned_storage<smdebug_test::storage_archetype> && !versioned_storage<entries_without_bound> &&
              !versioned_storage<entries_of_keys> && !versioned_storage<entries_mutably> &&
              !versioned_storage<any_storage>);
static_assert(viewing_storage<smdebug_test::viewing_archetype>);
static_assert(!prefetching_storage<base> && prefetching_storage<local_storage> && prefetching_storage<any_storage>);
static_assert(!place_prober<base> && !place_prober<exists_or_not> && !place_prober<places_mutably> &&
              place_prober<local_storage> && place_prober<any_storage>);
}  // namespace

TEST_CASE("storage concepts: the library's storages model them, with their optional abilities") {
    CHECK(storage<local_storage>);
    CHECK(batch_reader<local_storage>);
    CHECK(viewing_storage<local_storage>);
    CHECK(viewing_storage<memory_storage>);
    CHECK(viewing_storage<any_storage>);
    CHECK(storage<memory_storage>);
    CHECK_FALSE(batch_reader<memory_storage>);
    CHECK(storage<any_storage>);
    CHECK(batch_reader<any_storage>);
    CHECK(followable_storage<local_storage>);
    CHECK(announcing_storage<local_storage>);
    CHECK(dated_storage<local_storage>);
    CHECK(followable_storage<memory_storage>);
    CHECK(announcing_storage<memory_storage>);
    CHECK(dated_storage<memory_storage>);
    CHECK(followable_storage<any_storage>);
    CHECK(announcing_storage<any_storage>);
    CHECK(dated_storage<any_storage>);
    CHECK(versioned_storage<local_storage>);
    CHECK(versioned_storage<memory_storage>);
    CHECK(range_batch_reader<any_storage>);
}

TEST_CASE("storage concepts: the pause between checks is the chosen one or the storage's own, whichever is longer") {
    using std::chrono::milliseconds;
    struct pacing_archetype : smdebug_test::storage_archetype {
        using storage_archetype::storage_archetype;
        [[nodiscard]] storage_abilities abilities() const { return {.look_interval = milliseconds{500}}; }
    };
    const memory_storage objects;
    CHECK(look_interval(objects, milliseconds{100}) == milliseconds{100});
    CHECK(look_interval(pacing_archetype{objects}, milliseconds{100}) == milliseconds{500});
    CHECK(look_interval(pacing_archetype{objects}, milliseconds{700}) == milliseconds{700});
    CHECK(look_interval(any_storage{pacing_archetype{objects}}, milliseconds{100}) == milliseconds{500});
    CHECK(look_interval(any_storage{objects}, milliseconds{100}) == milliseconds{100});
}
