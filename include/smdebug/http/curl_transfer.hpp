// One exchange by libcurl: a request becomes settings of a handle, what the handle tells becomes a response.
// Has no thread and waits for nothing: that is the engine's.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/version.hpp>
#include <smdebug/http/curl_easy.hpp>
#include <smdebug/http/curl_options.hpp>
#include <smdebug/http/message.hpp>
#include <smdebug/http/origin.hpp>
#include <smdebug/http/response_builder.hpp>

#include <curl/curl.h>
#include <sys/socket.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace smdebug {
inline namespace v1 {
namespace http {
namespace detail {

/// Carries one request after the other.  Stays where it is: libcurl holds its address.
/// Threads: one at a time.
class curl_transfer {
public:
    using clock = http::request::clock;

    /// Borrows the options.
    explicit curl_transfer(const curl_options& options) : options_(options) { set_once(); }
    curl_transfer(const curl_transfer&) = delete;
    curl_transfer& operator=(const curl_transfer&) = delete;
    ~curl_transfer() = default;

    [[nodiscard]] CURL* handle() const noexcept { return easy_.get(); }

    /// Makes ready for a request, which is borrowed until finish().  Gives what is wrong with it, if anything.
    [[nodiscard]] std::optional<http::response> begin(const http::request& ask);

    /// What came of it.
    [[nodiscard]] http::response finish(CURLcode how);
    /// Whether it can carry another request.  libcurl gives up the fifth time that a connection has died on a handle,
    /// and goes on counting from one request to the next.
    [[nodiscard]] bool reusable() const noexcept { return reusable_; }

    /// Whether to give up at this time, and why: the deadline has passed, or next to nothing came or went.  libcurl
    /// itself knows nothing of the one, and only whole seconds of the other.
    [[nodiscard]] std::optional<http::response> overdue(clock::time_point now);
    /// When to ask that again, should nothing happen before.  Good after overdue().
    [[nodiscard]] clock::time_point due() const noexcept;
    [[nodiscard]] std::uint64_t bytes_received() const noexcept { return now_.answer.received(); }
    [[nodiscard]] std::uint64_t connections_opened() const noexcept;
    [[nodiscard]] bool is_http2() const noexcept {
        return easy_.asked<long>(CURLINFO_HTTP_VERSION) == CURL_HTTP_VERSION_2_0;
    }

private:
    // What belongs to one request.
    struct state {
        const http::request* ask = nullptr;
        http::detail::response_builder answer{0};
        std::size_t sent = 0;
        curl_off_t uploaded = 0;
        bool connected = false;
        bool died = false;              // a connection, with the request on it
        bool moved = false;             // a byte, since overdue() was last asked
        clock::time_point moved_at{};   // to the nearest time of asking
        clock::time_point body_at{};    // its first byte
        clock::time_point window_at{};  // since when its speed is looked at, and how much of it was there
        std::uint64_t window_begin = 0;
        bool too_long = false;
        bool no_memory = false;
    };
    static constexpr long buffer_bytes = 256L << 10U;
    static constexpr std::chrono::milliseconds longest = std::chrono::hours{24};

    // Of a request that is on its way: everything before that is connecting.
    [[nodiscard]] std::chrono::milliseconds patience() const noexcept {
        return std::clamp(now_.ask->stalled_after, std::chrono::milliseconds{0}, longest);
    }
    // Whether a speed is asked for, and the body has begun to come.
    [[nodiscard]] bool has_speed() const noexcept {
        return now_.ask->least_speed > 0 && now_.body_at != clock::time_point{};
    }
    // When what has come so far would be too little.
    [[nodiscard]] clock::time_point in_time_until() const noexcept;
    [[nodiscard]] bool is_slow(clock::time_point now);
    void set_once();
    void set_method(const http::request& ask);

    // What libcurl calls.  No exception may pass through it: it gives up when a call does not take everything
    // ----------

    static curl_transfer& of(void* self) noexcept { return *static_cast<curl_transfer*>(self); }

    static std::size_t take_line(char* text, std::size_t, std::size_t size, void* self) noexcept;
    static std::size_t take_body(char* bytes, std::size_t, std::size_t size, void* self) noexcept;
    static std::size_t give_body(char* to, std::size_t, std::size_t room, void* self) noexcept;
    // Back in the body, for a connection that died: libcurl 8.7 and newer does not send again without it, and fails the
    // handle's next request, too.
    static int seek_body(void* self, curl_off_t offset, int origin) noexcept;
    static int watch(void* self, curl_off_t, curl_off_t, curl_off_t, curl_off_t uploaded) noexcept;
    // A connection is there.  The second time, the first one was gone without a byte of an answer, and libcurl is about
    // to send everything again: right only where that changes nothing at the server.
    static int connection_is_there(void* self, char*, char*, int, int) noexcept;
    // Programs that are started meanwhile shall not hold the connections.
    static curl_socket_t open_socket(void*, curlsocktype, ::curl_sockaddr* where) noexcept {
        return ::socket(where->family, where->socktype | SOCK_CLOEXEC, where->protocol);
    }

    [[nodiscard]] bool take_bytes(byte_view bytes);

    http::detail::curl_easy easy_;
    const curl_options& options_;
    state now_;
    bool reusable_ = true;
};

}  // namespace detail
}  // namespace http
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/http/impl/curl_transfer.ipp>
#endif
