#include <smdebug/reduce/allclose.hpp>
#include <smdebug/reduce/element_differences.hpp>
#include <smdebug/reduce/element_walks.hpp>
#include <smdebug/reduce/histogram.hpp>
#include <smdebug/reduce/quantiles.hpp>
#include <smdebug/reduce/scalar_kernel.hpp>
#include <smdebug/reduce/simd_kernel.hpp>
#include <smdebug/reduce/subnormals.hpp>

#include "support/test.hpp"

#include <smdebug/core/strict_math/begin.ipp>

namespace smd = smdebug;
using namespace smdebug::reduce::detail;

namespace {

// What a program linked with -Ofast by g++ starts with.
class flushing {
public:
#if defined(__x86_64__)
    flushing() { set(before_ | 0x8040U); }
    ~flushing() { set(before_); }
    static std::uint32_t control() {
        std::uint32_t value;
        __asm__ volatile("stmxcsr %0" : "=m"(value));
        return value;
    }

private:
    static void set(std::uint32_t value) { __asm__ volatile("ldmxcsr %0" : : "m"(value) : "memory"); }
#elif defined(__aarch64__)
    flushing() { set(before_ | (std::uint64_t{1} << 24U)); }
    ~flushing() { set(before_); }
    static std::uint64_t control() {
        std::uint64_t value;
        __asm__ volatile("mrs %0, fpcr" : "=r"(value));
        return value;
    }

private:
    static void set(std::uint64_t value) { __asm__ volatile("msr fpcr, %0" : : "r"(value) : "memory"); }
#endif
    decltype(control()) before_ = control();
};

constexpr float tiny = 1e-40F;  // subnormal, as are its multiples below

std::vector<float> numbers() {
    std::vector<float> all(100, tiny);
    all[3] = 0;
    all[99] = 2 * tiny;
    return all;
}

smd::tensor_view view_of(const std::vector<float>& all, const std::array<std::size_t, 1>& shape) {
    return {smd::dtype::float32, shape, std::as_bytes(std::span{all}), {}};
}

}  // namespace

TEST_CASE("subnormals_kept: only while it lives, and within another") {
    const flushing as_with_fast_math;
    volatile float factor = 0.5F;
    CHECK(tiny * factor == 0);
    {
        const subnormals_kept here;
        CHECK(tiny * factor > 0);
        {
            const subnormals_kept again;
            CHECK(tiny * factor > 0);
        }
        CHECK(tiny * factor > 0);
    }
    CHECK(tiny * factor == 0);
}

TEST_CASE("reductions and measures: the same whether the caller's thread flushes subnormal numbers or not") {
    const std::vector<float> all = numbers();
    std::vector<float> moved = all;
    moved[50] = 0;
    const std::array<std::size_t, 1> shape{all.size()};
    const smd::tensor_view tensor = view_of(all, shape);
    const smd::tensor_view other = view_of(moved, shape);
    const std::array<double, 2> shares{0.5, 1};
    const auto look = [&] {
        std::vector<double> found;
        for (const auto& values : {smd::scalar_kernel{}.reduce(tensor, smd::reduction_set::all()),
                                   smd::simd_kernel<>{}.reduce(tensor, smd::reduction_set::all())}) {
            found.insert(found.end(), values->value.begin(), values->value.end());
            found.push_back(static_cast<double>(values->zeros));
        }
        for (const double one : *smd::quantiles(tensor, shares)) {
            found.push_back(one);
        }
        const auto bars = smd::histogram_of(tensor);
        found.insert(found.end(), bars->buckets.begin(), bars->buckets.end());
        found.push_back(bars->min);
        found.push_back(bars->max);
        const small_counts small = count_small(tensor);
        found.push_back(static_cast<double>(small.zeros));
        found.push_back(static_cast<double>(small.subnormals));
        found.push_back(static_cast<double>(count_equal(tensor, 0)));
        element_comparison compared{smd::dtype::float32};
        compared.add(tensor.bytes, other.bytes);
        found.push_back(compared.largest());
        found.push_back(allclose(tensor, other, {.rtol = 0, .atol = 0}) ? 1 : 0);
        found.push_back(mean_abs_of_difference(tensor, other).difference);
        return found;
    };
    std::vector<double> expected = look();
    std::vector<double> found;
    {
        const flushing as_with_fast_math;
        found = look();
    }
    CHECK(expected.at(0) == 0);
    CHECK(std::as_bytes(std::span{found}).size() == std::as_bytes(std::span{expected}).size());
    REQUIRE(found.size() == expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
        CAPTURE(i);
        CHECK(std::bit_cast<std::uint64_t>(found[i]) == std::bit_cast<std::uint64_t>(expected[i]));
    }
}
#include <smdebug/core/strict_math/end.ipp>
