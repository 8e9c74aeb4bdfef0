#include <smdebug/reduce/element_walks.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

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
    CHECK(std::isnan(with_nan[0]));
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
