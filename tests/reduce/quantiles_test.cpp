#include <smdebug/core/float_kinds.hpp>
#include <smdebug/reduce/quantiles.hpp>

#include <reduce/corpus.hpp>
#include "support/test.hpp"

using namespace smdebug;
using reduce_test::owned_tensor;

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
const std::vector<double> many_q{0, 0.01, 0.05, 0.25, 1.0 / 3, 0.5, 0.75, 0.95, 0.999, 1};

/// The definition: sort, and interpolate.
std::vector<double> by_sorting(std::vector<double> values, const std::vector<double>& q) {
    std::sort(values.begin(), values.end());
    std::vector<double> found;
    for (const double one : q) {
        const volatile double place = one * static_cast<double>(values.size() - 1);  // volatile: no FMA
        const auto below = static_cast<std::size_t>(std::floor(place));
        const double a = values[below];
        const double b = values[std::min(below + 1, values.size() - 1)];
        const double share = place - std::floor(place);
        const volatile double up = (b - a) * share;
        const volatile double down = (b - a) * (1 - share);
        found.push_back(a == b || share == 0 ? a : (share < 0.5 ? a + up : b - down));
    }
    return found;
}

void check(const tensor_view& view, const std::vector<double>& values, quantile_options options = {}) {
    const auto found = quantiles(view, many_q, options);
    REQUIRE(found.ok());
    CHECK(*found == by_sorting(values, many_q));
}

template <class T>
void check_integers(dtype type) {
    for (unsigned which = 0; which < reduce_test::integer_kinds; ++which) {
        for (const std::size_t count : {1U, 2U, 3U, 69U, 5000U, 70'001U}) {
            const std::vector<T> values = reduce_test::integers<T>(count, which);
            std::vector<T> sorted = values;
            std::sort(sorted.begin(), sorted.end());
            std::vector<double> plain;
            std::vector<double> sizes;
            for (const T value : sorted) {
                plain.push_back(static_cast<double>(value));
                sizes.push_back(std::abs(static_cast<double>(value)));  // |min| is exact as a double
            }
            const owned_tensor tensor(type, values, count % 2);
            check(tensor.view(), plain);
            check(tensor.view(), sizes, {.abs = true});
        }
    }
}

std::vector<double> sample() {
    std::vector<double> values;
    for (int i = 0; i < 1000; ++i) {
        values.push_back(((i * 7919 + 13) % 1009 - 500) * 0.37);
    }
    return values;
}

}  // namespace

TEST_CASE("quantiles: numpy's numbers, bit by bit for float64") {
    const std::vector<double> values = sample();
    const std::vector<double> q{0, 0.001, 0.05, 0.1, 1.0 / 3, 0.5, 0.77, 0.95, 0.9999, 1};
    CHECK(*quantiles(owned_tensor(dtype::float64, values).view(), q) ==
          std::vector<double>{-0x1.7200000000000p+7, -0x1.7142bfdb4cc25p+7, -0x1.4d0978d4fdf3bp+7,
                              -0x1.2755810624dd3p+7, -0x1.e27ae147ae148p+5, 0x1.047ae147ae148p+1, 0x1.98d205bc01a38p+6,
                              0x1.52f4fdf3b645ap+7, 0x1.77d8984e3fff0p+7, 0x1.77eb851eb851fp+7});
    const std::vector<float> narrow(values.begin(), values.end());
    CHECK(*quantiles(owned_tensor(dtype::float32, narrow).view(), q) ==
          std::vector<double>{-0x1.7200000000000p+7, -0x1.7142c07ef9db2p+7, -0x1.4d0978ccccccdp+7,
                              -0x1.275581999999ap+7, -0x1.e27ae20000000p+5, 0x1.047ae18000000p+1, 0x1.98d20628f5c29p+6,
                              0x1.52f4fecccccccp+7, 0x1.77d8990cbfb17p+7, 0x1.77eb860000000p+7});
    const std::vector<double> percents{0.05, 0.25, 0.4, 0.6, 0.95};
    CHECK(*quantiles(owned_tensor(dtype::float64, std::vector<double>{1.1, 2.7, -3.3, 10.9, 0.2}).view(), percents) ==
          std::vector<double>{-0x1.4ccccccccccccp+1, 0x1.999999999999ap-3, 0x1.7ae147ae147afp-1, 0x1.bd70a3d70a3d7p+0,
                              0x1.2851eb851eb85p+3});
    const std::vector<double> few{0.05, 0.3, 0.5, 0.9};
    CHECK(*quantiles(owned_tensor(dtype::int32, std::vector<std::int32_t>{5, -3, 100, 7, 7, 2, -90}).view(), few) ==
          std::vector<double>{-0x1.ff33333333332p+5, 0x1.ffffffffffff8p-1, 5, 0x1.619999999999ep+5});
}

