#include <smdebug/record/crc32c_x86.hpp>

#include <record/crc32c_against_table.hpp>
#include <support/skipped.hpp>
#include "support/test.hpp"

using namespace smdebug_test;

TEST_CASE("crc32c SSE4.2: agrees with the table around one word, the shortest and the longest round of its streams") {
#if defined(__x86_64__)
    namespace sse42 = smdebug::record::crc32c::detail::sse42;
    constexpr std::size_t shortest = sse42::streams * sse42::fewest_words * sse42::word;
    constexpr std::size_t longest = sse42::streams * sse42::most_words * sse42::word;
    check_around(smdebug::record::crc32c::detail::implementation::sse42,
                 {sse42::word, shortest, 2 * shortest, longest, 2 * longest});
#else
    skipped(lacking::processor, "no x86-64");
#endif
}

TEST_CASE("crc32c AVX-512: agrees with the table around one to three rounds of its vectors") {
#if defined(__x86_64__)
    constexpr std::size_t shortest = smdebug::record::crc32c::detail::avx512::shortest;
    check_around(smdebug::record::crc32c::detail::implementation::avx512, {shortest, 2 * shortest, 3 * shortest});
#else
    skipped(lacking::processor, "no x86-64");
#endif
}
