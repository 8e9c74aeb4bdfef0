// Settings of a storage in S3.  All are optional: environment and profile provide what is needed.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace smdebug::inline v1 {

namespace s3 {

/// The keys of one identity.  An empty optional of them means anonymous access.
/// Deliberately not printable: not even the id belongs in a message or a log.
struct access_keys {
    std::string id = {};
    std::string secret = {};
    std::string token = {};  ///< for temporary keys: sent with each request; may be empty
    /// When they expire, if known.
    std::optional<std::chrono::system_clock::time_point> expires = {};
    friend bool operator==(const access_keys&, const access_keys&) = default;
};

/// How requests name the bucket: in the path (https://host/bucket/key) or in the host (https://bucket.host/key).
/// `automatic`: in the path if an endpoint is set or the bucket's name has dots, else in the host.
enum class addressing : std::uint8_t { automatic, path, virtual_host };

/// When objects are checked against an ETag that may be an MD5.
enum class etag_check : std::uint8_t {
    never,        ///< for servers whose ETags are 32 hexadecimal digits but no MD5, such as directory buckets
    without_tls,  ///< only over plain HTTP: TLS has its own checksums, so only the server itself could be wrong
    always,
};

/// When a request is retried, and how long it may take including its retries.
struct retry_options {
    /// From the first attempt to the end; but a part of an object that arrives with least_speed may finish.  After one
    /// object has used up this time in vain, others get a 64th of it, but at least a second, until one arrives or the
    /// same time has passed again: a dead server does not cost the full time for each object.
    std::chrono::milliseconds deadline{std::chrono::minutes{2}};
    /// The pause before the second attempt is between zero and this; each further one may be twice as long ...
    std::chrono::milliseconds first_pause{100};
    /// ... up to this.  A longer Retry-After of the server takes precedence.
    std::chrono::milliseconds longest_pause{std::chrono::seconds{20}};
    unsigned most_attempts = 10;  ///< 0 counts as 1
    /// Limits all attempts and connecting while the server has never answered: a wrong address is more likely than a
    /// restart.  A server that has answered before is tried until the deadline.
    std::chrono::milliseconds reach_within{4500};
};

}  // namespace s3

/// Settings of s3_storage.
struct s3_options {
    /// If unset: AWS_REGION, AWS_DEFAULT_REGION, the profile; else the bucket's region as its server reports it.
    std::optional<std::string> region = {};
    /// "https://host:port" of a server other than Amazon's.  If unset: AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL, the
    /// profile; else Amazon's.
    std::optional<std::string> endpoint = {};
    s3::addressing addressing = s3::addressing::automatic;
    /// If unset, they are found as all AWS tools find them, see default_credentials.
    std::optional<s3::access_keys> keys = {};
    /// Send requests without keys, for public buckets.
    bool anonymous = false;
    s3::retry_options retry = {};
    std::chrono::milliseconds connect_within{std::chrono::seconds{5}};
    std::chrono::milliseconds stalled_after{std::chrono::seconds{20}};  ///< an attempt without a byte for so long fails
    /// Least speed of an object, or a part of one, in bytes a second: an attempt that is slower for stalled_after fails.
    /// Each of the concurrent requests (most_requests) must reach it.  With 0 any speed is enough, and nothing
    /// continues beyond the deadline.
    std::uint64_t least_speed = 4096;
    /// Concurrent requests of one call; as many parts may be held in memory.  0 counts as 1.
    std::size_t most_requests = 16;
    /// Limit for a whole listing: a million keys take a thousand requests, one after another.
    std::chrono::milliseconds list_deadline{std::chrono::minutes{30}};
    /// Objects are read in parts of this size, and longer ones are also written in such parts.  At least 5 MiB for
    /// writing.
    std::uint64_t part_bytes = std::uint64_t{8} << 20U;
    /// Concurrent uploads of parts while an object is written; each part is held in memory.
    std::size_t most_uploads = 4;
    /// When an object read in one request is compared with its ETag, if that looks like an MD5 and the server has sent
    /// no other checksum (x-amz-checksum-*: these are always compared): about 1.6 ms a MiB.  Parts of objects, and
    /// objects written in parts, have no such checksum.
    s3::etag_check verify_etags = s3::etag_check::without_tls;
    /// Ranges with a gap of at most this many bytes between them are read with one request.
    std::uint64_t merge_gap = std::uint64_t{1} << 20U;
    /// Shortest interval between two looks while waiting for a run to grow: each look costs two requests.
    std::chrono::milliseconds look_interval{std::chrono::seconds{2}};
    /// A file of trusted certificates.  If unset: AWS_CA_BUNDLE, the profile, the system's.
    std::optional<std::string> ca_file = {};
    bool http2 = true;  ///< over TLS, if the server supports it
};

}  // namespace smdebug::inline v1
