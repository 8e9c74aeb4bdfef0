// HTTP requests and responses as values.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smdebug::inline v1::http {

enum class method : std::uint8_t { get, head, put, post, remove };

/// The name in a request line: "GET", "HEAD", "PUT", "POST", "DELETE".
[[nodiscard]] constexpr std::string_view name_of(method which) noexcept {
    constexpr std::array<std::string_view, 5> names{"GET", "HEAD", "PUT", "POST", "DELETE"};
    return names[static_cast<std::size_t>(which)];
}

struct header {
    std::string name;  ///< lower case
    std::string value;
    friend bool operator==(const header&, const header&) = default;
};

/// A request to a server.
struct request {
    using clock = std::chrono::steady_clock;

    http::method method = http::method::get;
    /// Sent unchanged: it must be percent-encoded, and is neither normalised nor encoded again.
    std::string url = {};
    std::vector<header> headers = {};
    /// For PUT and POST.  Borrowed until the answer arrives or the exchange is destroyed.
    byte_view body = {};
    /// A longer answer ends the request: outcome::too_long.
    std::uint64_t most = std::uint64_t{64} << 20U;
    std::chrono::milliseconds connect_within{std::chrono::seconds{10}};
    /// The request ends after this long without a byte sent or received.
    std::chrono::milliseconds stalled_after{std::chrono::seconds{20}};
    /// The request ends at this time; but see least_speed.
    clock::time_point deadline = clock::time_point::max();
    /// Bytes a second.  A body that is slower for stalled_after counts as stalled; one that has been as fast since its
    /// first byte may continue beyond the deadline.  0 sets neither.
    std::uint64_t least_speed = 0;
};

/// How an exchange ended.
enum class outcome : std::uint8_t {
    answered,     ///< the answer is complete, with any status
    unreachable,  ///< no connection: unknown name, closed port, or out of time
    interrupted,  ///< the connection was cut, or the body is shorter than announced
    stalled,      ///< no byte for stalled_after, or fewer than least_speed
    timed_out,    ///< the deadline has passed
    too_long,     ///< the body is longer than `most`
    refused,      ///< bad certificate, address or protocol: retrying will not help
};

/// The result of a request.  Status, headers and body are meaningful only if it was answered.
struct response {
    http::outcome outcome = http::outcome::answered;
    int status = 0;
    std::vector<header> headers = {};
    byte_buffer body = {};
    std::string failure = {};  ///< a message, if it was not answered

    [[nodiscard]] bool answered() const noexcept { return outcome == http::outcome::answered; }
    /// The first header of that name (lower case).  Borrows.
    [[nodiscard]] std::optional<std::string_view> find_header(std::string_view name) const noexcept;
};

namespace detail {

/// A URL cut at its punctuation: nothing is decoded or checked.  Borrows it.
struct url_parts {
    std::string_view scheme;  ///< "https"; empty if no "://" follows
    std::string_view server;  ///< "https://user@host:9000"
    std::string_view user;    ///< "user@"
    std::string_view host;    ///< "host", "[::1]"
    std::string_view port;    ///< "9000"
    std::string_view path;    ///< "/key", at least "/"
    std::string_view query;   ///< what follows '?'
};
[[nodiscard]] url_parts parts_of(std::string_view url) noexcept;

/// A response for a request without an answer, with the reason.
[[nodiscard]] inline http::response not_answered(http::outcome why, std::string words) {
    return {.outcome = why, .failure = std::move(words)};
}

/// Takes lines until an empty one ends the headers, then the body.  With a known length, the body's memory is
/// allocated once; without, it grows.  It is never cleared.
class response_builder {
public:
    /// Limits the body to that many bytes.
    explicit response_builder(std::uint64_t most) noexcept : most_(most) {}

    /// A header line, with or without its line end.  A status line starts over: 100 Continue precedes the real answer.
    void take_line(std::string_view line);

    /// Adds a piece of so many bytes to the body, and returns the memory that they have to be copied to.  Null, and
    /// nothing is added, if the body exceeds the limit.  `length`: the whole body's announced length.
    [[nodiscard]] std::byte* room_for(std::size_t count, std::optional<std::uint64_t> length);

    /// Whether the headers have ended and no announced byte of the body is missing.
    [[nodiscard]] bool whole() const noexcept { return headers_end_ && (!length_ || made.body.size() == *length_); }

    http::response made = {};  ///< the response built so far, without its status

private:
    std::uint64_t most_;
    bool headers_end_ = false;
    std::shared_ptr<std::byte[]> block_ = {};  // of the body
    std::size_t block_bytes_ = 0;
    std::optional<std::uint64_t> length_ = {};
};

}  // namespace detail
}  // namespace smdebug::inline v1::http

#ifndef SMDEBUG_COMPILED
#include <smdebug/http/impl/message.ipp>
#endif
