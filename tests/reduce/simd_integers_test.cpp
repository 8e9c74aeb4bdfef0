#include <smdebug/reduce/simd_integers.hpp>

#include <reduce/corpus.hpp>
#include <reduce/widen_check.hpp>
#include "support/test.hpp"

#include <smdebug/core/strict_math/begin.ipp>

using namespace smdebug::reduce;
using namespace smdebug::reduce::detail;
using arch = xsimd::default_arch;

namespace {

struct plain {};  // sweeps without vectors: integer_sweeps is the general one

bool same(double a, double b) { return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b); }
bool same(wide_sum a, wide_sum b) { return same(a.high, b.high) && same(a.low, b.low); }

template <class Arch, class Integer>
void check_sums(const std::vector<Integer>& values, std::size_t offset) {
    const reduce_test::owned_tensor tensor(smdebug::dtype::int64, values, offset);
    const std::byte* at = tensor.view().bytes.data();
    const auto found = integer_sweeps<simd_sweeps<Arch>>::template sums<Integer>(at, values.size());
    const auto wanted = integer_sweeps<plain>::sums<Integer>(at, values.size());
    CHECK(same(found.sum, wanted.sum));
    CHECK(same(found.magnitudes, wanted.magnitudes));
}

template <class Arch, class Integer>
void check_differences(const std::vector<Integer>& values, std::size_t offset, wide_sum mean) {
    const reduce_test::owned_tensor tensor(smdebug::dtype::int64, values, offset);
    const std::byte* at = tensor.view().bytes.data();
    std::vector<double> found(values.size() + 1, -77);
    std::vector<double> wanted(values.size() + 1, -77);
    for (const bool magnitudes : {false, true}) {
        const wide_sum about = integer_sweeps<simd_sweeps<Arch>>::template differences<Integer>(
            at, values.size(), mean, magnitudes, found.data());
        CHECK(same(about,
                   integer_sweeps<plain>::differences<Integer>(at, values.size(), mean, magnitudes, wanted.data())));
        std::size_t wrong = 0;
        for (std::size_t i = 0; i < found.size(); ++i) {
            wrong += same(found[i], wanted[i]) ? 0U : 1U;
        }
        CHECK(wrong == 0);
    }
}

template <class Arch, class Integer>
void check_all() {
    for (unsigned which = 0; which < reduce_test::integer_kinds; ++which) {
        for (std::size_t count = 0; count <= 71; ++count) {
            const auto values = reduce_test::integers<Integer>(count > 70 ? 2048 : count, which);
            check_sums<Arch>(values, count % 5);
            for (const double mean : {0.0, 1.0, -3.0, 0x1p32, 0x1p53, 0x1p63, -0x1p63, 0x1p64, 1e18, -1e18}) {
                check_differences<Arch>(values, count % 5, {mean, 0});
                check_differences<Arch>(values, count % 5, {mean, mean < 0x1p63 ? 17.0 : -17.0});
            }
        }
    }
}

/// Next to every power of two, and where the rounding to 53 bits is a tie.
template <class Integer>
std::vector<Integer> near_powers() {
    std::vector<Integer> values;
    for (unsigned power = 0; power < 64; ++power) {
        for (const std::uint64_t step : {0U, 1U, 2U, 3U, 511U, 512U, 513U, 1023U, 1024U, 1025U, 1536U, 2048U, 3072U}) {
            const std::uint64_t one = std::uint64_t{1} << power;
            for (const std::uint64_t bits : {one + step, one - step, 0 - one + step, 0 - one - step}) {
                values.push_back(static_cast<Integer>(bits));
            }
        }
    }
    return values;
}

template <class Integer>
void check_conversion() {
    reduce_test::check_widening<arch, from_integer<Integer, double>>(near_powers<Integer>());
#if defined(__x86_64__)
    reduce_test::check_widening<xsimd::sse2, from_integer<Integer, double>>(near_powers<Integer>());
#endif
}

}  // namespace

TEST_CASE("simd_integers: sums and differences in the bits of the general ones, any count and alignment") {
    check_all<arch, std::int64_t>();
    check_all<arch, std::uint64_t>();
#if defined(__x86_64__)
    check_all<xsimd::sse2, std::int64_t>();
    check_all<xsimd::sse2, std::uint64_t>();
#endif
}

TEST_CASE("simd_integers: blocks of nothing but the extremes") {
    for (const std::size_t count : {1U, 16U, 2047U, 2048U}) {
        check_sums<arch>(std::vector<std::int64_t>(count, std::numeric_limits<std::int64_t>::min()), 1);
        check_sums<arch>(std::vector<std::int64_t>(count, std::numeric_limits<std::int64_t>::max()), 1);
        check_sums<arch>(std::vector<std::int64_t>(count, -1), 1);
        check_sums<arch>(std::vector<std::uint64_t>(count, std::numeric_limits<std::uint64_t>::max()), 1);
    }
}

TEST_CASE("simd_integers: doubles as static_cast gives them, ties between two of them too") {
    check_conversion<std::int64_t>();
    check_conversion<std::uint64_t>();
}
#include <smdebug/core/strict_math/end.ipp>
