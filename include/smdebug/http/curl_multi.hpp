// A multi handle of libcurl as an object: handles that run side by side, and the wait for something to happen.
#pragma once

#include <smdebug/core/form.hpp>

#include <curl/curl.h>

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>

namespace smdebug {
inline namespace v1 {
namespace http {
namespace detail {

/// Threads: one at a time; wake() on any.
class curl_multi {
public:
    using clock = std::chrono::steady_clock;

    struct finished {
        CURL* handle = nullptr;
        CURLcode how = CURLE_OK;
    };

    /// Keeps so many connections open when they are not in use.   Errors: std::bad_alloc.
    explicit curl_multi(std::size_t kept);
    curl_multi(const curl_multi&) = delete;
    curl_multi& operator=(const curl_multi&) = delete;
    ~curl_multi() = default;

    /// False when there is no memory.
    [[nodiscard]] bool add(CURL* easy) noexcept { return ::curl_multi_add_handle(handle_.get(), easy) == CURLM_OK; }
    /// Ends what it does, if it does something.
    void remove(CURL* easy) noexcept { ::curl_multi_remove_handle(handle_.get(), easy); }

    /// Does what can be done now.
    void perform() noexcept;
    /// One that has finished, each once.
    [[nodiscard]] std::optional<finished> next_finished() noexcept;
    /// Until there is something to perform, a wake() since the last wait, or the time has come.
    void wait_until(clock::time_point latest) noexcept;
    void wake() noexcept { ::curl_multi_wakeup(handle_.get()); }

private:
    // libcurl counts these.
    struct libcurl {
        libcurl();
        libcurl(const libcurl&) = delete;
        libcurl& operator=(const libcurl&) = delete;
        ~libcurl() { ::curl_global_cleanup(); }
    };
    struct cleaner {
        void operator()(CURLM* handle) const noexcept { ::curl_multi_cleanup(handle); }
    };

    libcurl loaded_;
    std::unique_ptr<CURLM, cleaner> handle_;
};

}  // namespace detail
}  // namespace http
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/http/impl/curl_multi.ipp>
#endif
