// SHA-256 and what is made of it, and other digests: the only header that includes libcrypto.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace s3 {
namespace detail {

using digest = std::array<std::byte, 32>;

/// The SHA-256 of some bytes.  Cost: one pass, 1 to 2 GiB/s.  Errors: unsupported where libcrypto is set up, or built,
/// to refuse it.
[[nodiscard]] digest sha256(byte_view bytes);

/// The HMAC-SHA-256 of a text under a key of any length, up to 2 GiB.  Cost: about 1.5 us for short ones.
/// Errors: as sha256.
[[nodiscard]] digest sha256_hmac(byte_view key, byte_view text);

/// The digest that libcrypto calls by that name ("MD5", "SHA1"); nothing where it is set up, or built, to refuse it.
[[nodiscard]] std::optional<std::vector<std::byte>> digest_by(std::string_view name, byte_view bytes);

/// Four characters for three bytes, filled up by '='.
[[nodiscard]] std::string to_base64(std::span<const std::byte> bytes);

/// Two small hexadecimal digits a byte.
[[nodiscard]] std::string to_hex(std::span<const std::byte> bytes);

}  // namespace detail
}  // namespace s3
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/s3/call/impl/digest.ipp>
#endif
