// A 64-bit checksum of bytes, to tell a damaged or cut file of a cache from a whole one: XXH64.
// Not crc32c: record/ has that one, which storage/ does not include; and this one is fast on any
// processor, and gives the names of the files as well.  Against malice neither helps.
// Source: the description of the xxHash algorithms, which is public; its test vectors are in the test.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>

#include <cstdint>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// XXH64 of `bytes`.  Cost: one pass, at some GB/s.
[[nodiscard]] std::uint64_t content_hash(byte_view bytes, std::uint64_t seed = 0) noexcept;

}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/storage/cache/impl/content_hash.ipp>
#endif
