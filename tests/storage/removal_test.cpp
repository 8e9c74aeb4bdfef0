#include <smdebug/storage/removal.hpp>

#include "support/archetypes.hpp"

#include <doctest/doctest.h>

#include <smdebug/storage/memory_storage.hpp>

#include <string_view>

using namespace smdebug;
using namespace smdebug_test;

namespace {

// One that removes today, or does not.
class moody_storage : public removing_archetype {
public:
    moody_storage(const memory_storage& objects, bool removes) : removing_archetype(objects), removes_(removes) {}
    [[nodiscard]] bool removes() const { return removes_; }

private:
    bool removes_;
};

// One that only says so.
class boaster : public writable_archetype {
public:
    using writable_archetype::writable_archetype;
    [[nodiscard]] bool removes() const { return true; }
};

}  // namespace

TEST_CASE("can_remove: who removes and does not tell is taken at its word; who tells is believed") {
    static_assert(!removal_prober<removing_archetype> && removal_prober<moody_storage>);
    const memory_storage objects;
    CHECK(can_remove(objects));
    CHECK(can_remove(removing_archetype{objects}));
    CHECK_FALSE(can_remove(writable_archetype{objects}));
    CHECK(can_remove(moody_storage{objects, true}));
    CHECK_FALSE(can_remove(moody_storage{objects, false}));
    CHECK_FALSE(can_remove(boaster{objects}));
}