TEST_CASE("quantiles: the rule's worked example, P95 - P5") {
    std::vector<double> values;
    for (int i = -10; i <= 10; ++i) {
        values.push_back(i / 10.0);
    }
    const auto found = *quantiles(owned_tensor(dtype::float64, values).view(), std::vector<double>{0.05, 0.95});
    CHECK(found[1] - found[0] == doctest::Approx(1.8).epsilon(1e-15));
}

TEST_CASE("quantiles: floats of every type, kind and length, as sorting has them") {
    for (const auto& type : reduce_test::float_types) {
        for (const auto which : reduce_test::kinds) {
            for (const std::size_t count : reduce_test::lengths()) {
                if (count == 0) {
                    continue;
                }
                const std::vector<double> values = reduce_test::numbers(which, count, type.range);
                const owned_tensor tensor = reduce_test::float_tensor(type.type, values, count % 3);
                bool overflows = false;  // the definition's b - a
                const auto [low, high] = std::minmax_element(values.begin(), values.end());
                overflows = !smdebug::is_finite(*high - *low);
                if (!overflows) {
                    check(tensor.view(), values);
                }
                std::vector<double> sizes = values;
                for (double& value : sizes) {
                    value = std::abs(value);
                }
                check(tensor.view(), sizes, {.abs = true});
            }
        }
    }
}

