#include <smdebug/trial/verify.hpp>

#include "support/test.hpp"

using namespace smdebug;

static_assert(name_of(difference_kind::damaged_file) == "damaged file");
static_assert(name_of(difference_kind::unnamed_record) == "unnamed record");

TEST_CASE("difference: every kind has a name of its own") {
    std::set<std::string_view> names;
    for (int kind = 0; kind <= static_cast<int>(difference_kind::collections); ++kind) {
        names.insert(name_of(static_cast<difference_kind>(kind)));
    }
    CHECK(names.size() == static_cast<std::size_t>(difference_kind::collections) + 1);
    CHECK(names.contains("collections"));
}
