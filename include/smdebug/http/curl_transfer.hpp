// One exchange by libcurl: translates a request into options of a handle, and the handle's callbacks into a response.
// Never blocks and has no thread: waiting is the engine's job.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/version.hpp>
#include <smdebug/http/curl_options.hpp>
#include <smdebug/http/message.hpp>

#include <curl/curl.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace smdebug::inline v1::http::detail {

/// The parts of an http or https URL (scheme in lower case): those with the same server share connections.  Nothing if
/// there is none, or if the URL contains white space, control characters or a user name, which would be sent along and
/// appear in messages.
[[nodiscard]] std::optional<url_parts> origin_of(std::string_view url) noexcept;

/// Whether a host, by its name alone, is this machine, or a link-local address (169.254.*, where clouds serve their
/// metadata): a proxy would reach the wrong machine.
[[nodiscard]] constexpr bool is_near(std::string_view host) noexcept {
    if (host.starts_with('[')) {
        constexpr std::string_view aws_metadata = "[fd00:ec2::";
        return host == "[::1]" || host.starts_with("[fe80:") || host.starts_with(aws_metadata);
    }
    const bool is_address = host.find_first_not_of("0123456789.") == std::string_view::npos;
    return host == "localhost" || host.ends_with(".localhost") ||
           (is_address && (host.starts_with("127.") || host.starts_with("169.254.")));
}

// RAII for a libcurl easy handle: settings, queries, and its error codes as outcomes of http/message.hpp.

static_assert(LIBCURL_VERSION_NUM >= 0x075700, "smdebug needs libcurl 7.87 or later");

/// The outcome of a request without an answer.  `connected`: a connection existed.
[[nodiscard]] outcome outcome_of(CURLcode why, bool connected) noexcept;

/// Not movable: libcurl holds the address of its error buffer.
class curl_easy {
public:
    curl_easy() : handle_(::curl_easy_init()) {
        if (!handle_) {
            throw std::bad_alloc{};
        }
        set(CURLOPT_ERRORBUFFER, words_.data());
    }
    curl_easy(const curl_easy&) = delete;
    curl_easy& operator=(const curl_easy&) = delete;
    ~curl_easy() = default;

    [[nodiscard]] CURL* get() const noexcept { return handle_.get(); }

    /// Sets an option; the value has the type given in libcurl's manual: long, curl_off_t, a pointer.
    template <class Value>
    void set(CURLoption what, Value value) noexcept {
        if (const CURLcode done = ::curl_easy_setopt(get(), what, value); trouble_ == CURLE_OK) {
            trouble_ = done;
        }
    }
    /// The first option that libcurl refused, if any.
    [[nodiscard]] CURLcode trouble() const noexcept { return trouble_; }

    /// Sets the request's headers.  False when one cannot be sent: it has a line break in it, or memory is exhausted.
    [[nodiscard]] bool set_headers(std::span<const http::header> headers);

    /// Queries libcurl for a value of that type.
    template <class Value>
    [[nodiscard]] Value asked(CURLINFO what) const noexcept {
        Value value = 0;
        ::curl_easy_getinfo(get(), what, &value);
        return value;
    }

    void forget_words() noexcept { words_.front() = '\0'; }
    /// The meaning of a code, and libcurl's message for this case.
    [[nodiscard]] std::string to_message(CURLcode why) const {
        const std::string said = ::curl_easy_strerror(why);
        return words_.front() == '\0' ? said : said + ": " + words_.data();
    }

private:
    struct handle_cleaner {
        void operator()(CURL* handle) const noexcept { ::curl_easy_cleanup(handle); }
    };
    struct list_cleaner {
        void operator()(::curl_slist* list) const noexcept { ::curl_slist_free_all(list); }
    };

    std::array<char, CURL_ERROR_SIZE> words_{};
    std::unique_ptr<::curl_slist, list_cleaner> lines_;
    std::unique_ptr<CURL, handle_cleaner> handle_;
    CURLcode trouble_ = CURLE_OK;
};

