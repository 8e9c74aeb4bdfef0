#include <smdebug/rules/judge/closeness.hpp>

#include "support/fake_trial.hpp"
#include "support/run_builder.hpp"

#include <smdebug/trial/basic_trial.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <random>
#include <span>
#include <string>
#include <vector>

using namespace smdebug;
using namespace smdebug_test;
using rules::detail::likeness;
using rules::detail::tolerance;

namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double inf = std::numeric_limits<double>::infinity();

template <class T>
tensor_value values_of(const std::vector<T>& values) {
    return tensor_value::copy_of<T>({values.size()}, std::span<const T>{values});
}

bool close(std::vector<double> a, std::vector<double> b, const tolerance& within = {}) {
    return rules::detail::allclose(values_of(a), values_of(b), within);
}

rules::detail::saved_tensor<fake_tensor> fake(const fake_tensor& tensor) {
    return {tensor, tensor.name(), 0, "worker_0"};
}

}  // namespace

TEST_CASE("closeness: a value may be apart by atol and a part of its reference, which makes the order matter") {
    CHECK(close({1, 2}, {1, 2}));
    CHECK(close({1.00001}, {1}));
    CHECK_FALSE(close({1.00002}, {1}));
    CHECK(close({1e-8}, {0}));
    CHECK_FALSE(close({2e-8}, {0}));
    CHECK(close({0}, {10}, {.rtol = 1, .atol = 0}));
    CHECK_FALSE(close({10}, {0}, {.rtol = 1, .atol = 0}));
    CHECK(close({5}, {5}, {.rtol = 0, .atol = 0}));
}

