#include <smdebug/reduce/simd_integers.hpp>

#include <reduce/corpus.hpp>
#include <reduce/widen_check.hpp>
#include "support/test.hpp"

#include <smdebug/core/strict_math/begin.ipp>

using namespace smdebug::reduce;
using namespace smdebug::reduce::detail;
using reduce_test::check_widening;
using arch = xsimd::default_arch;

namespace {

/// Numbers about which something is special: kinds, the ends of the range, where scaling begins and ends.
template <class Real>
std::vector<Real> special_numbers() {
    using limits = std::numeric_limits<Real>;
    std::vector<Real> all{0,
                          1,
                          3,
                          limits::max(),
                          limits::min(),
                          limits::denorm_min(),
                          limits::infinity(),
                          limits::quiet_NaN(),
                          static_cast<Real>(0.1)};
    for (const int power : {511, 512, 400, 401, 399, -400, -401, -399, -511, -512, -538, -600, 600, 127, -126, -149}) {
        const auto number = static_cast<Real>(std::ldexp(1.0, power));
        all.push_back(number);
        all.push_back(std::nextafter(number, Real{0}));
        all.push_back(std::nextafter(number, limits::infinity()));
    }
    const std::size_t count = all.size();
    for (std::size_t i = 0; i < count; ++i) {
        all.push_back(-all[i]);
    }
    return all;
}

/// Every pair of special numbers, sixteen times; an odd number of elements apart, so that each comes to every lane.
template <class Real>
std::vector<std::array<Real, 2>> special_pairs() {
    const auto numbers = special_numbers<Real>();
    std::vector<std::array<Real, 2>> pairs;
    for (std::size_t pass = 0; pass < lane_count; ++pass) {
        for (const Real re : numbers) {
            for (const Real im : numbers) {
                pairs.push_back({re, im});
            }
        }
        pairs.push_back({1, 1});
    }
    return pairs;
}

/// Parts with random bits: all exponents, and NaN.
template <class Real, class Bits>
std::vector<std::array<Real, 2>> random_pairs() {
    reduce_test::random_bits random(11);
    std::vector<std::array<Real, 2>> pairs;
    for (unsigned i = 0; i < 20000; ++i) {
        pairs.push_back(
            {std::bit_cast<Real>(static_cast<Bits>(random())), std::bit_cast<Real>(static_cast<Bits>(random()))});
    }
    for (unsigned i = 0; i < 20000; ++i) {  // parts of about the same size, of all sizes
        const int power = static_cast<int>(random() % 2200) - 1100;
        pairs.push_back({static_cast<Real>(std::ldexp(random.symmetric(), power)),
                         static_cast<Real>(std::ldexp(random.symmetric(), power))});
    }
    return pairs;
}

template <class Arch>
void check_arch() {
    for (const double scale : {1.0, 0x1p600, 0x1p-600}) {
        check_widening<Arch, from_complex<float>>(random_pairs<float, std::uint32_t>(), scale);
        check_widening<Arch, from_complex<double>>(random_pairs<double, std::uint64_t>(), scale);
        check_widening<Arch, from_complex<float>>(special_pairs<float>(), scale);
        check_widening<Arch, from_complex<double>>(special_pairs<double>(), scale);
    }
}

/// One odd number among ordinary ones, at each lane: what it needs must not touch its neighbours.
template <class Arch, class Real>
void check_lanes() {
    for (const Real odd : special_numbers<Real>()) {
        for (std::size_t lane = 0; lane < 2 * lane_count; ++lane) {
            std::vector<std::array<Real, 2>> numbers(2 * lane_count, {Real{3}, Real{-4}});
            numbers[lane][lane % 2] = odd;
            check_widening<Arch, from_complex<Real>>(reinterpret_cast<const std::byte*>(numbers.data()), numbers.size(),
                                                     1);
        }
    }
}

}  // namespace

static_assert(magnitude_arch<arch> && !magnitude_arch<reduce_test::unknown_arch>);

TEST_CASE("simd_magnitudes: the bits of complex_magnitude, for parts of any size and kind, scaled or not") {
    check_arch<arch>();
#if defined(__x86_64__)
    check_arch<xsimd::sse2>();
#endif
}

TEST_CASE("simd_magnitudes: an odd number at every lane, ordinary ones around it") {
    check_lanes<arch, float>();
    check_lanes<arch, double>();
#if defined(__x86_64__)
    check_lanes<xsimd::sse2, float>();
    check_lanes<xsimd::sse2, double>();
#endif
}

TEST_CASE("simd_magnitudes: known magnitudes, in order") {
    std::vector<std::array<float, 2>> numbers;
    for (unsigned i = 0; i < 40; ++i) {
        const auto size = static_cast<float>(i);
        numbers.push_back({-3 * size, 4 * size});
    }
    std::array<double, 40> found;
    simd_widen<arch, from_complex<float>>(reinterpret_cast<const std::byte*>(numbers.data()), 40, 1, found.data());
    for (unsigned i = 0; i < 40; ++i) {
        CHECK(found[i] == 5.0 * i);
    }
}
#include <smdebug/core/strict_math/end.ipp>
