#include <smdebug/core/float_kinds.hpp>
#include <smdebug/reduce/scalar_kernel.hpp>

#include <reduce/corpus.hpp>
#include <reduce/exact.hpp>
#include "support/test.hpp"

using namespace smdebug;
using exact_element = reduce_test::element;
using smdebug::reduction::l1, smdebug::reduction::l2, smdebug::reduction::max, smdebug::reduction::mean;
using smdebug::reduction::min, smdebug::reduction::prod, smdebug::reduction::sum, smdebug::reduction::variance;

static_assert(reduction_kernel<scalar_kernel>);
static_assert(std::is_empty_v<scalar_kernel>);

namespace {

constexpr auto deviation = reduction::std;
constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double no_number = std::numeric_limits<double>::quiet_NaN();

reduction_values reduced(const reduce_test::owned_tensor& tensor, reduction_set wanted = reduction_set::all()) {
    const auto values = scalar_kernel{}.reduce(tensor.view(), wanted);
    REQUIRE(values.ok());
    return *values;
}

/// The same double, where all NaN are the same and 0 is not -0.
bool same(double a, double b) { return (a != a && b != b) || (a == b && __builtin_signbit(a) == __builtin_signbit(b)); }

reduction_values of_doubles(const std::vector<double>& values) {
    return reduced(reduce_test::float_tensor(dtype::float64, values));
}

}  // namespace

