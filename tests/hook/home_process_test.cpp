#include <smdebug/hook/home_process.hpp>

#include "support/child_process.hpp"
#include "support/test.hpp"

#include <unistd.h>

using smdebug::detail::home_process;

TEST_CASE("home_process: is here in the process that made it, and in no child of it, nor in a child's child") {
    const home_process parent;
    CHECK(parent.is_here());
    CHECK(parent.number() == ::getpid());
    CHECK(smdebug_test::status_of_child([&] {
              const home_process child;
              const int grandchild = smdebug_test::status_of_child(
                  [&] { return !parent.is_here() && !child.is_here() && home_process{}.is_here() ? 0 : 1; });
              return !parent.is_here() && child.is_here() && child.number() == ::getpid() ? grandchild : 2;
          }) == 0);
    CHECK(parent.is_here());
}
