#include <smdebug/record/crc32c_arm.hpp>

#include <record/crc32c_against_table.hpp>
#include <support/skipped.hpp>
#include "support/test.hpp"

using namespace smdebug_test;

TEST_CASE("crc32c ARM: agrees with the table around one word, the shortest and the longest round of its streams") {
#if defined(__aarch64__)
    namespace arm = smdebug::record::crc32c::detail::arm;
    constexpr std::size_t shortest = arm::streams * arm::fewest_words * arm::word;
    constexpr std::size_t longest = arm::streams * arm::most_words * arm::word;
    check_around(smdebug::record::crc32c::detail::implementation::arm, {arm::word, shortest, longest, 2 * longest});
#else
    CHECK_FALSE(smdebug::record::crc32c::detail::supported(smdebug::record::crc32c::detail::implementation::arm));
    skipped(lacking::processor, "no ARM");
#endif
}
