// Two tensors of reals side by side, as doubles, a block at a time.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/tensor/tensor_view.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>

namespace smdebug {
inline namespace v1 {
namespace reduce {
namespace detail {

/// How many elements of two tensors are looked at together: both as doubles fit into L1.
inline constexpr std::size_t pair_block = 512;

/// Elements of a tensor of reals as doubles: where they lie, if they are doubles and aligned, else converted into `room`.
[[nodiscard]] std::span<const double> widened(const tensor_view& tensor, std::size_t begin, std::size_t count,
                                              std::array<double, pair_block>& room);

/// Calls visit(begin, a's doubles, b's doubles) for blocks of two tensors of reals that are equally large, until it
/// says false.  Integers of 64 bits are rounded to doubles.
template <class Visit>
void for_each_pair_block(const tensor_view& a, const tensor_view& b, Visit&& visit) {
    std::array<double, pair_block> room_a;
    std::array<double, pair_block> room_b;
    const std::size_t size = a.count();
    for (std::size_t begin = 0; begin < size; begin += pair_block) {
        const std::size_t count = std::min(pair_block, size - begin);
        if (!visit(begin, widened(a, begin, count, room_a), widened(b, begin, count, room_b))) {
            return;
        }
    }
}

}  // namespace detail
}  // namespace reduce
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/reduce/impl/pair_blocks.ipp>
#endif
