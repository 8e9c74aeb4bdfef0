// Compiled once for the baseline and again with -mavx2 -mfma and -mavx512...: everything here is about
// xsimd::default_arch, whatever that is.  same_bits_test.cpp, which is compiled as often, ties these programs together.
#include <smdebug/reduce/scalar_kernel.hpp>
#include <smdebug/reduce/simd_kernel.hpp>

#include <reduce/answers.hpp>
#include <reduce/corpus.hpp>
#include <support/skipped.hpp>
#include "support/test.hpp"

#include <smdebug/core/strict_math/begin.ipp>

using namespace smdebug;
using reduce_test::same_bits;

static_assert(reduction_kernel<simd_kernel<>>);
static_assert(std::is_empty_v<simd_kernel<>>);
static_assert(std::is_same_v<simd_kernel<>, simd_kernel<xsimd::default_arch>>);

namespace {

constexpr std::array sets{reduction_set::all(),
                          reduction_set::counts(),
                          reduction_set{reduction::mean},
                          reduction_set{reduction::std} | reduction_set{reduction::l2, true},
                          reduction_set{reduction::min} | reduction_set{reduction::l1},
                          reduction_set{reduction::prod}};

/// Whether the CPU has what this file was compiled for.
bool cpu_can_run_this() {
#if defined(__AVX512F__)
    const bool can = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                     __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
#elif defined(__AVX2__)
    const bool can = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
    const bool can = true;
#endif
    if (!can) {
        smdebug_test::skipped(smdebug_test::lacking::processor,
                              std::string{"this CPU has no "} + xsimd::default_arch::name());
    }
    return can;
}

/// Every 16-bit float, NaN and infinities among them, in one tensor a sign.
std::vector<reduce_test::owned_tensor> all_halves(dtype type) {
    std::vector<reduce_test::owned_tensor> tensors;
    for (const unsigned begin : {0U, 0x4000U, 0x7000U, 0x8000U, 0xC000U}) {
        std::vector<std::uint16_t> bits;
        for (unsigned i = begin; i < begin + 0x3C00U; ++i) {
            bits.push_back(static_cast<std::uint16_t>(i));
        }
        tensors.emplace_back(type, bits, 1);
    }
    return tensors;
}

template <class Kernel>
void check_against_scalar(const Kernel& kernel, const reduce_test::owned_tensor& tensor) {
    for (const auto set : sets) {
        const auto wanted = scalar_kernel{}.reduce(tensor.view(), set);
        const auto found = kernel.reduce(tensor.view(), set);
        REQUIRE(wanted.ok());
        REQUIRE(found.ok());
        CAPTURE(name_of(tensor.view().type));
        CAPTURE(tensor.view().count());
        CHECK(same_bits(*found, *wanted));
    }
}

}  // namespace

TEST_CASE("simd_kernel: the same bits as the scalar kernel, for every dtype, length, alignment and set") {
    if (!cpu_can_run_this()) {
        return;
    }
    MESSAGE("kernel: ", simd_kernel<>{}.name());
    reduce_test::for_each_tensor(reduce_test::lengths(),
                                 [](const auto& tensor) { check_against_scalar(simd_kernel<>{}, tensor); });
}

#if defined(__x86_64__)
TEST_CASE("simd_kernel: the same bits with SSE2, whatever else the file is compiled for") {
    if (!cpu_can_run_this()) {
        return;
    }
    reduce_test::for_each_tensor(reduce_test::lengths(),
                                 [](const auto& tensor) { check_against_scalar(simd_kernel<xsimd::sse2>{}, tensor); });
}
#endif

