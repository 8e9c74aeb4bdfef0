// Signing requests to S3: AWS Signature Version 4 in the Authorization header; the digests that it needs.
// Pure: the time is an argument, nothing is sent.  libcurl can sign as well, but its versions do it differently.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/http/message.hpp>
#include <smdebug/s3/call/endpoint.hpp>
#include <smdebug/s3/credentials.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
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

/// The scope in which a signature is valid.
struct signing_scope {
    std::string region;
    std::string service = "s3";
    friend bool operator==(const signing_scope&, const signing_scope&) = default;
};

/// The hash of an empty body.
inline constexpr std::string_view empty_payload_hash =
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
/// Replaces the hash: the signature does not cover the body.
inline constexpr std::string_view unsigned_payload = "UNSIGNED-PAYLOAD";

/// The query of a URL in canonical form, without '?': encoded, sorted, with '=' even after a name without a value.
[[nodiscard]] std::string canonical_query(std::vector<std::pair<std::string, std::string>> parameters);

/// The Host header of a request to that URL, as libcurl sends it: with the port, unless it is the scheme's default.
[[nodiscard]] std::string host_header(const http::detail::url_parts& url);

/// A header's value, trimmed, with each run of white space replaced by one space.
[[nodiscard]] std::string folded(std::string_view value);

/// The signed parts of a request.
struct canonical_request {
    std::string text;
    std::string signed_headers;  ///< names, separated by ';'
};

/// The names in `covered` are lower case and unique; the host is added.
[[nodiscard]] canonical_request canonical(http::method method, std::string_view url, std::vector<http::header> covered,
                                          std::string_view payload_hash);

/// "20130524T000000Z"; its first eight characters are the day.
[[nodiscard]] std::string signing_time(std::chrono::system_clock::time_point now);

/// The key of one day and scope.
[[nodiscard]] digest signing_key(std::string_view secret, std::string_view day, const signing_scope& scope);

/// The text that is signed.
[[nodiscard]] std::string string_to_sign(const canonical_request& asked, std::string_view time, std::string_view scope);

/// Signs requests and caches the key derived for the day.
/// Threads: sign() on any, concurrently.  Cost: about 3 us a request; a lock is held for a comparison and a copy.
class signer {
public:
    signer() = default;
    signer(const signer&) = delete;
    signer& operator=(const signer&) = delete;
    ~signer() = default;

    /// Sets the headers x-amz-date, x-amz-content-sha256, x-amz-security-token (if there is a token) and authorization
    /// of `ask`, replacing existing ones: a request may be signed again.  The signature covers the method, the URL, the
    /// host and all x-amz-* headers of `ask`, each of which must be unique and have a value.
    /// URL: path and query are used unchanged, so they must be encoded as by percent_encoded(), and the query sorted as
    /// by canonical_query(); without a user name; an IPv6 address in its short form.
    /// payload_hash: the SHA-256 of the body in lower-case hexadecimal, empty_payload_hash, or unsigned_payload.
    void sign(http::request& ask, std::string_view payload_hash, const access_keys& keys, const signing_scope& scope,
              std::chrono::system_clock::time_point now) const;

private:
    struct derived {
        std::string day;
        std::string secret;
        signing_scope scope;
        digest key;
    };

    [[nodiscard]] digest key_of(std::string_view day, const std::string& secret, const signing_scope& scope) const;

    mutable std::mutex guard_;
    mutable derived last_ = {};  // an empty day matches none
};

}  // namespace smdebug::inline v1::s3::detail

#ifndef SMDEBUG_COMPILED
#include <smdebug/s3/call/impl/signature.ipp>
#endif
