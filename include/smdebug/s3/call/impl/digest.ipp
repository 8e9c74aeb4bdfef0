// The bodies of <smdebug/s3/call/digest.hpp>.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/s3/call/digest.hpp>

#include <openssl/evp.h>
#include <openssl/hmac.h>

namespace smdebug::inline v1::s3::detail {

SMDEBUG_INLINE digest sha256(byte_view bytes) {
    digest out;
    unsigned int length = 0;
    if (EVP_Digest(bytes.data(), bytes.size(), reinterpret_cast<unsigned char*>(out.data()), &length, EVP_sha256(),
                   nullptr) != 1 ||
        length != out.size()) {
        throw unsupported{"libcrypto does not give SHA-256, which requests to S3 are signed with: check its set-up."};
    }
    return out;
}

SMDEBUG_INLINE digest sha256_hmac(byte_view key, byte_view text) {
    digest out;
    unsigned int length = 0;
    // libcrypto interprets a null key as "the previous key".
    const void* const key_bytes = key.empty() ? static_cast<const void*>("") : key.data();
    if (HMAC(EVP_sha256(), key_bytes, static_cast<int>(key.size()), reinterpret_cast<const unsigned char*>(text.data()),
             text.size(), reinterpret_cast<unsigned char*>(out.data()), &length) == nullptr ||
        length != out.size()) {
        throw unsupported{
            "libcrypto does not give HMAC-SHA-256, which requests to S3 are signed with: check its set-up."};
    }
    return out;
}

SMDEBUG_INLINE std::optional<std::vector<std::byte>> digest_by(std::string_view name, byte_view bytes) {
    const EVP_MD* const how = EVP_get_digestbyname(std::string{name}.c_str());
    std::vector<std::byte> out(EVP_MAX_MD_SIZE);
    unsigned int length = 0;
    if (how == nullptr || EVP_Digest(bytes.data(), bytes.size(), reinterpret_cast<unsigned char*>(out.data()), &length,
                                     how, nullptr) != 1) {
        return std::nullopt;
    }
    out.resize(length);
    return out;
}

SMDEBUG_INLINE std::string to_base64(std::span<const std::byte> bytes) {
    std::string out(4 * ((bytes.size() + 2) / 3) + 1, '\0');  // with a terminating zero
    const int length =
        EVP_EncodeBlock(reinterpret_cast<unsigned char*>(out.data()),
                        reinterpret_cast<const unsigned char*>(bytes.data()), static_cast<int>(bytes.size()));
    out.resize(static_cast<std::size_t>(length));
    return out;
}

SMDEBUG_INLINE std::string to_hex(std::span<const std::byte> bytes) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string out;
    out.reserve(2 * bytes.size());
    for (const std::byte byte : bytes) {
        out += digits[std::to_integer<std::size_t>(byte >> 4U)];
        out += digits[std::to_integer<std::size_t>(byte & std::byte{15})];
    }
    return out;
}

}  // namespace smdebug::inline v1::s3::detail
