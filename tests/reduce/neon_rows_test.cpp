#include <smdebug/reduce/simd_widen.hpp>

#include <reduce/row_check.hpp>
#include <support/skipped.hpp>
#include "support/test.hpp"

using namespace smdebug::reduce;
using namespace smdebug::reduce::detail;
using reduce_test::check_rows;

static_assert(neon_arch<xsimd::neon64> && !neon_arch<xsimd::neon> && !neon_arch<xsimd::sse2>);

namespace {

/// The rows of Arch where there are any; else there is nothing to check.
template <class Arch>
void check_rows_if_any() {
    if constexpr (neon_arch<Arch>) {
        check_rows<Arch>();
    } else {
        smdebug_test::skipped(smdebug_test::lacking::processor, "no 64-bit ARM");
    }
}

}  // namespace

TEST_CASE("neon_rows: every f16, and the extremes of all else, with NEON") { check_rows_if_any<xsimd::default_arch>(); }
