#include <smdebug/reduce/allclose.hpp>

#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug::reduce::detail;

namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double inf = std::numeric_limits<double>::infinity();

template <class T>
tensor_value values_of(const std::vector<T>& values) {
    return tensor_value::copy_of<T>({values.size()}, std::span<const T>{values});
}

bool close(std::vector<double> a, std::vector<double> b, const tolerance& within = {}) {
    return allclose(values_of(a), values_of(b), within);
}

}  // namespace

TEST_CASE("allclose: a value may be apart by atol and a part of its reference, which makes the order matter") {
    CHECK(close({1, 2}, {1, 2}));
    CHECK(close({1.00001}, {1}));
    CHECK_FALSE(close({1.00002}, {1}));
    CHECK(close({1e-8}, {0}));
    CHECK_FALSE(close({2e-8}, {0}));
    CHECK(close({0}, {10}, {.rtol = 1, .atol = 0}));
    CHECK_FALSE(close({10}, {0}, {.rtol = 1, .atol = 0}));
    CHECK(close({5}, {5}, {.rtol = 0, .atol = 0}));
}

TEST_CASE("allclose: infinities are close only to themselves, NaN to NaN with equal_nan") {
    CHECK(close({inf, -inf}, {inf, -inf}));
    CHECK(close({inf}, {inf}, {.rtol = 0, .atol = 0}));
    CHECK_FALSE(close({inf}, {-inf}));
    CHECK_FALSE(close({1}, {inf}));
    CHECK_FALSE(close({inf}, {1}));
    CHECK_FALSE(close({not_a_number}, {not_a_number}));
    CHECK(close({not_a_number, 1}, {not_a_number, 1}, {.equal_nan = true}));
    CHECK_FALSE(close({not_a_number}, {1}, {.equal_nan = true}));
    CHECK_FALSE(close({1}, {not_a_number}, {.equal_nan = true}));
    CHECK_FALSE(close({not_a_number}, {inf}, {.equal_nan = true}));
}

TEST_CASE("allclose: other shapes are not close, other dtypes may be") {
    CHECK_FALSE(close({1}, {1, 1}));
    CHECK_FALSE(allclose(tensor_value::copy_of<float>({2, 1}, std::vector<float>{1, 2}),
                         tensor_value::copy_of<float>({1, 2}, std::vector<float>{1, 2})));
    CHECK(allclose(values_of<float>({1, 2}), values_of<std::int64_t>({1, 2})));
    CHECK(allclose(values_of<std::uint8_t>({0, 1}), values_of<double>({0, 1})));
    CHECK_FALSE(allclose(values_of<std::int32_t>({1, 2}), values_of<std::int32_t>({1, 3})));
    CHECK(allclose(values_of<float>({}), values_of<float>({})));
}

TEST_CASE("allclose: the first difference is found wherever it lies, by blocks as by one value after another") {
    std::mt19937 random{7};
    for (const std::size_t size : {std::size_t{1}, pair_block - 1, pair_block, pair_block + 1, 3 * pair_block + 17}) {
        std::vector<float> a(size);
        for (float& each : a) {
            each = std::uniform_real_distribution<float>{-2, 2}(random);
        }
        CHECK_FALSE(first_difference(values_of(a), values_of(a), {}));
        for (const std::size_t at : {std::size_t{0}, size / 2, size - 1}) {
            std::vector<float> b = a;
            b[at] += 1;
            b[size - 1] += 1;
            CHECK(first_difference(values_of(a), values_of(b), {}) == at);
        }
    }
    const std::vector<double> odd{0, 1, 1 + 5e-6, 1 + 5e-5, inf, -inf, not_a_number, 1e308, -1e308};
    for (const double a : odd) {
        for (const double b : odd) {
            for (const bool equal_nan : {false, true}) {
                const tolerance within{.equal_nan = equal_nan};
                CHECK(close({a}, {b}, within) == within.close(a, b));
            }
        }
    }
}
