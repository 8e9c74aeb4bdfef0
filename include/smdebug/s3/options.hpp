// How a storage in S3 goes about its work.  Nothing has to be set: environment and profile say what is needed.
#pragma once

#include <smdebug/s3/credentials/keys.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace smdebug {
inline namespace v1 {

namespace s3 {

/// How a bucket is named in a request: in the path (https://host/bucket/key) or in the host (https://bucket.host/key).
/// `automatic`: in the path where an endpoint was given or the bucket's name has dots, else in the host.
enum class addressing : std::uint8_t { automatic, path, virtual_host };

/// When the MD5 that an ETag may be is computed.
enum class etag_check : std::uint8_t {
    never,        ///< for servers whose ETags are 32 hexadecimal digits of something else, as directory buckets have
    without_tls,  ///< over plain HTTP: TLS has checksums of its own, so that only the server itself could be wrong
    always,
};

/// When a request is tried again, and how long it may take with all of that.
struct retry_options {
    /// From its first attempt to its end, whatever happens; but a part of an object that comes with least_speed may
    /// come to its end.  After an object was waited for in vain so long, others get a 64th of it, and a second at least,
    /// for as long again or until one has come: a dead server does not cost the whole time for each object.
    std::chrono::milliseconds deadline{std::chrono::minutes{2}};
    /// The pause before the second attempt is between nothing and this; each further one may be twice as long ...
    std::chrono::milliseconds first_pause{100};
    /// ... up to this.  A server's Retry-After counts where it is longer.
    std::chrono::milliseconds longest_pause{std::chrono::seconds{20}};
    unsigned most_attempts = 10;  ///< 0 counts as 1
    /// All attempts, and the time for connecting, while nothing has ever been heard of the server: its address is
    /// wrong more often than it starts anew.  One that was reached before is tried until the deadline.
    std::chrono::milliseconds reach_within{4500};
};

}  // namespace s3

/// Settings of s3_storage.
struct s3_options {
    /// Unset: AWS_REGION, AWS_DEFAULT_REGION, the profile; else the bucket's own, which its server tells.
    std::optional<std::string> region = {};
    /// "https://host:port" of a server that is not Amazon's.  Unset: AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL, the
    /// profile; else Amazon's.
    std::optional<std::string> endpoint = {};
    s3::addressing addressing = s3::addressing::automatic;
    /// Unset: found as every tool for AWS finds them, see default_credentials.
    std::optional<s3::access_keys> keys = {};
    /// Ask without keys, for public buckets.
    bool anonymous = false;
    s3::retry_options retry = {};
    std::chrono::milliseconds connect_within{std::chrono::seconds{5}};
    std::chrono::milliseconds stalled_after{
        std::chrono::seconds{20}};  ///< an attempt without a byte for so long is lost
    /// Bytes a second that an object, or a part of one, must come with to be waited for: slower for stalled_after, and
    /// the attempt is lost.  Of those that are under way at once (most_requests) each must have it.  0: any speed will
    /// do, and nothing goes on beyond the deadline.
    std::uint64_t least_speed = 4096;
    /// Requests of one call that are under way at once; so many parts may be held in memory.  0 counts as 1.
    std::size_t most_requests = 16;
    /// A listing ends within this, however long it is: a million keys take a thousand requests, one after another.
    std::chrono::milliseconds list_deadline{std::chrono::minutes{30}};
    /// Objects are read in parts of so many bytes, and longer ones are written so.  At least 5 MiB for writing.
    std::uint64_t part_bytes = std::uint64_t{8} << 20U;
    /// Parts of an object that is being written that are under way at once; each is held in memory.
    std::size_t most_uploads = 4;
    /// When the bytes of an object that came with one request are compared with its ETag, where that looks like an
    /// MD5, and the server has sent no other checksum (x-amz-checksum-*: these are always compared): about 1.6 ms a
    /// MiB. Of a part of an object, and of one that was written in parts, there is no such thing to compare with.
    s3::etag_check verify_etags = s3::etag_check::without_tls;
    /// Neighbours among wanted ranges with at most so many bytes between them come with one request.
    std::uint64_t merge_gap = std::uint64_t{1} << 20U;
    /// Whoever waits for a run to grow looks no more often than that: each look is two requests, which are paid for.
    std::chrono::milliseconds look_interval{std::chrono::seconds{2}};
    /// A file with the certificates of those who are trusted.  Unset: AWS_CA_BUNDLE, the profile, the system's.
    std::optional<std::string> ca_file = {};
    bool http2 = true;  ///< where the server speaks it, over TLS
};

}  // namespace v1
}  // namespace smdebug
