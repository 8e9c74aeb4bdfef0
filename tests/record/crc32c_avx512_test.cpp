#include <smdebug/record/crc32c_x86.hpp>

#include <record/crc32c_against_table.hpp>
#include <support/skipped.hpp>
#include "support/test.hpp"

using namespace smdebug_test;

#if defined(__x86_64__)
namespace {

template <class Kernel>
void check_kernel(smdebug::record::crc32c::detail::implementation which) {
    constexpr std::size_t shortest = Kernel::fewest_steps * Kernel::step;
    constexpr std::size_t longest = Kernel::most_steps * Kernel::step;
    check_around(which, {shortest, shortest + Kernel::step, longest, longest + shortest, 2 * longest});
}

}  // namespace

TEST_CASE("crc32c AVX-512: agrees with the table around its shortest and longest blocks") {
    namespace crc32c = smdebug::record::crc32c;
    check_kernel<crc32c::detail::avx512::folding>(crc32c::detail::implementation::avx512_folding);
    check_kernel<crc32c::detail::avx512::balanced>(crc32c::detail::implementation::avx512_balanced);
}
#else
TEST_CASE("crc32c AVX-512: is for x86-64") { skipped(lacking::processor, "no x86-64"); }
#endif
