#include <smdebug/storage/storage_base.hpp>

#include "support/archetypes.hpp"

#include <smdebug/storage/any_storage.hpp>
#include <smdebug/storage/cached_storage.hpp>
#include <smdebug/storage/local_storage.hpp>
#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/storage/posix/claim.hpp>
#include <smdebug/storage/posix/output.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

using namespace smdebug;

namespace {

// Near misses: each lacks one operation of the archetype.
struct base {
    [[nodiscard]] byte_buffer read(std::string_view) const { return {}; }
    [[nodiscard]] byte_buffer read(std::string_view, byte_range) const { return {}; }
    [[nodiscard]] std::vector<std::string> list(std::string_view, std::string_view) const { return {}; }
    [[nodiscard]] std::optional<std::uint64_t> size(std::string_view) const { return {}; }
    [[nodiscard]] std::string name() const { return {}; }
};
struct writes_elsewhere : base {
    bool write(std::string_view, byte_view) { return true; }
};
struct writes_without_reading {
    void write(std::string_view, byte_view) {}
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

static_assert(!writable_storage<smdebug_test::storage_archetype> && !writable_storage<writes_elsewhere> &&
              !writable_storage<writes_without_reading>);
static_assert(object_output<smdebug_test::output_archetype> && object_output<memory_storage::output> &&
              object_output<detail::posix::whole_file_output> &&
              object_output<detail::gathered_output<smdebug_test::writable_archetype>>);
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

static_assert(writable_storage<local_storage> && appending_storage<local_storage> && removing_storage<local_storage> &&
              claiming_storage<local_storage>);
static_assert(writable_storage<memory_storage> && appending_storage<memory_storage> &&
              removing_storage<memory_storage> && claiming_storage<memory_storage>);

}  // namespace

TEST_CASE("still_holds: as the claim says, and true if it does not know") {
    memory_storage objects;
    const smdebug_test::claim_archetype silent{objects.claim("a")};
    CHECK(still_holds(silent));
    struct lost_claim : smdebug_test::claim_archetype {
        using claim_archetype::claim_archetype;
        [[nodiscard]] bool holds() const { return false; }
    };
    CHECK_FALSE(still_holds(lost_claim{objects.claim("b")}));
}

TEST_CASE("remove_unfinished: asks the storage, and returns nothing if the storage keeps no unfinished objects") {
    struct keeps_parts : smdebug_test::writable_archetype {
        using writable_archetype::writable_archetype;
        [[nodiscard]] std::vector<std::string> remove_unfinished(std::string_view prefix,
                                                                 function_ref<bool(std::string_view)> which) {
            std::vector<std::string> removed;
            for (const std::string& key : {std::string{"events/a"}, std::string{"events/b"}, std::string{"index/a"}}) {
                if (key.starts_with(prefix) && which(key)) {
                    removed.push_back(key);
                }
            }
            return removed;
        }
    };
    const auto those_of_a = [](std::string_view key) { return key.ends_with("a"); };
    keeps_parts store{memory_storage{}};
    CHECK(remove_unfinished(store, "events/", those_of_a) == std::vector<std::string>{"events/a"});
    any_storage wrapped{cached_storage{keeps_parts{memory_storage{}}}};
    CHECK(wrapped.remove_unfinished("", those_of_a) == std::vector<std::string>{"events/a", "index/a"});
    smdebug_test::writable_archetype plain{memory_storage{}};
    CHECK(remove_unfinished(plain, "events/", those_of_a).empty());
}

TEST_CASE("take_claim, remove_object: the durability reaches storages that support it, also through wrappers") {
    struct durable_storage : memory_storage {
        using memory_storage::memory_storage;
        [[nodiscard]] auto claim(std::string_view key, durability how = durability::cached) {
            done->push_back(how == durability::on_disk ? "claim on disk" : "claim");
            return memory_storage::claim(key);
        }
        bool remove(std::string_view key, durability how = durability::cached) {
            done->push_back(std::string{how == durability::on_disk ? "remove on disk " : "remove "} + std::string{key});
            return memory_storage::remove(key);
        }
        std::shared_ptr<std::vector<std::string>> done = std::make_shared<std::vector<std::string>>();
    };
    const auto check = [](auto store, const std::vector<std::string>& done) {
        static_cast<void>(take_claim(store, "a", durability::on_disk));
        static_cast<void>(take_claim(store, "a", durability::cached));
        CHECK_FALSE(remove_object(store, "b", durability::on_disk));
        CHECK_FALSE(remove_object(store, "c", durability::cached));
        CHECK(done == std::vector<std::string>{"claim on disk", "claim", "remove on disk b", "remove c"});
    };
    const durable_storage bare;
    check(bare, *bare.done);
    const durable_storage erased;
    check(any_storage{erased}, *erased.done);
    const durable_storage cached;
    check(cached_storage{cached}, *cached.done);
    // Other storages are not queried.
    memory_storage plain;
    static_cast<void>(take_claim(plain, "a", durability::on_disk));
    plain.write("b", {});
    CHECK(remove_object(plain, "b", durability::on_disk));
    any_storage erased_plain{plain};
    static_cast<void>(take_claim(erased_plain, "a", durability::on_disk));
    CHECK_FALSE(remove_object(erased_plain, "b", durability::on_disk));
    CHECK_FALSE(plain.size("a"));
}
