#include <smdebug/storage/storage_base.hpp>

#include "support/archetypes.hpp"
#include "support/remote_storage.hpp"

#include <smdebug/storage/any_storage.hpp>
#include <smdebug/storage/cached_storage.hpp>
#include <smdebug/storage/concepts.hpp>
#include <smdebug/storage/local_storage.hpp>
#include <smdebug/storage/memory_storage.hpp>

#include <doctest/doctest.h>

#include <memory>
#include <string_view>

using namespace smdebug;
using namespace smdebug_test;

namespace {

constexpr storage_abilities none{.batches_ranges = false,
                                 .views = false,
                                 .reads_ahead = false,
                                 .opens_small = false,
                                 .follows = false,
                                 .writes = false,
                                 .removes = false,
                                 .claims = false};

constexpr storage_abilities only(bool storage_abilities::*which) {
    storage_abilities can = none;
    can.*which = true;
    return can;
}

constexpr storage_abilities writing_and(bool storage_abilities::*which) {
    storage_abilities can = only(which);
    can.writes = true;
    return can;
}

// Removes at times, depending on a flag.
class moody_storage : public removing_archetype {
public:
    moody_storage(const memory_storage& objects, bool removes) : removing_archetype(objects), removes_(removes) {}
    [[nodiscard]] storage_abilities abilities() const { return {.removes = removes_}; }

private:
    bool removes_;
};

// Opens objects.
class opener : public storage_archetype {
public:
    using storage_archetype::storage_archetype;
    [[nodiscard]] static std::unique_ptr<smdebug::opened_object> open(std::string_view /*key*/) { return nullptr; }
};

// Claims an ability without having the operation.
class boaster : public storage_archetype {
public:
    using storage_archetype::storage_archetype;
    [[nodiscard]] static storage_abilities abilities() { return {}; }
};

}  // namespace

TEST_CASE("abilities_of: a storage without abilities() is assumed to be able to do what it has operations for") {
    const memory_storage objects;
    CHECK(abilities_of(storage_archetype{objects}) == none);
    CHECK(abilities_of(range_batch_archetype{objects}) == only(&storage_abilities::batches_ranges));
    CHECK(abilities_of(viewing_archetype{objects}) == only(&storage_abilities::views));
    CHECK(abilities_of(prefetching_archetype{objects}) == only(&storage_abilities::reads_ahead));
    CHECK(abilities_of(opener{objects}) == only(&storage_abilities::opens_small));
    CHECK(abilities_of(any_storage{opener{objects}}) == only(&storage_abilities::opens_small));
    CHECK(abilities_of(followable_archetype{objects}) == only(&storage_abilities::follows));
    CHECK(abilities_of(writable_archetype{objects}) == only(&storage_abilities::writes));
    CHECK(abilities_of(removing_archetype{objects}) == writing_and(&storage_abilities::removes));
    CHECK(abilities_of(claiming_archetype{objects}) == writing_and(&storage_abilities::claims));
}

TEST_CASE("abilities_of: the result of abilities() counts if the storage has the operation") {
    const memory_storage objects;
    CHECK(abilities_of(reluctant_remote_storage{objects}).batches_ranges == false);
    CHECK(abilities_of(remote_storage{objects}).batches_ranges);
    CHECK(abilities_of(unviewing_archetype{objects}) == none);
    CHECK(abilities_of(hesitant_archetype{objects}) == none);
    CHECK(abilities_of(reluctant_archetype{objects}) == none);
    CHECK(abilities_of(unclaiming_archetype{objects}) == only(&storage_abilities::writes));
    CHECK(abilities_of(moody_storage{objects, true}).removes);
    CHECK_FALSE(abilities_of(moody_storage{objects, false}).removes);
    CHECK(abilities_of(boaster{objects}) == none);
}

TEST_CASE("abilities_of: the library's storages") {
    const storage_abilities memory{.batches_ranges = false, .reads_ahead = false, .opens_small = false};
    CHECK(abilities_of(memory_storage{}) == memory);
    CHECK(abilities_of(local_storage{"."}) == memory);
    CHECK(abilities_of(any_storage{local_storage{"."}}) == memory);
    const storage_abilities cached_memory{.batches_ranges = false, .opens_small = false};
    CHECK(abilities_of(cached(local_storage{"."})) == cached_memory);
    CHECK(abilities_of(any_storage{cached(memory_storage{})}) == cached_memory);
    CHECK(abilities_of(cached(any_storage{memory_storage{}})) == cached_memory);
    CHECK(abilities_of(cached(memory_storage{}, memory_cache{}, {.threads_ahead = 0})) == memory);
}

TEST_CASE("abilities_of: any_storage and cached_storage pass on the inner storage's current abilities") {
    class learner : public memory_storage {
    public:
        bool* writes = nullptr;
        [[nodiscard]] storage_abilities abilities() const {
            return {.follows = false, .writes = *writes, .claims = false};
        }
    };
    bool writes = false;
    learner inner;
    inner.writes = &writes;
    const any_storage erased{inner};
    const cached_storage around{inner};
    CHECK_FALSE(abilities_of(erased).writes);
    CHECK_FALSE(abilities_of(around).writes);
    writes = true;
    CHECK(abilities_of(erased) ==
          storage_abilities{
              .batches_ranges = false, .reads_ahead = false, .opens_small = false, .follows = false, .claims = false});
    CHECK(abilities_of(around) ==
          storage_abilities{.batches_ranges = false, .opens_small = false, .follows = false, .claims = false});
    CHECK(abilities_of(any_storage{storage_archetype{inner}}) == none);
}
