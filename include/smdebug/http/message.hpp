// A request over HTTP and what came of it, as values.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace http {

enum class method : std::uint8_t { get, head, put, post, remove };

/// As it stands in a request: "GET", "HEAD", "PUT", "POST", "DELETE".
[[nodiscard]] constexpr std::string_view name_of(method which) noexcept {
    switch (which) {
        case method::get:
            return "GET";
        case method::head:
            return "HEAD";
        case method::put:
            return "PUT";
        case method::post:
            return "POST";
        case method::remove:
            break;
    }
    return "DELETE";
}

struct header {
    std::string name;  ///< in small letters
    std::string value;
    friend bool operator==(const header&, const header&) = default;
};

/// What is asked of a server.
struct request {
    using clock = std::chrono::steady_clock;

    http::method method = http::method::get;
    /// As it goes out: percent-encoded, nothing is folded or encoded any more.
    std::string url = {};
    std::vector<header> headers = {};
    /// Of PUT and POST.  Borrowed until the answer is there, or the exchange is gone.
    byte_view body = {};
    /// An answer with a longer body is given up: outcome::too_long.
    std::uint64_t most = std::uint64_t{64} << 20U;
    std::chrono::milliseconds connect_within{std::chrono::seconds{10}};
    /// Given up after so long without a byte, either way.
    std::chrono::milliseconds stalled_after{std::chrono::seconds{20}};
    /// Given up at that time, wherever it stands; but see least_speed.
    clock::time_point deadline = clock::time_point::max();
    /// Bytes a second.  A body that comes more slowly for stalled_after is given up as one that does not come at all;
    /// one that has come as quickly since its first byte may go on beyond the deadline.  0: neither.
    std::uint64_t least_speed = 0;
};

/// How an exchange went.
enum class outcome : std::uint8_t {
    answered,     ///< the answer is whole; its status may be anything
    unreachable,  ///< no connection: the name is unknown, nobody listens, not within the time
    interrupted,  ///< the connection was cut, or the body is shorter than was said
    stalled,      ///< no byte for stalled_after, or fewer than least_speed
    timed_out,    ///< the deadline has passed
    too_long,     ///< the body is longer than `most`
    refused,      ///< the server's certificate, the address itself, or the protocol: trying again will not help
};

/// What came of a request.  Only where it was answered do status, headers and body count.
struct response {
    http::outcome outcome = http::outcome::answered;
    int status = 0;
    std::vector<header> headers = {};
    byte_buffer body = {};
    std::string failure = {};  ///< in words, where it was not answered

    [[nodiscard]] bool answered() const noexcept { return outcome == http::outcome::answered; }
    /// The first header of that name (small letters).  Borrows.
    [[nodiscard]] std::optional<std::string_view> find_header(std::string_view name) const noexcept;
};

}  // namespace http
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/http/impl/message.ipp>
#endif
