// Comparing what kernels answer.
#pragma once

#include <smdebug/reduce/concepts.hpp>

#include "support/standard.hpp"

#include <smdebug/core/strict_math/begin.ipp>

namespace reduce_test {

/// Every bit of two answers; NaN are alike.
[[nodiscard]] inline bool same_bits(const smdebug::reduction_values& a, const smdebug::reduction_values& b) {
    bool same = a.count == b.count && a.nan == b.nan && a.pos_inf == b.pos_inf && a.neg_inf == b.neg_inf &&
                a.zeros == b.zeros && a.computed == b.computed;
    for (std::size_t i = 0; i < a.value.size(); ++i) {
        same = same && std::bit_cast<std::uint64_t>(a.value[i]) == std::bit_cast<std::uint64_t>(b.value[i]);
    }
    return same;
}

}  // namespace reduce_test
#include <smdebug/core/strict_math/end.ipp>
