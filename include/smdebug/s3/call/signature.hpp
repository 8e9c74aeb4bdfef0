// Signing requests to S3: version 4 of AWS's signatures, in the Authorization header.
// Pure: the time is an argument, nothing is sent.  libcurl could sign, too, but each of its versions does it
// differently.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/http/message.hpp>
#include <smdebug/s3/call/digest.hpp>
#include <smdebug/s3/call/percent_encoding.hpp>
#include <smdebug/s3/credentials/keys.hpp>

#include <chrono>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace s3 {
namespace detail {

/// Where a signature is good.
struct signing_scope {
    std::string region;
    std::string service = "s3";
    friend bool operator==(const signing_scope&, const signing_scope&) = default;
};

/// The hash of a request without a body.
inline constexpr std::string_view empty_payload_hash =
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
/// In place of a hash: the body is not covered by the signature.
inline constexpr std::string_view unsigned_payload = "UNSIGNED-PAYLOAD";

/// The query of a URL, without '?', as servers and signatures want it: encoded, sorted, '=' also where there is no
/// value.
[[nodiscard]] std::string canonical_query(std::vector<std::pair<std::string, std::string>> parameters);

struct url_parts {
    std::string host;  ///< as it stands in the Host header: with the port, where it is not the scheme's own
    std::string_view path;
    std::string_view query;
};

/// Takes apart what libcurl will send as it is.
[[nodiscard]] url_parts parts_of(std::string_view url);

/// A header's value without white space around it, and with one space for each run of it.
[[nodiscard]] std::string folded(std::string_view value);

/// What is signed of a request.
struct canonical_request {
    std::string text;
    std::string signed_headers;  ///< names, with ';' between
};

/// Of `covered`, names are in small letters and each stands once; the host is added.
[[nodiscard]] canonical_request canonical(http::method method, std::string_view url, std::vector<http::header> covered,
                                          std::string_view payload_hash);

/// "20130524T000000Z"; its first eight characters are the day.
[[nodiscard]] std::string signing_time(std::chrono::system_clock::time_point now);

/// "20130524/us-east-1/s3/aws4_request".
[[nodiscard]] inline std::string scope_text(std::string_view day, const signing_scope& scope) {
    return std::string{day}.append("/").append(scope.region).append("/").append(scope.service).append("/aws4_request");
}

/// The key of one day and scope.
[[nodiscard]] digest signing_key(std::string_view secret, std::string_view day, const signing_scope& scope);

/// What the signature is made of.
[[nodiscard]] std::string string_to_sign(const canonical_request& asked, std::string_view time, std::string_view scope);

/// Signs requests, and remembers the key that it has derived for the day.
/// Threads: sign() on any, at once.  Cost: about 3 us a request; a lock is held for a comparison and a copy.
class signer {
public:
    signer() = default;
    signer(const signer&) = delete;
    signer& operator=(const signer&) = delete;
    ~signer() = default;

    /// Gives `ask` the headers x-amz-date, x-amz-content-sha256, x-amz-security-token (where there is a token) and
    /// authorization, in place of those that it has: a request may be signed again.  The signature covers the method,
    /// the URL, the host and all x-amz-* headers of `ask`; each of these stands once and has a value.
    /// URL: its path and query are taken as they stand, so they are encoded as percent_encoded() does, the query also
    /// sorted, as canonical_query() does; no user names in it; an IPv6 address is written in its short form.
    /// payload_hash: the SHA-256 of the body in small hexadecimal digits, empty_payload_hash, or unsigned_payload.
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
    mutable derived last_ = {};  // no day is empty
};

}  // namespace detail
}  // namespace s3
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/s3/call/impl/signature.ipp>
#endif
