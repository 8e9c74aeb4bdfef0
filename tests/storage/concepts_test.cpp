#include <smdebug/storage/concepts.hpp>

#include "support/archetypes.hpp"

#include <smdebug/storage/any_storage.hpp>
#include <smdebug/storage/local_storage.hpp>
#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/storage/output.hpp>
#include <smdebug/storage/posix/claim.hpp>
#include <smdebug/storage/posix/folder_follower.hpp>
#include <smdebug/storage/posix/output.hpp>

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
struct follows_perhaps : smdebug_test::followable_archetype {
    [[nodiscard]] std::optional<bool> follows() const { return {}; }
};
struct follows_by_word_alone : base {
    [[nodiscard]] bool follows() const { return true; }
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
struct batches_perhaps : smdebug_test::range_batch_archetype {
    [[nodiscard]] std::optional<bool> batches_ranges() const { return {}; }
};
struct entries_without_bound : base {
    [[nodiscard]] std::vector<object_entry> entries(std::string_view, std::string_view) const { return {}; }
};
struct entries_of_keys : base {
    [[nodiscard]] std::vector<std::string> entries(std::string_view, std::string_view, std::size_t) const { return {}; }
};
struct entries_mutably : base {
    [[nodiscard]] std::vector<object_entry> entries(std::string_view, std::string_view, std::size_t) { return {}; }
};
struct views_perhaps : smdebug_test::viewing_archetype {
    [[nodiscard]] std::optional<bool> views() const { return {}; }
};
struct views_by_word_mutably : smdebug_test::viewing_archetype {
    [[nodiscard]] bool views() { return true; }
};
struct views_by_word_alone : base {
    [[nodiscard]] bool views() const { return true; }
};
struct claims_in_numbers : smdebug_test::claiming_archetype {
    [[nodiscard]] int claims() const { return 1; }
};
struct claims_by_word_mutably : smdebug_test::claiming_archetype {
    [[nodiscard]] bool claims() { return true; }
};
struct claims_by_word_alone : base {
    [[nodiscard]] bool claims() const { return true; }
};
struct dates_always : base {
    [[nodiscard]] std::chrono::system_clock::time_point modified(std::string_view) const { return {}; }
};
struct dates_steadily : base {
    [[nodiscard]] std::optional<std::chrono::steady_clock::time_point> modified(std::string_view) const { return {}; }
};

struct output_that_counts {
    std::size_t append(std::span<const byte_view>) { return 0; }
    void commit(durability) {}
};
struct output_of_one : smdebug_test::output_archetype {
    void append(byte_view) {}  // hides that of the archetype
};
struct output_without_durability : smdebug_test::output_archetype {
    void commit() {}
};
struct output_that_tells : smdebug_test::output_archetype {
    bool commit(durability) { return true; }
};
struct output_that_stays : smdebug_test::output_archetype {
    output_that_stays(output_that_stays&&) = delete;
};
struct creates_pointers : base {
    [[nodiscard]] std::unique_ptr<smdebug_test::output_archetype> create(std::string_view) { return {}; }
};
struct creates_sized : base {
    [[nodiscard]] smdebug_test::output_archetype create(std::string_view, std::size_t);
};
struct removes_silently : base {
    void remove(std::string_view) {}
};
struct removes_many : base {
    std::size_t remove(std::string_view) { return 0; }
};
struct claim_of_many {
    void release() {}
};
struct claim_for_ever : smdebug_test::claim_archetype {
    bool release() { return false; }
};
struct claim_that_stays : smdebug_test::claim_archetype {
    claim_that_stays(claim_that_stays&&) = delete;
};
struct claims_blindly : base {
    [[nodiscard]] smdebug_test::claim_archetype claim(std::string_view);
};
struct claims_mutably : claims_blindly {
    [[nodiscard]] bool claimed(std::string_view) { return false; }
};
struct claims_perhaps : base {
    [[nodiscard]] std::optional<smdebug_test::claim_archetype> claim(std::string_view) { return {}; }
    [[nodiscard]] bool claimed(std::string_view) const { return false; }
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
static_assert(key_follower<smdebug_test::follower_archetype> && key_follower<folder_follower> &&
              key_follower<memory_storage::follower> && key_follower<any_follower>);
static_assert(!key_follower<follower_of_views> && !key_follower<follower_without_forget> &&
              !key_follower<follower_that_stays> && !key_follower<const smdebug_test::follower_archetype>);
static_assert(followable_storage<smdebug_test::followable_archetype> &&
              !followable_storage<smdebug_test::storage_archetype> &&
              !follow_prober<smdebug_test::followable_archetype> && follow_prober<smdebug_test::reluctant_archetype>);
static_assert(!followable_storage<follows_by_listing> && !followable_storage<follows_everything> &&
              !followable_storage<follows_mutably> && !follow_prober<follows_perhaps>);
static_assert(announcing_storage<smdebug_test::announcing_archetype> &&
              !announcing_storage<smdebug_test::followable_archetype> && !announcing_storage<watches_one> &&
              !announcing_storage<watches_by_kind> && !announcing_storage<watches_for_all>);
static_assert(dated_storage<smdebug_test::dated_archetype> && !dated_storage<smdebug_test::announcing_archetype> &&
              !dated_storage<dates_always> && !dated_storage<dates_steadily>);
static_assert(!viewing_storage<base> && !viewing_storage<views_always> && !viewing_storage<views_bare> &&
              !viewing_storage<views_mutably>);
static_assert(range_batch_reader<smdebug_test::range_batch_archetype> &&
              !range_batch_reader<smdebug_test::storage_archetype> &&
              !range_batch_prober<smdebug_test::range_batch_archetype> && !range_batch_reader<ranges_of_keys> &&
              !range_batch_reader<ranges_of_views> && !range_batch_reader<ranges_mutably> &&
              !range_batch_reader<ranges_with_count> && !range_batch_prober<batches_perhaps>);
static_assert(entry_lister<smdebug_test::entry_archetype> && !entry_lister<smdebug_test::storage_archetype> &&
              !entry_lister<entries_without_bound> && !entry_lister<entries_of_keys> &&
              !entry_lister<entries_mutably> && !entry_lister<any_storage>);
static_assert(viewing_storage<smdebug_test::viewing_archetype> && !view_prober<smdebug_test::viewing_archetype> &&
              view_prober<smdebug_test::unviewing_archetype> && !view_prober<views_perhaps> &&
              !view_prober<views_by_word_mutably>);
static_assert(!claim_prober<smdebug_test::claiming_archetype> && claim_prober<smdebug_test::unclaiming_archetype> &&
              !claim_prober<claims_in_numbers> && !claim_prober<claims_by_word_mutably>);
static_assert(!worth_viewing(views_by_word_alone{}) && !worth_claiming(claims_by_word_alone{}) &&
              !worth_batching_ranges(base{}));
static_assert(!prefetching_storage<base> && prefetching_storage<local_storage> && prefetching_storage<any_storage>);
static_assert(!worth_following(base{}) && !worth_following(follows_by_word_alone{}));
static_assert(!place_prober<base> && place_prober<local_storage> && place_prober<any_storage>);
static_assert(object_output<smdebug_test::output_archetype> && object_output<memory_storage::output> &&
              object_output<detail::posix::whole_file_output> &&
              object_output<gathered_output<smdebug_test::writable_archetype>>);
static_assert(!object_output<output_that_counts> && !object_output<output_of_one> &&
              !object_output<output_without_durability> && !object_output<output_that_tells> &&
              !object_output<output_that_stays> && !object_output<const smdebug_test::output_archetype>);
static_assert(writable_storage<smdebug_test::writable_archetype> &&
              !appending_storage<smdebug_test::writable_archetype> &&
              !removing_storage<smdebug_test::writable_archetype> &&
              !claiming_storage<smdebug_test::writable_archetype>);
static_assert(appending_storage<smdebug_test::appending_archetype> &&
              !removing_storage<smdebug_test::appending_archetype> &&
              !claiming_storage<smdebug_test::appending_archetype> && !appending_storage<creates_pointers> &&
              !appending_storage<creates_sized>);
static_assert(removing_storage<smdebug_test::removing_archetype> &&
              !appending_storage<smdebug_test::removing_archetype> &&
              !claiming_storage<smdebug_test::removing_archetype> && !removing_storage<removes_silently> &&
              !removing_storage<removes_many>);
static_assert(object_claim<smdebug_test::claim_archetype> && object_claim<memory_storage::held_key> &&
              object_claim<detail::posix::file_claim>);
static_assert(!object_claim<claim_of_many> && !object_claim<claim_for_ever> && !object_claim<claim_that_stays>);
static_assert(claiming_storage<smdebug_test::claiming_archetype> &&
              !appending_storage<smdebug_test::claiming_archetype> &&
              !removing_storage<smdebug_test::claiming_archetype> && !claiming_storage<claims_blindly> &&
              !claiming_storage<claims_mutably> && !claiming_storage<claims_perhaps>);

}  // namespace

TEST_CASE("storage concepts: the library's storages model them, with their optional abilities") {
    CHECK(storage<local_storage>);
    CHECK(batch_reader<local_storage>);
    CHECK(writable_storage<local_storage>);
    CHECK(viewing_storage<local_storage>);
    CHECK(viewing_storage<memory_storage>);
    CHECK(viewing_storage<any_storage>);
    CHECK(storage<memory_storage>);
    CHECK(writable_storage<memory_storage>);
    CHECK_FALSE(batch_reader<memory_storage>);
    CHECK(storage<any_storage>);
    CHECK(batch_reader<any_storage>);
    CHECK_FALSE(writable_storage<any_storage>);
    CHECK(followable_storage<local_storage>);
    CHECK(announcing_storage<local_storage>);
    CHECK(dated_storage<local_storage>);
    CHECK(followable_storage<memory_storage>);
    CHECK(announcing_storage<memory_storage>);
    CHECK(dated_storage<memory_storage>);
    CHECK(followable_storage<any_storage>);
    CHECK(announcing_storage<any_storage>);
    CHECK(dated_storage<any_storage>);
    CHECK(appending_storage<local_storage>);
    CHECK(appending_storage<memory_storage>);
    CHECK(removing_storage<local_storage>);
    CHECK(removing_storage<memory_storage>);
    CHECK(claiming_storage<local_storage>);
    CHECK(claiming_storage<memory_storage>);
    CHECK(entry_lister<local_storage>);
    CHECK(entry_lister<memory_storage>);
    CHECK(range_batch_reader<any_storage>);
    CHECK(view_prober<any_storage>);
}

TEST_CASE(
    "storage concepts: views, claims and batches of ranges are worth their while unless a storage says otherwise") {
    const memory_storage objects;
    CHECK(worth_viewing(objects));
    CHECK(worth_viewing(smdebug_test::viewing_archetype{objects}));
    CHECK_FALSE(worth_viewing(smdebug_test::unviewing_archetype{objects}));
    CHECK_FALSE(worth_viewing(smdebug_test::storage_archetype{objects}));
    CHECK(worth_claiming(objects));
    CHECK(worth_claiming(smdebug_test::claiming_archetype{objects}));
    CHECK_FALSE(worth_claiming(smdebug_test::unclaiming_archetype{objects}));
    CHECK_FALSE(worth_claiming(smdebug_test::writable_archetype{objects}));
    CHECK(worth_batching_ranges(smdebug_test::range_batch_archetype{objects}));
    CHECK_FALSE(worth_batching_ranges(objects));
}

TEST_CASE("storage concepts: looks are as far apart as was chosen, or as the storage likes them to be") {
    using std::chrono::milliseconds;
    struct pacing_archetype : smdebug_test::storage_archetype {
        using storage_archetype::storage_archetype;
        [[nodiscard]] milliseconds look_interval() const { return milliseconds{500}; }
    };
    const memory_storage objects;
    CHECK_FALSE(pacing_storage<memory_storage>);
    CHECK(look_interval(objects, milliseconds{100}) == milliseconds{100});
    CHECK(look_interval(pacing_archetype{objects}, milliseconds{100}) == milliseconds{500});
    CHECK(look_interval(pacing_archetype{objects}, milliseconds{700}) == milliseconds{700});
    CHECK(look_interval(any_storage{pacing_archetype{objects}}, milliseconds{100}) == milliseconds{500});
    CHECK(look_interval(any_storage{objects}, milliseconds{100}) == milliseconds{100});
}

TEST_CASE("storage concepts: a storage is worth following when it can be followed and does not say otherwise") {
    const memory_storage objects;
    CHECK(worth_following(objects));
    CHECK(worth_following(smdebug_test::followable_archetype{objects}));
    CHECK_FALSE(worth_following(smdebug_test::reluctant_archetype{objects}));
    CHECK_FALSE(worth_following(smdebug_test::storage_archetype{objects}));
    CHECK(worth_following(any_storage{smdebug_test::followable_archetype{objects}}));
    CHECK_FALSE(worth_following(any_storage{smdebug_test::reluctant_archetype{objects}}));
    CHECK_FALSE(worth_following(any_storage{smdebug_test::storage_archetype{objects}}));
}
