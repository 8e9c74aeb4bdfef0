#include <smdebug/core/printable_text.hpp>

#include "support/test.hpp"

using namespace smdebug;

TEST_CASE("relative_path: only keys that name something below the root stay inside") {
    for (const std::string_view good : {"a", "a/b", "..a", "a..", "a/..b/c", ".hidden", "a/./b", "a//b", "a/"}) {
        CAPTURE(good);
        CHECK(stays_inside(good));
    }
    using namespace std::string_view_literals;
    for (const std::string_view bad : {""sv, "/a"sv, ".."sv, "a/.."sv, "../a"sv, "a/../b"sv, "a/../"sv, "a\0b"sv}) {
        CAPTURE(bad);
        CHECK_FALSE(stays_inside(bad));
    }
    static_assert(!stays_inside("../../otherbucket/secret"));
}

static_assert(is_resource_fork("a/._b") && is_resource_fork("._") && !is_resource_fork("._a/b") &&
              !is_resource_fork(".b") && !is_resource_fork("a._b") && !is_resource_fork(""));