TEST_CASE("quantiles: large tensors") {
    for (const auto& type : reduce_test::float_types) {
        for (const auto which : {reduce_test::kind::uniform, reduce_test::kind::wide_range,
                                 reduce_test::kind::with_zeros, reduce_test::kind::constant}) {
            const std::vector<double> values = reduce_test::numbers(which, 200'003, type.range);
            const auto found = quantiles(reduce_test::float_tensor(type.type, values, 1).view(), many_q);
            std::vector<double> sorted = values;
            std::sort(sorted.begin(), sorted.end());
            CHECK((*found)[0] == sorted.front());
            CHECK((*found)[5] == sorted[100'001]);
            CHECK((*found)[9] == sorted.back());
            if (which != reduce_test::kind::wide_range) {
                CHECK(*found == by_sorting(sorted, many_q));
            }
        }
    }
}

TEST_CASE("quantiles: integers of every type") {
    check_integers<std::int8_t>(dtype::int8);
    check_integers<std::uint8_t>(dtype::uint8);
    check_integers<std::int16_t>(dtype::int16);
    check_integers<std::uint16_t>(dtype::uint16);
    check_integers<std::int32_t>(dtype::int32);
    check_integers<std::uint32_t>(dtype::uint32);
    check_integers<std::int64_t>(dtype::int64);
    check_integers<std::uint64_t>(dtype::uint64);
}

TEST_CASE("quantiles: distinguishes 64-bit integers that round to the same double") {
    constexpr std::int64_t large = std::int64_t{1} << 60U;
    const owned_tensor tensor(dtype::int64, std::vector<std::int64_t>{large + 129, large + 127, large + 1, large - 1});
    // 2^60 + 127 and below round to 2^60, + 129 rounds up to + 256
    CHECK(*quantiles(tensor.view(), std::vector<double>{0, 1}) == std::vector<double>{0x1p60, 0x1p60 + 256});
}

TEST_CASE("quantiles: booleans are 0 and 1, whatever the byte") {
    const owned_tensor tensor(dtype::boolean, std::vector<std::uint8_t>{0, 1, 255, 0, 7});
    CHECK(*quantiles(tensor.view(), std::vector<double>{0, 0.25, 0.375, 0.5, 1}) ==
          std::vector<double>{0, 0, 0.5, 1, 1});
}

TEST_CASE("quantiles: NaN anywhere, of either sign, gives NaN everywhere") {
    for (const double bad : {reduce::detail::not_a_number, -reduce::detail::not_a_number}) {
        for (const std::size_t count : {1U, 5U, 5000U}) {
            for (const auto& type : reduce_test::float_types) {
                std::vector<double> values(count, 1.0);
                std::vector<std::byte> bytes;
                const owned_tensor ones = reduce_test::float_tensor(type.type, values);
                bytes.assign(ones.view().bytes.begin(), ones.view().bytes.end());
                const std::size_t last = bytes.size() - 1;
                bytes[last] = std::byte{static_cast<unsigned char>(__builtin_signbit(bad) ? 0xFF : 0x7F)};
                bytes[last - 1] = std::byte{0xFF};
                const owned_tensor tensor(type.type, bytes);
                for (const bool abs : {false, true}) {
                    const std::vector<double> all = *quantiles(tensor.view(), many_q, {.abs = abs});
                    for (const double found : all) {
                        CHECK(smdebug::is_nan(found));
                    }
                }
            }
        }
    }
}

TEST_CASE("quantiles: infinities are ordered, and win between themselves and a number") {
    const owned_tensor tensor(dtype::float32, std::vector<float>{1, HUGE_VALF, -HUGE_VALF, 2, HUGE_VALF});
    const auto found = *quantiles(tensor.view(), std::vector<double>{0, 0.125, 0.25, 0.375, 0.5, 0.625, 0.75, 0.9, 1});
    CHECK(found == std::vector<double>{-inf, -inf, 1, 1.5, 2, inf, inf, inf, inf});
    const owned_tensor ends(dtype::float64, std::vector<double>{-inf, inf});
    const auto between = *quantiles(ends.view(), std::vector<double>{0, 0.5, 1});
    CHECK(between[0] == -inf);
    CHECK(smdebug::is_nan(between[1]));
    CHECK(between[2] == inf);
}

TEST_CASE("quantiles: zeros of both signs are one number, 0.0") {
    const owned_tensor tensor(dtype::float32, std::vector<float>{-0.F, 0.F, -0.F, 0.F});
    const std::vector<double> zeros = *quantiles(tensor.view(), many_q);
    for (const double found : zeros) {
        CHECK(found == 0);
        CHECK_FALSE(__builtin_signbit(found));
    }
}

TEST_CASE("quantiles: the distance of two doubles may overflow") {
    const double most = std::numeric_limits<double>::max();
    const owned_tensor tensor(dtype::float64, std::vector<double>{-most, most});
    CHECK(*quantiles(tensor.view(), std::vector<double>{0, 0.5, 1}) == std::vector<double>{-most, 0, most});
}

TEST_CASE("quantiles: complex tensors by magnitude only") {
    const owned_tensor narrow(dtype::complex64, std::vector<std::complex<float>>{{3, 4}, {0, -1}, {0, 0}});
    CHECK(quantiles(narrow.view(), many_q).code() == status::unsupported);
    CHECK(*quantiles(narrow.view(), std::vector<double>{0, 0.5, 0.75, 1}, {.abs = true}) ==
          std::vector<double>{0, 1, 3, 5});
    const owned_tensor wide(dtype::complex128,
                            std::vector<std::complex<double>>{{3, 4}, {reduce::detail::not_a_number, 0}});
    CHECK(smdebug::is_nan((*quantiles(wide.view(), std::vector<double>{0}, {.abs = true}))[0]));
}

TEST_CASE("quantiles: nothing in, NaN out; no q, nothing out") {
    const owned_tensor empty(dtype::float32, std::vector<float>{});
    const auto found = quantiles(empty.view(), std::vector<double>{0, 0.5});
    REQUIRE(found.ok());
    REQUIRE(found->size() == 2);
    CHECK(smdebug::is_nan((*found)[0]));
    CHECK(smdebug::is_nan((*found)[1]));
    const owned_tensor some(dtype::float32, std::vector<float>(5000, 1.F));
    CHECK(quantiles(some.view(), {})->empty());
}

TEST_CASE("quantiles: what has no order and what is no share are refused") {
    const std::vector<std::string_view> words{"a", "b"};
    const std::size_t shape[] = {2};
    const tensor_view text{dtype::string, shape, {}, words};
    CHECK(quantiles(text, many_q).code() == status::unsupported);
    CHECK(quantiles(tensor_view{}, many_q).code() == status::unsupported);
    const owned_tensor tensor(dtype::float32, std::vector<float>{1});
    for (const double bad : {-0.001, 1.001, reduce::detail::not_a_number, inf, -inf}) {
        CHECK(quantiles(tensor.view(), std::vector<double>{0.5, bad}).code() == status::unsupported);
    }
}

TEST_CASE("quantiles: of spans, vectors, arrays, matrices and bits, as a hook saves them") {
    const std::array q{0.0, 0.5, 1.0};
    const std::vector<float> list{3, 1, 2};
    const std::vector<double> ends{1, 2, 3};
    CHECK(*quantiles(list, q) == ends);
    CHECK(*quantiles(std::span{list}, q) == ends);
    CHECK(*quantiles(std::array<long long, 3>{3, 1, 2}, q) == ends);
    CHECK(*quantiles(std::vector<std::complex<float>>{{3, 0}, {0, -1}, {-2, 0}}, q, {.abs = true}) == ends);
    CHECK(*quantiles(std::vector<bool>{true, false, true}, q) == std::vector<double>{0, 1, 1});
    CHECK(quantiles(std::vector<std::complex<float>>(1), q).code() == status::unsupported);
}
