#include <smdebug/core/abstract.hpp>

#include "support/test.hpp"

TEST_CASE("abstract: is destroyed by pointer, and not copied") {
    struct counted final : smdebug::detail::abstract {
        explicit counted(int& to) : ended(&to) {}
        ~counted() override { ++*ended; }
        int* ended;
    };
    static_assert(!std::is_copy_constructible_v<counted> && !std::is_move_assignable_v<counted>);
    int ended = 0;
    { const std::unique_ptr<smdebug::detail::abstract> one = std::make_unique<counted>(ended); }
    CHECK(ended == 1);
}
