// Which kernels this CPU can run.  Compiled for the baseline, which every CPU runs.
#include "local_kernel.hpp"

#include <array>
#include <cstddef>
#include <span>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace smdebug::inline v1 {

namespace {

#if defined(__x86_64__)

/// __builtin_cpu_supports also checks that the operating system saves the registers; clang 16's does not know F16C,
/// whose registers are those of AVX.
[[nodiscard]] bool has_f16c() noexcept {
    unsigned eax = 0;
    unsigned ebx = 0;
    unsigned ecx = 0;
    unsigned edx = 0;
    return __get_cpuid(1, &eax, &ebx, &ecx, &edx) != 0 && (ecx & bit_F16C) != 0;
}

[[nodiscard]] bool has_avx2() noexcept {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && has_f16c();
}

[[nodiscard]] bool has_avx512bw() noexcept {
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512cd") &&
           __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl") && has_avx2();
}

/// The best first; a CPU that can run one can run those after it.
constinit const std::array kernels{dispatched_kernel{reduce::avx512bw_kernel}, dispatched_kernel{reduce::avx2_kernel},
                                   dispatched_kernel{reduce::sse2_kernel}};

[[nodiscard]] std::size_t best_kernel() noexcept {
    __builtin_cpu_init();  // for callers that run before main
    return has_avx512bw() ? 0 : (has_avx2() ? 1 : 2);
}

#else

#if defined(__aarch64__)
constinit const std::array kernels{dispatched_kernel{reduce::neon64_kernel}};
#else
constinit const std::array kernels{dispatched_kernel{reduce::plain_kernel}};
#endif

[[nodiscard]] std::size_t best_kernel() noexcept { return 0; }

#endif

}  // namespace

std::span<const dispatched_kernel> dispatched_kernel::available() noexcept {
    static const std::size_t best = best_kernel();
    return std::span{kernels}.subspan(best);
}

}  // namespace smdebug::inline v1
