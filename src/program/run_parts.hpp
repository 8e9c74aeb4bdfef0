// The parts in which several processes do a large run: ranges of its steps with about as many bytes each.
#pragma once

#include <program/program_trial.hpp>
#include <smdebug/core/step.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace cli {
namespace detail {

/// Which runs are split, and into how many parts.
struct part_limits {
    std::uint64_t above = std::uint64_t{256} << 20U;  ///< bytes of tensors; a part is not smaller than a quarter of it
    std::size_t most = 0;                             ///< parts; less than two: none is split
    std::uint64_t records = ~std::uint64_t{0};        ///< a run with more tensors than that is not split
};

/// The steps of the parts of a run, one behind another, of which the first begins and the last ends where `selected` does;
/// none where it is not to be split: it is small, has too few steps, or its job goes on.
/// Cost: a pass over the steps; opens nothing.
[[nodiscard]] std::vector<step_range> parts_of(const program_trial& run, const step_range& selected,
                                               const part_limits& limits);

}  // namespace detail
}  // namespace cli
}  // namespace v1
}  // namespace smdebug