TEST_CASE("closeness: infinities are close to themselves alone, NaN to NaN where asked for") {
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

TEST_CASE("closeness: other shapes are not close, other dtypes may be") {
    CHECK_FALSE(close({1}, {1, 1}));
    CHECK_FALSE(rules::detail::allclose(tensor_value::copy_of<float>({2, 1}, std::vector<float>{1, 2}),
                                        tensor_value::copy_of<float>({1, 2}, std::vector<float>{1, 2})));
    CHECK(rules::detail::allclose(values_of<float>({1, 2}), values_of<std::int64_t>({1, 2})));
    CHECK(rules::detail::allclose(values_of<std::uint8_t>({0, 1}), values_of<double>({0, 1})));
    CHECK_FALSE(rules::detail::allclose(values_of<std::int32_t>({1, 2}), values_of<std::int32_t>({1, 3})));
    CHECK(rules::detail::allclose(values_of<float>({}), values_of<float>({})));
}

TEST_CASE("closeness: the first difference is found wherever it lies, by blocks as by one value after another") {
    std::mt19937 random{7};
    for (const std::size_t size : {std::size_t{1}, rules::detail::pair_block - 1, rules::detail::pair_block,
                                   rules::detail::pair_block + 1, 3 * rules::detail::pair_block + 17}) {
        std::vector<float> a(size);
        for (float& each : a) {
            each = std::uniform_real_distribution<float>{-2, 2}(random);
        }
        CHECK_FALSE(rules::detail::first_difference(values_of(a), values_of(a), {}));
        for (const std::size_t at : {std::size_t{0}, size / 2, size - 1}) {
            std::vector<float> b = a;
            b[at] += 1;
            b[size - 1] += 1;
            CHECK(rules::detail::first_difference(values_of(a), values_of(b), {}) == at);
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

TEST_CASE("closeness: extrema never prove a difference between tensors that are close, be they rounded to float32") {
    std::mt19937 random{11};
    const auto rounded = [](double value) { return static_cast<double>(static_cast<float>(value)); };
    std::size_t proven = 0;
    for (int round = 0; round < 4000; ++round) {
        const tolerance within{.rtol = round % 2 == 0 ? 1e-5 : 1e-9, .atol = round % 3 == 0 ? 0 : 1e-8};
        std::vector<double> a(8);
        std::vector<double> b(8);
        for (std::size_t i = 0; i < a.size(); ++i) {
            b[i] = std::normal_distribution<double>{0, 1}(random);
            const double far = round % 5 == 0 ? 4 : 1;
            a[i] = b[i] + far * std::uniform_real_distribution<double>{-1, 1}(random)*within.allowed(b[i]);
        }
        double max_a = -inf;
        double max_b = -inf;
        double abs_b = 0;
        for (std::size_t i = 0; i < a.size(); ++i) {
            max_a = std::max(max_a, a[i]);
            max_b = std::max(max_b, b[i]);
            abs_b = std::max(abs_b, std::abs(b[i]));
        }
        if (rules::detail::extrema_differ(rounded(max_a), rounded(max_b), rounded(abs_b), within)) {
            ++proven;
            CHECK_FALSE(close(a, b, within));
        }
    }
    CHECK(proven > 0);
    CHECK(rules::detail::extrema_differ(1, 2, 2, {}));
    CHECK_FALSE(rules::detail::extrema_differ(not_a_number, 2, 2, {}));
    CHECK_FALSE(rules::detail::extrema_differ(1, 2, not_a_number, {}));
    CHECK(rules::detail::extrema_differ(inf, 2, 2, {}));
    CHECK_FALSE(rules::detail::extrema_differ(inf, 1e300, 1e300, {}));  // float32 holds neither
}

TEST_CASE("closeness: saved tensors are compared by reductions first, then by values") {
    const fake_tensor one{"one", {{0, {1, -3}}}};
    const fake_tensor two{"two", {{0, {1, -4}}}};
    const auto apart = rules::detail::compare_saved(fake(one), fake(two), {});
    CHECK(apart.result == likeness::different);
    CHECK(apart.what == "largest absolute value");
    CHECK(apart.value == "3");
    CHECK(apart.reference == "4");
    CHECK(apart.apart == 1);
    const auto same = rules::detail::compare_saved(fake(one), fake(one), {});
    CHECK(same.result == likeness::unknown);
    CHECK_FALSE(same.note.message.empty());

    memory_storage store;
    run_builder{store}
        .collections()
        .step({.step = 0,
               .tensors = {tensor_of<float>("a", {1, 5, 3}), tensor_of<float>("b", {1, 5, 2}),
                           tensor_of<float>("c", {1, 5, 3}, {3, 1}), tensor_of<float>("empty", {}),
                           tensor_of<std::complex<float>>("complex", {{1, 0}}), tensor_of<std::uint8_t>("bytes", {7}),
                           written_tensor{"text", dtype::string, {0}, {}}}})
        .end();
    const memory_trial run{store};
    const auto compare = [&](std::string a, std::string b) {
        const auto of_a = run.tensor(a);
        const auto of_b = run.tensor(b);
        return rules::detail::compare_saved(rules::detail::saved_tensor{of_a, a, 0, "worker_0"},
                                            rules::detail::saved_tensor{of_b, b, 0, "worker_0"}, {});
    };
    CHECK(compare("a", "a").result == likeness::same);
    CHECK(compare("bytes", "bytes").result == likeness::same);
    const auto differing = compare("a", "b");
    CHECK(differing.result == likeness::different);
    CHECK(differing.what == "value 2 of 3");
    CHECK(differing.apart == 1);
    CHECK(differing.allowed == doctest::Approx(2.001e-5));
    const auto shapes = compare("a", "c");
    CHECK(shapes.result == likeness::different);
    CHECK(shapes.what == "shape");
    CHECK(shapes.value == "(3)");
    CHECK(shapes.reference == "(3x1)");
    CHECK(compare("empty", "empty").result == likeness::not_comparable);
    CHECK(compare("a", "empty").result == likeness::not_comparable);
    CHECK(compare("complex", "complex").result == likeness::not_comparable);
    CHECK(compare("text", "text").result == likeness::not_comparable);
    CHECK(compare("a", "text").result == likeness::not_comparable);
    CHECK(compare("complex", "a").result == likeness::not_comparable);
}

TEST_CASE("closeness: an impossible tolerance is refused by its name") {
    CHECK_NOTHROW(rules::detail::check_tolerance("rule", {.rtol = 0, .atol = 0}));
    CHECK_THROWS_WITH_AS(rules::detail::check_tolerance("rule", {.rtol = -1}), doctest::Contains("rule: rtol is -1"),
                         value_error);
    CHECK_THROWS_WITH_AS(rules::detail::check_tolerance("rule", {.atol = not_a_number}),
                         doctest::Contains("atol is nan"), value_error);
    CHECK_THROWS_AS(rules::detail::check_tolerance("rule", {.rtol = inf}), value_error);
}
