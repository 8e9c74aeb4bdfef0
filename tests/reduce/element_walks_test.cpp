#include <smdebug/core/float_kinds.hpp>
#include <smdebug/reduce/element_walks.hpp>

#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug::reduce::detail;
using doubles = std::vector<double>;

namespace {

template <class T>
tensor_value tensor_of(const std::vector<T>& values, shape_type shape) {
    return tensor_value::copy_of<T>(std::move(shape), std::span<const T>{values});
}

const tensor_value complex = tensor_of<std::complex<float>>({{1, 0}}, {1});

}  // namespace

TEST_CASE("channel_sums: sums interleaved and contiguous channels, over all images") {
    CHECK(channel_sums(tensor_of<std::uint8_t>({1, 2, 3, 4, 5, 6, 7, 8}, {2, 2, 2}), 2, 2) == doubles{14, 22});
    CHECK(channel_sums(tensor_of<float>({1, 2, 3, 4}, {2, 1, 2}), 2, 1) == doubles{4, 6});
    std::vector<float> many(2 * 3 * 37);
    doubles expected(3);
    for (std::size_t i = 0; i < many.size(); ++i) {
        many[i] = static_cast<float>(i);
        expected[i / 37 % 3] += static_cast<double>(i);
    }
    CHECK(channel_sums(tensor_of(many, {2, 3, 37}), 3, 37) == expected);
    CHECK_FALSE(channel_sums(complex, 1, 1));
}

TEST_CASE("row_argmax: the first of the largest of each row; NaN for a row with NaN") {
    CHECK(row_argmax(tensor_of<std::int32_t>({1, 3, 3, 9, 0, 2}, {2, 3})) == doubles{1, 0});
    const doubles with_nan = row_argmax(tensor_of<double>({1, std::nan(""), 0, 2}, {2, 2}));
    REQUIRE(with_nan.size() == 2);
    CHECK(smdebug::is_nan(with_nan[0]));
    CHECK(with_nan[1] == 1);
    CHECK(row_argmax(tensor_of<float>({1}, {})).empty());
    CHECK(row_argmax(tensor_of<float>({}, {3, 0})).empty());
    CHECK(row_argmax(complex).empty());
}

TEST_CASE("count_equal: by the elements as doubles, whatever their type") {
    CHECK(count_equal(tensor_of<float>({1, 2, 1, std::nanf("")}, {4}), 1) == 2);
    CHECK(count_equal(tensor_of<double>({0.1, 0.5}, {2}), 0.1) == 1);
    CHECK(count_equal(tensor_of<std::uint8_t>({255, 0, 255}, {3}), 255) == 2);
    CHECK(count_equal(tensor_of<std::uint8_t>({255, 0, 255}, {3}), 255.5) == 0);
    CHECK(count_equal(tensor_of<std::uint8_t>({255, 0, 255}, {3}), -1) == 0);
    constexpr std::int64_t large = std::int64_t{1} << 53U;  // as doubles these two are one
    CHECK(count_equal(tensor_of<std::int64_t>({large, large + 1}, {2}), static_cast<double>(large)) == 2);
    const std::vector<std::string_view> texts{"1"};
    CHECK(count_equal(tensor_value::of_strings({1}, texts), 1) == 0);
    CHECK(count_equal(complex, 1) == 0);
}

TEST_CASE("count_small: zeros of either sign, and subnormal numbers of narrow floats") {
    const auto halves = tensor_of<float16>({float16{0.0F}, float16{-0.0F}, float16{1e-6F}, float16{1.0F}}, {4});
    const small_counts found = count_small(halves);
    CHECK(found.type == dtype::float16);
    CHECK(found.elements == 4);
    CHECK(found.zeros == 2);
    CHECK(found.subnormals == 1);
    CHECK(count_small(tensor_of<float>({0, 1e-40F}, {2})).subnormals == 0);
    CHECK(count_small(tensor_of<float>({0, 1e-40F, 0}, {3})).zeros == 1);  // up to the first that is none
    CHECK(count_small(tensor_of<float>({0, 1e-40F, 0}, {3})).elements == 3);
    CHECK(count_small(tensor_of(std::vector<double>(5000), {5000})).zeros == 5000);
    std::vector<float16> many(70000, float16{1e-6F});
    many[69999] = float16{0.0F};
    CHECK(count_small(tensor_of(many, {70000})).subnormals == 69999);
    CHECK(count_small(tensor_of(many, {70000})).zeros == 1);
    CHECK(count_small(tensor_of(std::vector<float8_e5m2>(1000), {1000})).zeros == 1000);
    CHECK(count_small(complex).elements == 0);
    CHECK(least_normal(dtype::bfloat16) == 0x1p-126);
    CHECK(least_normal(dtype::float32) == 0);
}