TEST_CASE("simd_kernel: NaN and infinities at every lane and tail position, as the scalar kernel has them") {
    if (!cpu_can_run_this()) {
        return;
    }
    constexpr double inf = std::numeric_limits<double>::infinity();
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    for (const auto type : {dtype::float32, dtype::float64}) {
        for (const auto which : {reduce_test::kind::uniform, reduce_test::kind::with_zeros}) {
            for (const std::size_t length : {1U, 15U, 16U, 17U, 31U, 70U, 130U, 2048U + 33U}) {
                for (std::size_t at = length > 130 ? 2030 : 0; at < length; ++at) {
                    auto values = reduce_test::numbers(which, length, reduce_test::single_range);
                    for (const double special : {nan, inf, -inf, -nan}) {
                        values[at] = special;
                        check_against_scalar(simd_kernel<>{}, reduce_test::float_tensor(type, values, at % 4));
                    }
                    values[length - 1 - at] = inf;
                    check_against_scalar(simd_kernel<>{}, reduce_test::float_tensor(type, values));
                }
            }
        }
    }
    for (const auto type : {dtype::float16, dtype::bfloat16}) {
        for (const auto& tensor : all_halves(type)) {
            check_against_scalar(simd_kernel<>{}, tensor);
        }
    }
}

TEST_CASE("simd_kernel: complex numbers with NaN, infinite, huge and tiny parts at every lane and tail position") {
    if (!cpu_can_run_this()) {
        return;
    }
    const auto check = [](dtype type, auto one) {
        using real = decltype(one);
        using limits = std::numeric_limits<real>;
        for (const std::size_t length : {1U, 16U, 33U, 70U}) {
            for (std::size_t at = 0; at < 2 * length; ++at) {
                const auto numbers =
                    reduce_test::numbers(reduce_test::kind::uniform, 2 * length, reduce_test::half_range);
                std::vector<real> parts(numbers.begin(), numbers.end());
                for (const real odd : {limits::quiet_NaN(), limits::infinity(), -limits::infinity(), limits::max(),
                                       -limits::denorm_min(), real{0}}) {
                    parts[at] = odd;
                    check_against_scalar(simd_kernel<>{}, reduce_test::owned_tensor(type, parts, at % 4));
                }
            }
        }
    };
    check(dtype::complex64, 1.0F);
    check(dtype::complex128, 1.0);
}

TEST_CASE("simd_kernel: strings are unsupported, and the name contains the instruction set") {
    const std::array<std::string_view, 1> words{"a"};
    tensor_view tensor;
    tensor.type = dtype::string;
    tensor.strings = words;
    CHECK(simd_kernel<>{}.reduce(tensor, reduction_set::all()).code() == status::unsupported);
    CHECK(simd_kernel<>{}.name() == "simd<" + std::string{xsimd::default_arch::name()} + ">");
}

TEST_CASE("simd_kernel, scalar_kernel: a tensor whose last value repeats has the same bits in two parts as in one") {
    if (!cpu_can_run_this()) {
        return;
    }
    std::size_t tensors = 0;
    reduce_test::for_each_repeated([&](const reduce_test::repeated_tensor& tensor) {
        ++tensors;
        const std::vector<std::byte> bytes = tensor.held_bytes();
        const tensor_view held{tensor.type, {}, bytes, {}};
        const auto whole = *simd_kernel<>{}.reduce(tensor.whole(), reduction_set::all());
        const bool same =
            same_bits(*simd_kernel<>{}.reduce_repeated(held, tensor.repeats(), reduction_set::all()), whole) &&
            same_bits(*scalar_kernel{}.reduce_repeated(held, tensor.repeats(), reduction_set::all()), whole);
        CAPTURE(name_of(tensor.type));
        CAPTURE(tensor.count());
        CAPTURE(whole(reduction::max));
        CHECK(same);
        if (tensor.count() == 4 * repeated_block + 7) {
            for (const reduction_set wanted : sets) {
                CHECK(same_bits(*simd_kernel<>{}.reduce_repeated(held, tensor.repeats(), wanted),
                                *simd_kernel<>{}.reduce(tensor.whole(), wanted)));
            }
        }
    });
    CHECK(tensors > 300);
}
#include <smdebug/core/strict_math/end.ipp>
