#include <smdebug/reduce/x86_rows.hpp>

#include <reduce/row_check.hpp>
#include <support/skipped.hpp>
#include "support/test.hpp"

#include <smdebug/core/strict_math/begin.ipp>

using namespace smdebug::reduce;
using namespace smdebug::reduce::detail;
using reduce_test::check_rows;

// Decided by the type alone, so the same in every file.
static_assert(x86_bits<xsimd::sse2> == 128 && x86_bits<xsimd::sse4_2> == 128 && x86_bits<xsimd::avx> == 128);
static_assert(x86_bits<xsimd::avx2> == 256 && x86_bits<xsimd::fma3<xsimd::avx2>> == 256);
static_assert(x86_bits<xsimd::avx512f> == 512 && x86_bits<xsimd::avx512bw> == 512);
static_assert(x86_bits<xsimd::neon64> == 0);

namespace {

/// The rows of Arch where there are any; else there is nothing to check.
template <class Arch>
void check_rows_if_any() {
    if constexpr (x86_bits<Arch> != 0) {
        check_rows<Arch>();
    } else {
        smdebug_test::skipped(smdebug_test::lacking::processor, "no x86-64");
    }
}

}  // namespace

TEST_CASE("x86_rows: every f16, and the extremes of all else, in the widest vectors of the file") {
    check_rows_if_any<xsimd::default_arch>();
}

#if defined(__x86_64__)
TEST_CASE("x86_rows: every f16, and the extremes of all else, with SSE2") { check_rows<xsimd::sse2>(); }
#endif
#include <smdebug/core/strict_math/end.ipp>
