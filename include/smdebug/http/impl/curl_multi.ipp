// The bodies of <smdebug/http/curl_multi.hpp>.
#pragma once

#include <smdebug/http/curl_multi.hpp>

#include <algorithm>
#include <new>

namespace smdebug {
inline namespace v1 {
namespace http {
namespace detail {

SMDEBUG_INLINE curl_multi::curl_multi(std::size_t kept) : handle_(::curl_multi_init()) {
    if (!handle_) {
        throw std::bad_alloc{};
    }
    // libcurl's own number follows the handles that run, and closes the others' connections when they end.
    const auto most = static_cast<long>(std::clamp<std::size_t>(kept, 1, 1U << 16U));
    ::curl_multi_setopt(handle_.get(), CURLMOPT_MAXCONNECTS, most);
}

SMDEBUG_INLINE void curl_multi::perform() noexcept {
    int running = 0;
    ::curl_multi_perform(handle_.get(), &running);
}

SMDEBUG_INLINE std::optional<curl_multi::finished> curl_multi::next_finished() noexcept {
    int more = 0;
    const ::CURLMsg* message = ::curl_multi_info_read(handle_.get(), &more);
    while (message != nullptr && message->msg != CURLMSG_DONE) {
        message = ::curl_multi_info_read(handle_.get(), &more);
    }
    return message == nullptr ? std::nullopt : std::optional{finished{message->easy_handle, message->data.result}};
}

SMDEBUG_INLINE void curl_multi::wait_until(clock::time_point latest) noexcept {
    using std::chrono::milliseconds;
    constexpr clock::duration longest = std::chrono::minutes{10};
    const auto now = clock::now();
    const auto left = latest <= now ? clock::duration::zero() : std::min(latest - now, longest);
    const auto whole = static_cast<int>(std::chrono::ceil<milliseconds>(left).count());
    ::curl_multi_poll(handle_.get(), nullptr, 0, whole, nullptr);
}

SMDEBUG_INLINE curl_multi::libcurl::libcurl() {
    if (::curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
        throw std::bad_alloc{};
    }
}

}  // namespace detail
}  // namespace http
}  // namespace v1
}  // namespace smdebug
