#include <smdebug/storage/reading_ahead.hpp>

#include "support/archetypes.hpp"

#include <smdebug/storage/any_storage.hpp>
#include <smdebug/storage/cached_storage.hpp>
#include <smdebug/storage/local_storage.hpp>
#include <smdebug/storage/memory_storage.hpp>

#include <doctest/doctest.h>

#include <optional>

using namespace smdebug;
using namespace smdebug_test;

namespace {

struct ahead_perhaps : prefetching_archetype {
    [[nodiscard]] std::optional<bool> reads_ahead() const { return {}; }
};
struct ahead_mutably : prefetching_archetype {
    [[nodiscard]] bool reads_ahead() { return true; }
};
static_assert(prefetching_storage<prefetching_archetype> && !ahead_prober<prefetching_archetype> &&
              ahead_prober<hesitant_archetype> && !ahead_prober<ahead_perhaps> && !ahead_prober<ahead_mutably>);

}  // namespace

TEST_CASE("reading ahead: worth its while where a storage reads ahead and does not say otherwise") {
    const memory_storage objects;
    CHECK(worth_reading_ahead(prefetching_archetype{objects}));
    CHECK_FALSE(worth_reading_ahead(hesitant_archetype{objects}));
    CHECK_FALSE(worth_reading_ahead(storage_archetype{objects}));
    CHECK_FALSE(worth_reading_ahead(objects));
    CHECK_FALSE(worth_reading_ahead(local_storage{"."}));
    CHECK(worth_reading_ahead(cached(local_storage{"."})));
}

TEST_CASE("reading ahead: any_storage passes the inner storage's word on") {
    const memory_storage objects;
    CHECK(worth_reading_ahead(any_storage{prefetching_archetype{objects}}));
    CHECK_FALSE(worth_reading_ahead(any_storage{hesitant_archetype{objects}}));
    CHECK_FALSE(worth_reading_ahead(any_storage{storage_archetype{objects}}));
    CHECK_FALSE(worth_reading_ahead(any_storage{local_storage{"."}}));
    CHECK(worth_reading_ahead(any_storage{cached(objects)}));
    CHECK_FALSE(any_storage{prefetching_archetype{objects}}.read_ahead("a"));
    CHECK(any_storage{storage_archetype{objects}}.read_ahead("a"));
}
