// A multi handle of libcurl as an object: handles that run side by side, and the wait for something to happen.
// Used by: http/curl_engine.hpp.
#pragma once

#include <curl/curl.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <memory>
#include <new>
#include <optional>

namespace smdebug {
inline namespace v1 {
namespace http {

/// Threads: one at a time; wake() on any.
class curl_multi {
public:
    using clock = std::chrono::steady_clock;

    struct finished {
        CURL* handle = nullptr;
        CURLcode how = CURLE_OK;
    };

    /// Keeps so many connections open when they are not in use.   Errors: std::bad_alloc.
    explicit curl_multi(std::size_t kept) : handle_(::curl_multi_init()) {
        if (!handle_) {
            throw std::bad_alloc{};
        }
        // libcurl's own number follows the handles that run, and closes the others' connections when they end.
        const auto most = static_cast<long>(std::clamp<std::size_t>(kept, 1, 1U << 16U));
        ::curl_multi_setopt(handle_.get(), CURLMOPT_MAXCONNECTS, most);
    }
    curl_multi(const curl_multi&) = delete;
    curl_multi& operator=(const curl_multi&) = delete;
    ~curl_multi() = default;

    /// False when there is no memory.
    [[nodiscard]] bool add(CURL* easy) noexcept { return ::curl_multi_add_handle(handle_.get(), easy) == CURLM_OK; }
    /// Ends what it does, if it does something.
    void remove(CURL* easy) noexcept { ::curl_multi_remove_handle(handle_.get(), easy); }

    /// Does what can be done now.
    void perform() noexcept {
        int running = 0;
        ::curl_multi_perform(handle_.get(), &running);
    }
    /// One that has finished, each once.
    [[nodiscard]] std::optional<finished> next_finished() noexcept {
        int more = 0;
        const ::CURLMsg* told = ::curl_multi_info_read(handle_.get(), &more);
        while (told != nullptr && told->msg != CURLMSG_DONE) {
            told = ::curl_multi_info_read(handle_.get(), &more);
        }
        return told == nullptr ? std::nullopt : std::optional{finished{told->easy_handle, told->data.result}};
    }
    /// Until there is something to perform, a wake() since the last wait, or the time has come.
    void wait_until(clock::time_point latest) noexcept {
        using std::chrono::milliseconds;
        constexpr clock::duration longest = std::chrono::minutes{10};
        const auto now = clock::now();
        const auto left = latest <= now ? clock::duration::zero() : std::min(latest - now, longest);
        const auto whole = static_cast<int>(std::chrono::ceil<milliseconds>(left).count());
        ::curl_multi_poll(handle_.get(), nullptr, 0, whole, nullptr);
    }
    void wake() noexcept { ::curl_multi_wakeup(handle_.get()); }

private:
    // libcurl counts these.
    struct libcurl {
        libcurl() {
            if (::curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
                throw std::bad_alloc{};
            }
        }
        libcurl(const libcurl&) = delete;
        libcurl& operator=(const libcurl&) = delete;
        ~libcurl() { ::curl_global_cleanup(); }
    };
    struct cleaner {
        void operator()(CURLM* held) const noexcept { ::curl_multi_cleanup(held); }
    };

    libcurl loaded_;
    std::unique_ptr<CURLM, cleaner> handle_;
};

}  // namespace http
}  // namespace v1
}  // namespace smdebug
