#include <smdebug/trial/verify.hpp>

#include "support/test.hpp"

using namespace smdebug;

static_assert(name_of(inconsistency_kind::damaged_file) == "damaged file");
static_assert(name_of(inconsistency_kind::unnamed_record) == "unnamed record");

TEST_CASE("inconsistency: every kind has a name of its own") {
    std::set<std::string_view> names;
    for (int kind = 0; kind <= static_cast<int>(inconsistency_kind::collections); ++kind) {
        names.insert(name_of(static_cast<inconsistency_kind>(kind)));
    }
    CHECK(names.size() == static_cast<std::size_t>(inconsistency_kind::collections) + 1);
    CHECK(names.contains("collections"));
}