TEST_CASE("scalar_kernel: sums, norms and spreads of floats keep the promised bounds against exact arithmetic") {
    for (const auto& [type, range] : reduce_test::float_types) {
        const reduce_test::bounds bound{type == dtype::float64 ? 50U : 45U,
                                        type == dtype::float64 ? 1'000'000'000U : 1'000'000'000'000U};
        for (const auto which : reduce_test::kinds) {
            for (const std::size_t length : reduce_test::lengths()) {
                if (length > 40 && length < 60) {
                    continue;  // the exact sums take their time
                }
                CAPTURE(name_of(type));
                CAPTURE(static_cast<int>(which));
                CAPTURE(length);
                const auto values = reduce_test::numbers(which, length, range);
                std::vector<exact_element> elements;
                for (const double value : values) {
                    elements.push_back(reduce_test::element_of(value));
                }
                const auto tensor = reduce_test::float_tensor(type, values, length % 4);
                reduce_test::check_sums(reduced(tensor), elements, bound);
            }
        }
    }
}

TEST_CASE("scalar_kernel: min, max and counts are exact") {
    for (const auto& [type, range] : reduce_test::float_types) {
        for (const auto which : reduce_test::kinds) {
            for (const std::size_t length : reduce_test::lengths()) {
                CAPTURE(name_of(type));
                CAPTURE(static_cast<int>(which));
                CAPTURE(length);
                double low = length == 0 ? no_number : inf;
                double high = length == 0 ? no_number : -inf;
                double size_low = low;
                double size_high = length == 0 ? no_number : 0;
                std::uint64_t zeros = 0;
                const auto values = reduce_test::numbers(which, length, range);
                for (const double value : values) {
                    low = std::min(low, value);
                    high = std::max(high, value);
                    size_low = std::min(size_low, std::abs(value));
                    size_high = std::max(size_high, std::abs(value));
                    zeros += value == 0 ? 1U : 0U;
                }
                const auto found = reduced(reduce_test::float_tensor(type, values));
                CHECK(same(found(min), low + 0.0));
                CHECK(same(found(max), high + 0.0));
                CHECK(same(found(min, true), size_low));
                CHECK(same(found(max, true), size_high));
                CHECK(found.zeros == zeros);
                CHECK(found.nan + found.pos_inf + found.neg_inf == 0);
            }
        }
    }
}

TEST_CASE("scalar_kernel: a product neither overflows nor underflows on the way") {
    for (const auto& [type, range] : reduce_test::float_types) {
        for (const auto which : reduce_test::kinds) {
            for (const std::size_t length : {0U, 1U, 2U, 15U, 16U, 17U, 33U, 64U, 100U, 300U}) {
                CAPTURE(name_of(type));
                CAPTURE(static_cast<int>(which));
                CAPTURE(length);
                const auto values = reduce_test::numbers(which, length, range);
                std::vector<exact_element> elements;
                for (const double value : values) {
                    elements.push_back(reduce_test::element_of(value));
                }
                const auto found = reduced(reduce_test::float_tensor(type, values));
                CHECK(reduce_test::product_is_right(found(prod), elements));
                CHECK(found(prod, true) == std::abs(found(prod)));
            }
        }
    }
    std::vector<double> values(5000);
    for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = i % 2 == 0 ? 1e300 : 1e-300;
    }
    CHECK(of_doubles(values)(prod) == doctest::Approx(1).epsilon(1e-9));
    values.assign(5000, 3.0);
    CHECK(of_doubles(values)(prod) == inf);
    values[4999] = -3.0;
    CHECK(of_doubles(values)(prod) == -inf);
    values.assign(50'000, 3.0);
    values[0] = 0.0;
    CHECK(of_doubles(values)(prod) == 0);
    values[0] = 3.0;
    values[49'999] = -0.0;
    CHECK(same(of_doubles(values)(prod), 0.0));
    values.assign(50'000, -0.3);
    CHECK(same(of_doubles(values)(prod), 0.0));
}

TEST_CASE("scalar_kernel: NaN at any place makes every reduction NaN, and is counted") {
    for (const auto& [type, range] : reduce_test::float_types) {
        for (const std::size_t length : {1U, 16U, 37U, 130U, 2049U}) {
            for (std::size_t at = 0; at<length; at += length> 130 ? 97 : 1) {
                auto values = reduce_test::numbers(reduce_test::kind::with_zeros, length, range);
                const double replaced = values[at];
                values[at] = 0.0;
                const auto clean = reduced(reduce_test::float_tensor(type, values));
                std::vector<std::uint16_t> halves;
                reduce_test::owned_tensor tensor = [&] {
                    if (type == dtype::float32 || type == dtype::float64) {
                        values[at] = replaced < 0 ? -no_number : no_number;
                        return reduce_test::float_tensor(type, values);
                    }
                    for (const double value : values) {
                        halves.push_back(type == dtype::float16 ? reduce_test::half_bits(value)
                                                                : reduce_test::bfloat_bits(value));
                    }
                    halves[at] = type == dtype::float16 ? 0xFC01U : 0x7F81U;
                    return reduce_test::owned_tensor(type, halves);
                }();
                const auto found = reduced(tensor);
                CAPTURE(name_of(type));
                CAPTURE(length);
                CAPTURE(at);
                CHECK(found.nan == 1);
                CHECK(found.zeros == clean.zeros - 1);
                for (std::size_t i = 0; i < found.value.size(); ++i) {
                    CHECK(smdebug::is_nan(found.value[i]));
                }
                CHECK(found.computed == reduction_set::all());
            }
        }
    }
}

TEST_CASE("scalar_kernel: an infinity at any place goes where it has to") {
    for (const std::size_t length : {1U, 16U, 37U, 130U, 2049U}) {
        for (std::size_t at = 0; at<length; at += length> 130 ? 97 : 1) {
            for (const double sign : {1.0, -1.0}) {
                CAPTURE(length);
                CAPTURE(at);
                auto values = reduce_test::numbers(reduce_test::kind::one_sign, length, reduce_test::single_range);
                values[at] = sign * inf;
                for (const auto type : {dtype::float32, dtype::float64}) {
                    const auto found = reduced(reduce_test::float_tensor(type, values));
                    CHECK(found.nan == 0);
                    CHECK(found.pos_inf == (sign > 0 ? 1U : 0U));
                    CHECK(found.neg_inf == (sign < 0 ? 1U : 0U));
                    CHECK(found(sum) == sign * inf);
                    CHECK(found(mean) == sign * inf);
                    CHECK(found(sum, true) == inf);
                    CHECK(found(mean, true) == inf);
                    CHECK(found(l1) == inf);
                    CHECK(found(l2) == inf);
                    CHECK(found(max, true) == inf);
                    CHECK(smdebug::is_nan(found(deviation)));
                    CHECK(smdebug::is_nan(found(variance, true)));
                    CHECK((sign > 0 ? found(max) : found(min)) == sign * inf);
                    const bool negative = (length % 2 == 0) == (sign > 0);
                    CHECK(found(prod) == (negative ? -inf : inf));
                }
            }
        }
    }
    const auto both = of_doubles({inf, 1.0, -inf});
    CHECK(smdebug::is_nan(both(sum)));
    CHECK(smdebug::is_nan(both(mean)));
    CHECK(both(l1) == inf);
    CHECK(both(min) == -inf);
    CHECK(both(prod) == -inf);
    CHECK(smdebug::is_nan(of_doubles({inf, 0.0})(prod)));
}

TEST_CASE("scalar_kernel: an empty tensor has sum, norms 0, product 1, and the rest is NaN") {
    for (const auto type :
         {dtype::float32, dtype::float64, dtype::float16, dtype::int8, dtype::int64, dtype::boolean}) {
        const auto found = reduced(reduce_test::owned_tensor(type, std::vector<std::uint8_t>{}));
        CHECK(found.count == 0);
        CHECK(found.computed == reduction_set::all());
        for (const bool abs : {false, true}) {
            CHECK(same(found(sum, abs), 0.0));
            CHECK(same(found(l1, abs), 0.0));
            CHECK(same(found(l2, abs), 0.0));
            CHECK(found(prod, abs) == 1);
            for (const auto what : {min, max, mean, deviation, variance}) {
                CHECK(smdebug::is_nan(found(what, abs)));
            }
        }
    }
}

TEST_CASE("scalar_kernel: zeros have no sign in the results") {
    for (const auto& values :
         {std::vector<double>{-0.0}, std::vector<double>{0.0, -0.0}, std::vector<double>{-0.0, 0.0}}) {
        const auto found = of_doubles(values);
        for (std::size_t i = 0; i < found.value.size(); ++i) {
            CHECK(same(found.value[i], 0.0));
        }
        CHECK(found.zeros == values.size());
    }
}

TEST_CASE("scalar_kernel: a constant tensor has variance 0, whatever its length") {
    for (const double value : {0.1, -1e-3, 1e10 / 3, 1e300 / 7, 5e-324}) {
        for (const std::size_t length : {1U, 3U, 17U, 1000U, 2049U, 10'000U}) {
            CAPTURE(value);
            CAPTURE(length);
            const auto found = of_doubles(std::vector<double>(length, value));
            CHECK(found(mean) == value);
            CHECK(found(variance) == 0);
            CHECK(found(deviation, true) == 0);
        }
    }
}

namespace {

template <class Integer>
void check_integers(dtype type) {
    for (unsigned which = 0; which < reduce_test::integer_kinds; ++which) {
        for (const std::size_t length : {0U, 1U, 2U, 7U, 16U, 33U, 129U, 2047U, 2049U, 5000U}) {
            CAPTURE(name_of(type));
            CAPTURE(which);
            CAPTURE(length);
            const auto values = reduce_test::integers<Integer>(length, which);
            std::vector<exact_element> elements;
            Integer low = std::numeric_limits<Integer>::max();
            Integer high = std::numeric_limits<Integer>::min();
            std::uint64_t zeros = 0;
            for (const Integer value : values) {
                if constexpr (std::is_signed_v<Integer>) {
                    elements.push_back(reduce_test::element_of(std::int64_t{value}));
                } else {
                    elements.push_back(reduce_test::element_of(std::uint64_t{value}));
                }
                low = std::min(low, value);
                high = std::max(high, value);
                zeros += value == 0 ? 1U : 0U;
            }
            const auto found = reduced(reduce_test::owned_tensor(type, values, length % 4));
            reduce_test::check_sums(found, elements, {50, 1'000'000'000});
            if (length == 0) {
                continue;
            }
            CHECK(found(min) == static_cast<double>(low));
            CHECK(found(max) == static_cast<double>(high));
            CHECK(found.zeros == zeros);
            if (length < 40) {
                CHECK(reduce_test::product_is_right(found(prod), elements));
            }
            // Exactly, then rounded once: the sum is a double nearest to the exact one.
            const reduce_test::exact_sums exact(elements);
            for (const bool abs : {false, true}) {
                const auto wanted = abs ? exact.magnitudes : exact.sum;
                const double up = std::nextafter(found(sum, abs), inf);
                const double down = std::nextafter(found(sum, abs), -inf);
                const auto off = (reduce_test::big_of(found(sum, abs)) - wanted).absolute();
                CHECK(off <= (reduce_test::big_of(up) - wanted).absolute());
                CHECK(off <= (reduce_test::big_of(down) - wanted).absolute());
            }
        }
    }
}

}  // namespace

TEST_CASE("scalar_kernel: integers are summed exactly and rounded once") {
    check_integers<std::int8_t>(dtype::int8);
    check_integers<std::int16_t>(dtype::int16);
    check_integers<std::int32_t>(dtype::int32);
    check_integers<std::int64_t>(dtype::int64);
    check_integers<std::uint8_t>(dtype::uint8);
    check_integers<std::uint16_t>(dtype::uint16);
    check_integers<std::uint32_t>(dtype::uint32);
    check_integers<std::uint64_t>(dtype::uint64);
}

TEST_CASE("scalar_kernel: the absolute value of the smallest integer does not wrap") {
    CHECK(reduced(reduce_test::owned_tensor(dtype::int8, std::vector<std::int8_t>{-128}))(max, true) == 128);
    const std::vector<std::int64_t> smallest{std::numeric_limits<std::int64_t>::min(),
                                             std::numeric_limits<std::int64_t>::min()};
    const auto found = reduced(reduce_test::owned_tensor(dtype::int64, smallest));
    CHECK(found(l1) == 0x1p64);
    CHECK(found(sum) == -0x1p64);
    CHECK(found(mean, true) == 0x1p63);
}

TEST_CASE("scalar_kernel: a bool is 1 where its byte is not 0") {
    const auto found =
        reduced(reduce_test::owned_tensor(dtype::boolean, std::vector<std::uint8_t>{0, 1, 1, 0, 255, 2}));
    CHECK(found(sum) == 4);
    CHECK(found(max) == 1);
    CHECK(found(min) == 0);
    CHECK(found.zeros == 2);
    CHECK(found(prod) == 0);
}

TEST_CASE("scalar_kernel: complex tensors have magnitudes, and only what magnitudes mean") {
    constexpr std::array<std::array<double, 3>, 4> triples{{{3, 4, 5}, {-5, 12, 13}, {8, -15, 17}, {-20, -21, 29}}};
    for (const int scale : {0, -60, 60, -1000, 980, -1060}) {
        for (const std::size_t length : {0U, 1U, 5U, 16U, 50U, 3000U}) {
            for (const auto type : {dtype::complex64, dtype::complex128}) {
                if (type == dtype::complex64 && std::abs(scale) > 100) {
                    continue;
                }
                CAPTURE(scale);
                CAPTURE(length);
                std::vector<double> parts;
                std::vector<exact_element> magnitudes;
                for (std::size_t i = 0; i < length; ++i) {
                    const auto& [re, im, size] = triples[i % triples.size()];
                    parts.push_back(std::ldexp(re, scale + static_cast<int>(i % 7)));
                    parts.push_back(std::ldexp(im, scale + static_cast<int>(i % 7)));
                    magnitudes.push_back(reduce_test::element_of(std::ldexp(size, scale + static_cast<int>(i % 7))));
                }
                const auto tensor =
                    type == dtype::complex64
                        ? reduce_test::owned_tensor(type, std::vector<float>(parts.begin(), parts.end()), 3)
                        : reduce_test::owned_tensor(type, parts, 1);
                const auto found = reduced(tensor);
                reduce_test::check_sums(found, magnitudes, {50, 1'000'000'000}, false);
                for (const auto what : {min, max, mean, deviation, variance, sum, prod}) {
                    CHECK_FALSE(found.computed.contains({what, false}));
                    CHECK(found.computed.contains({what, true}));
                    CHECK(smdebug::is_nan(found(what)));
                }
                CHECK(found.computed.contains({l1, false}));
                CHECK(found.computed.contains({l2, true}));
            }
        }
    }
    const double most = std::numeric_limits<double>::max();
    const auto big_one = reduced(reduce_test::owned_tensor(dtype::complex128, std::vector<double>{most, most}));
    CHECK(big_one(l1) == inf);
    CHECK(big_one.pos_inf == 0);
    const auto special = reduced(reduce_test::owned_tensor(
        dtype::complex128, std::vector<double>{1, 2, inf, 1, no_number, inf, 0, no_number, 0, 0, 0, -inf}));
    CHECK(special.nan == 2);
    CHECK(special.pos_inf == 2);
    CHECK(special.neg_inf == 0);
    CHECK(special.zeros == 1);
    CHECK(smdebug::is_nan(special(l1)));
}

TEST_CASE("scalar_kernel: unwanted values are NaN and not in `computed`; wanted values do not change") {
    const auto values = reduce_test::numbers(reduce_test::kind::drifting, 5000, reduce_test::single_range);
    for (const auto type : {dtype::float32, dtype::float64}) {
        const auto tensor = reduce_test::float_tensor(type, values);
        const auto all = reduced(tensor);
        for (std::size_t i = 0; i < 18; ++i) {
            const auto key = reduction_key::from_index(i);
            const auto some = reduced(tensor, key);
            CHECK(some.computed.contains(key));
            for (std::size_t j = 0; j < 18; ++j) {
                const bool has = some.computed.contains(reduction_key::from_index(j));
                CHECK(same(some.value[j], has ? all.value[j] : no_number));
            }
        }
        const auto only_mean = reduced(tensor, reduction_set{mean});
        CHECK(only_mean.computed == (reduction_set{mean} | reduction_set{sum}));
        CHECK(reduced(tensor, reduction_set::counts()).computed.has_counts());
        CHECK(reduced(tensor, reduction_set{}).count == 5000);
    }
}

TEST_CASE("scalar_kernel: strings and unknown dtypes are unsupported") {
    const std::array<std::string_view, 2> words{"a", "b"};
    tensor_view tensor;
    tensor.type = dtype::string;
    tensor.strings = words;
    CHECK(scalar_kernel{}.reduce(tensor, reduction_set::all()).code() == status::unsupported);
    tensor.type = dtype::invalid;
    CHECK(scalar_kernel{}.reduce(tensor, reduction_set::all()).code() == status::unsupported);
    CHECK(scalar_kernel{}.name() == "scalar");
}
