// Reductions by Eigen, for the benchmarks: in a file of their own, because reduce_kernels_bench is compiled for the
// baseline and Eigen uses what its file is compiled for (SMDEBUG_BENCH_ARCH).
#pragma once

#include <span>

namespace eigen_peer {

/// "3.4.0"; null if Eigen was missing at build time: then do not call the functions below.
extern const char* const version;

/// "AVX512, FMA, AVX2, ...".
[[nodiscard]] const char* instruction_set();

// Each returns the sum of its results, so that the compiler drops nothing.
[[nodiscard]] float mean(std::span<const float> values);
[[nodiscard]] float min_max_mean_l1_l2(std::span<const float> values);
[[nodiscard]] float variance(std::span<const float> values);

}  // namespace eigen_peer