/// Carries one request after the other.  Not movable: libcurl holds its address.
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

    /// Prepares a request, which is borrowed until finish().  Returns a failure if the request cannot be sent.
    [[nodiscard]] std::optional<http::response> begin(const http::request& ask);

    /// The outcome of the request.
    [[nodiscard]] http::response finish(CURLcode how);
    /// Whether it can carry another request.  libcurl fails a handle the fifth time that a connection dies on it, and
    /// keeps counting across requests.
    [[nodiscard]] bool reusable() const noexcept { return reusable_; }

    /// Whether to give up now, and why: the deadline has passed, or the transfer stalled.  libcurl itself has no
    /// deadlines, and measures stalls in whole seconds only.
    [[nodiscard]] std::optional<http::response> overdue(clock::time_point now);
    /// When to call overdue() again if nothing happens before.  Valid after overdue().
    [[nodiscard]] clock::time_point due() const noexcept {
        const clock::time_point end = std::max(now_.ask->deadline, in_time_until());
        const clock::time_point silent = now_.connected ? now_.moved_at + patience() : end;
        return std::min({end, silent, has_speed() ? now_.window_at + patience() : end});
    }
    [[nodiscard]] std::uint64_t bytes_received() const noexcept { return now_.answer.made.body.size(); }
    [[nodiscard]] std::uint64_t connections_opened() const noexcept {
        // Not connected: libcurl would report the previous request's number.
        return now_.connected ? static_cast<std::uint64_t>(easy_.asked<long>(CURLINFO_NUM_CONNECTS)) : 0;
    }
    [[nodiscard]] bool is_http2() const noexcept {
        return easy_.asked<long>(CURLINFO_HTTP_VERSION) == CURL_HTTP_VERSION_2_0;
    }

private:
    // The state of one request.
    struct state {
        const http::request* ask = nullptr;
        response_builder answer{0};
        std::size_t sent = 0;
        curl_off_t uploaded = 0;
        bool connected = false;
        bool died = false;              // a connection died with the request on it
        bool moved = false;             // a byte moved since the last overdue()
        clock::time_point moved_at{};   // accurate to the calls of overdue()
        clock::time_point body_at{};    // time of its first byte
        clock::time_point window_at{};  // start of the window in which its speed is measured, and the bytes before it
        std::uint64_t window_begin = 0;
        bool too_long = false;
        bool no_memory = false;
    };
    static constexpr long buffer_bytes = 256L << 10U;
    static constexpr std::chrono::milliseconds longest = std::chrono::hours{24};

    // For a request that has been sent: all time before that counts as connecting.
    [[nodiscard]] std::chrono::milliseconds patience() const noexcept {
        return std::clamp(now_.ask->stalled_after, std::chrono::milliseconds{0}, longest);
    }
    // Whether the request sets a least speed and the body has begun to arrive.
    [[nodiscard]] bool has_speed() const noexcept {
        return now_.ask->least_speed > 0 && now_.body_at != clock::time_point{};
    }
    // When the bytes received so far would be too few.
    [[nodiscard]] clock::time_point in_time_until() const noexcept;
    [[nodiscard]] bool is_slow(clock::time_point now);  // measures in consecutive windows
    void set_once();
    void set_method(const http::request& ask);

    // Callbacks of libcurl.  No exception may pass through it; it aborts when a callback does not take all bytes. -----

    static curl_transfer& of(void* self) noexcept { return *static_cast<curl_transfer*>(self); }

    static std::size_t take_line(char* text, std::size_t, std::size_t size, void* self) noexcept;
    static std::size_t take_body(char* bytes, std::size_t, std::size_t size, void* self) noexcept;
    static std::size_t give_body(char* to, std::size_t, std::size_t room, void* self) noexcept;
    // Rewinds the body after a connection died: without it libcurl 8.7 and newer does not resend, and also fails the
    // handle's next request.
    static int seek_body(void* self, curl_off_t offset, int origin) noexcept;
    static int watch(void* self, curl_off_t, curl_off_t, curl_off_t, curl_off_t uploaded) noexcept;
    // Called once a connection is established.  A second call means that the first connection closed without any answer
    // and libcurl is about to resend: allowed only if that changes nothing at the server.
    static int connection_is_there(void* self, char*, char*, int, int) noexcept;
    // Child processes must not inherit the connections.
    static curl_socket_t open_socket(void*, curlsocktype, ::curl_sockaddr* where) noexcept {
        return ::socket(where->family, where->socktype | SOCK_CLOEXEC, where->protocol);
    }

    curl_easy easy_;
    const curl_options& options_;
    state now_;
    bool reusable_ = true;
};

}  // namespace smdebug::inline v1::http::detail

#ifndef SMDEBUG_COMPILED
#include <smdebug/http/impl/curl_transfer.ipp>
#endif
