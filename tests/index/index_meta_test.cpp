#include <smdebug/index/index_file.hpp>

#include "support/test.hpp"

using namespace smdebug;

TEST_CASE("index_meta: a file that says nothing is of step 0 in mode GLOBAL") {
    const smdebug::detail::index_file::meta head;
    CHECK(head.mode == mode::global);
    CHECK(head.mode_step == 0);
    CHECK(head.event_file_name.empty());
}
