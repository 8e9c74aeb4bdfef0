#include "eigen_peer.hpp"

#if __has_include(<Eigen/Core>)

#include <Eigen/Core>

#define SMDEBUG_BENCH_TEXT_OF(x) #x
#define SMDEBUG_BENCH_TEXT(x) SMDEBUG_BENCH_TEXT_OF(x)

namespace eigen_peer {

namespace {

[[nodiscard]] Eigen::Map<const Eigen::ArrayXf> array_of(std::span<const float> values) {
    return {values.data(), static_cast<Eigen::Index>(values.size())};
}

}  // namespace

const char* const version = SMDEBUG_BENCH_TEXT(EIGEN_WORLD_VERSION) "." SMDEBUG_BENCH_TEXT(
    EIGEN_MAJOR_VERSION) "." SMDEBUG_BENCH_TEXT(EIGEN_MINOR_VERSION);

const char* instruction_set() { return Eigen::SimdInstructionSetsInUse(); }

float mean(std::span<const float> values) { return array_of(values).mean(); }

float min_max_mean_l1_l2(std::span<const float> values) {
    const auto x = array_of(values);
    return x.minCoeff() + x.maxCoeff() + x.mean() + x.abs().sum() + x.matrix().norm();
}

float variance(std::span<const float> values) {
    const auto x = array_of(values);
    const float centre = x.mean();
    return (x - centre).square().mean();
}

}  // namespace eigen_peer

#else

namespace eigen_peer {

const char* const version = nullptr;
const char* instruction_set() { return ""; }
float mean(std::span<const float> /*values*/) { return 0; }
float min_max_mean_l1_l2(std::span<const float> /*values*/) { return 0; }
float variance(std::span<const float> /*values*/) { return 0; }

}  // namespace eigen_peer

#endif
