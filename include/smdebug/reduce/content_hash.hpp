// A hash of a tensor's dtype, shape and bytes: whether two saves are the same without keeping either.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/tensor/tensor_view.hpp>

#include <cstdint>

namespace smdebug {
inline namespace v1 {
namespace reduce {
namespace detail {

/// 128 bits: two tensors that differ share a hash by chance, once in 2^64 pairs or rarer.  No defence against malice.
struct content_hash {
    std::uint64_t low = 0;
    std::uint64_t high = 0;
    [[nodiscard]] friend bool operator==(const content_hash&, const content_hash&) = default;
};

/// Of numbers; strings have the hash of none.  0.0 and -0.0 differ, and so do two patterns of NaN.
/// The same on every machine of this byte order.  Cost: one pass over the bytes, near the speed of reading them.
[[nodiscard]] content_hash content_hash_of(const tensor_view& tensor) noexcept;

}  // namespace detail
}  // namespace reduce
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/reduce/impl/content_hash.ipp>
#endif
