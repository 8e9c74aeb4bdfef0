#include <smdebug/core/float_kinds.hpp>

#include "support/test.hpp"

namespace smd = smdebug;

namespace {

template <class Real>
void check_kinds() {
    using limits = std::numeric_limits<Real>;
    for (const Real value :
         {Real{0}, -Real{0}, limits::denorm_min(), limits::min(), Real{1}, limits::max(), -limits::max()}) {
        CHECK(smd::is_finite(value));
        CHECK_FALSE(smd::is_nan(value));
        CHECK_FALSE(smd::is_infinite(value));
    }
    for (const Real value : {limits::infinity(), -limits::infinity()}) {
        CHECK_FALSE(smd::is_finite(value));
        CHECK_FALSE(smd::is_nan(value));
        CHECK(smd::is_infinite(value));
    }
    for (const Real value : {limits::quiet_NaN(), -limits::quiet_NaN(), limits::signaling_NaN()}) {
        CHECK_FALSE(smd::is_finite(value));
        CHECK(smd::is_nan(value));
        CHECK_FALSE(smd::is_infinite(value));
    }
}

}  // namespace

TEST_CASE("is_nan, is_infinite, is_finite: zeros, subnormals, extremes, infinities and NaN of either sign") {
    check_kinds<float>();
    check_kinds<double>();
    CHECK(smd::is_nan(std::bit_cast<float>(std::uint32_t{0x7F800001})));
    CHECK(smd::is_nan(std::bit_cast<double>(std::uint64_t{0xFFF0000000000001})));
    static_assert(smd::is_nan(std::numeric_limits<float>::quiet_NaN()) &&
                  !smd::is_finite(-std::numeric_limits<double>::infinity()));
}
