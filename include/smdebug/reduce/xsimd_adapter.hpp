// xsimd, and what differs between its versions 8.1 to 14.  The only header that includes it, and the only one that
// asks for its version.
#pragma once

#include <xsimd/xsimd.hpp>

#if XSIMD_VERSION_MAJOR * 100 + XSIMD_VERSION_MINOR < 801
#error "smdebug needs xsimd 8.1 or newer (Debian: libxsimd-dev).  Tried: 8.1 to 14.3."
#endif

namespace smdebug {
inline namespace v1 {
namespace reduce {
namespace detail {

/// The same bits as lanes of type To, which is as large as From.
template <class Arch, class To, class From>
[[nodiscard]] inline xsimd::batch<To, Arch> same_bits(xsimd::batch<From, Arch> lanes) noexcept {
    static_assert(sizeof(To) == sizeof(From));
#if XSIMD_VERSION_MAJOR >= 11  // from here on it takes the lane, not the batch
    return xsimd::bitwise_cast<To>(lanes);
#else
    return xsimd::bitwise_cast<xsimd::batch<To, Arch>>(lanes);
#endif
}

}  // namespace detail
}  // namespace reduce
}  // namespace v1
}  // namespace smdebug
