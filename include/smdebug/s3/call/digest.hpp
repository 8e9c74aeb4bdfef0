// SHA-256, HMAC, other digests and their text forms: the only header that includes libcrypto.
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

namespace smdebug::inline v1::s3::detail {

using digest = std::array<std::byte, 32>;

/// The SHA-256 of some bytes.  Cost: one pass, 1 to 2 GiB/s.  Errors: unsupported if libcrypto is configured or built
/// without it.
[[nodiscard]] digest sha256(byte_view bytes);

/// The HMAC-SHA-256 of a text under a key of any length, up to 2 GiB.  Cost: about 1.5 us for short ones.
/// Errors: as sha256.
[[nodiscard]] digest sha256_hmac(byte_view key, byte_view text);

/// The digest of that name in libcrypto ("MD5", "SHA1"); nothing if libcrypto is configured or built without it.
[[nodiscard]] std::optional<std::vector<std::byte>> digest_by(std::string_view name, byte_view bytes);

/// Base64: four characters for three bytes, padded with '='.
[[nodiscard]] std::string to_base64(std::span<const std::byte> bytes);

/// Two lower-case hexadecimal digits a byte.
[[nodiscard]] std::string to_hex(std::span<const std::byte> bytes);

}  // namespace smdebug::inline v1::s3::detail

#ifndef SMDEBUG_COMPILED
#include <smdebug/s3/call/impl/digest.ipp>
#endif