TEST_CASE("sums_by_last_axis, counts_of_numbers: loads, and the first element that can be none") {
    std::vector<float> values(3 * 3000, 0.5F);
    values[3000] = 2;
    const expert_sums sums = sums_by_last_axis(tensor_of(values, {3, 3000}));
    REQUIRE(sums.sum.size() == 3000);
    CHECK(sums.sum[0] == 3);
    CHECK(sums.sum[2999] == 1.5);
    CHECK(sums.finite);
    CHECK_FALSE(sums.wrong);
    CHECK(sums_by_last_axis(tensor_of<float16>({float16{1.0F}, float16{-2.0F}, float16{-3.0F}}, {3})).wrong == -2);
    CHECK_FALSE(sums_by_last_axis(tensor_of<double>({1, std::nan("")}, {2})).finite);
    CHECK_FALSE(sums_by_last_axis(tensor_of<double>({1, HUGE_VAL}, {2})).finite);
    CHECK(sums_by_last_axis(tensor_of<std::uint8_t>({1, 0, 1, 1}, {2, 2})).sum == doubles{2, 1});
    CHECK(counts_of_numbers(tensor_of<std::int32_t>({0, 2, 2, -1}, {2, 2}), 3).sum == doubles{1, 0, 2});
    CHECK(counts_of_numbers(tensor_of<std::int32_t>({0, 3, 4}, {3}), 3).wrong == 3);
    CHECK(counts_of_numbers(tensor_of<float>({0.5F}, {1}), 3).wrong == 0.5);
    CHECK_FALSE(counts_of_numbers(tensor_of<double>({std::nan("")}, {1}), 3).finite);
}

TEST_CASE("entropies_of_rows: across the blocks in which elements come") {
    std::vector<double> values(3 * 5000, 1.0 / 5000);
    for (std::size_t i = 5000; i < 10000; ++i) {
        values[i] = i == 7000 ? 1 : 0;
    }
    const row_entropies all = entropies_of_rows(tensor_of(values, {3, 5000}), {});
    CHECK(all.what == row_entropies::outcome::found);
    CHECK(all.least == doctest::Approx(2.0 / 3));
    CHECK(all.rows_of_least == 3);
    const row_entropies heads = entropies_of_rows(tensor_of(values, {3, 5000}), {.head_axis = 0});
    CHECK(heads.least == 0);
    CHECK(heads.least_group == 1);
    CHECK(heads.greatest == doctest::Approx(1));
    CHECK(entropies_of_rows(complex, {}).what == row_entropies::outcome::not_real);
}

TEST_CASE("entropies_of_rows: with `enough` a bound below the entropy, or what is found without it") {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const double inf = std::numeric_limits<double>::infinity();
    std::vector<std::vector<double>> tensors{
        {.25, .25, .25, .25}, {1, 0, 0, 0},     {.5, .5, 0, 0},     {.97, .01, .01, .01},        {0, 0, 0, 0},
        {.5, nan, .5, 0},     {.5, inf, 0, 0},  {-.5, .5, 1, 0},    {-.005, .5, .505, 0},        {.3, .3, .3, .3},
        {1e-200, 0, 0, 0},    {1e200, 1, 0, 0}, {.505, .505, 0, 0}, {.2525, .2525, .2525, .2525}};
    tensors.emplace_back(37, 1.0 / 37);
    tensors.emplace_back(5000, 1.0 / 5000);
    for (const std::vector<double>& values : tensors) {
        CAPTURE(values[0]);
        const tensor_value tensor = tensor_of(values, {1, values.size()});
        const row_entropies exact = entropies_of_rows(tensor, {});
        for (const double enough : {0.0, 0.05, 0.5, 1.0}) {
            const row_entropies found = entropies_of_rows(tensor, {.enough = enough});
            CHECK(found.what == exact.what);
            CHECK(found.rows_of_least == exact.rows_of_least);
            CHECK((found.least == exact.least || (enough <= found.least && found.least <= exact.least)));
            CHECK((found.least < enough) == (exact.least < enough));
        }
    }
    const row_entropies bound = entropies_of_rows(tensor_of<double>({.7, .1, .1, .1}, {1, 4}), {.enough = 0.05});
    CHECK(bound.least > 0.3);
    CHECK(bound.least < entropies_of_rows(tensor_of<double>({.7, .1, .1, .1}, {1, 4}), {}).least);
}
