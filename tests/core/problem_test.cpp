#include <smdebug/core/status.hpp>

#include "support/test.hpp"

using namespace smdebug;

TEST_CASE("problem: a place and a sentence, and a kind with a name") {
    CHECK(text_of({.where = "a, byte 8", .what = "the record is cut"}) == "a, byte 8: the record is cut");
    CHECK(text_of({.what = "it is cut"}) == "it is cut");
    CHECK(name_of(problem_kind::damaged) == "damaged");
    CHECK(name_of(problem_kind::unsupported) == "unsupported");
    CHECK(name_of(problem_kind::replaced) == "replaced");
    CHECK(name_of(problem_kind::left_out) == "left out");
}
