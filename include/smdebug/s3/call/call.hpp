// One thing that is asked of S3, before it has a host, a time and a signature: it gets new ones at each attempt.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/http/message.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace s3 {
namespace detail {

/// Whether an answer with a good status holds what was asked for.  False: it came damaged, and is asked for again.
/// `wanted` is the call's first byte and length, of an object.
using answer_check = bool (*)(const http::response& answer, byte_range wanted);

/// Any answer will do.
[[nodiscard]] inline bool takes_any(const http::response& /*answer*/, byte_range /*wanted*/) noexcept { return true; }

struct call {
    http::method method = http::method::get;
    std::string key = {};  ///< as it is, whole; empty: the bucket itself
    std::vector<std::pair<std::string, std::string>> query = {};
    std::vector<http::header> headers = {};
    byte_view body = {};                            ///< borrowed until the call is over
    std::uint64_t most = std::uint64_t{16} << 20U;  ///< longest body of an answer
    byte_range wanted = {};                         ///< for `check`
    answer_check check = takes_any;
    /// When the call ends at the latest, should s3_options::retry leave it more time.
    http::request::clock::time_point latest = http::request::clock::time_point::max();
    const char* doing = "asking";  ///< for messages: "reading", "listing", ...
};

}  // namespace detail
}  // namespace s3
}  // namespace v1
}  // namespace smdebug
