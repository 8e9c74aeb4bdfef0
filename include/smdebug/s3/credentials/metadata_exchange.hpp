// Asking the services that give keys to machines: they are near, so that whoever does not answer soon is not there.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/http/message.hpp>
#include <smdebug/s3/credentials/keys_answer.hpp>

#include <chrono>
#include <string>
#include <thread>

namespace smdebug {
inline namespace v1 {
namespace s3 {
namespace detail {

/// How long a service is waited for.
struct metadata_limits {
    std::chrono::milliseconds connect_within{1000};  ///< each request
    std::chrono::milliseconds answer_within{2000};   ///< each request
    int tries = 3;                                   ///< of the whole conversation, one at least
    std::chrono::milliseconds pause{100};            ///< between them
    std::chrono::milliseconds altogether{5000};      ///< no request goes beyond it
};

/// A request to such a service, which ends at `latest` whatever happens.
[[nodiscard]] http::request metadata_request(http::method how, std::string url, const metadata_limits& limits,
                                             http::request::clock::time_point latest);

/// What an answer means that is not 200.
[[nodiscard]] keys_answer without_keys(const http::response& got, const std::string& where);

/// Calls once(latest), which is a whole conversation, until its outcome is one that trying again will not change.
template <class Once>
[[nodiscard]] keys_answer ask_repeatedly(const metadata_limits& limits, Once&& once) {
    using clock = http::request::clock;
    const auto latest = clock::now() + limits.altogether;
    for (int left = limits.tries;; --left) {
        keys_answer got = once(latest);
        const bool passing = got.outcome == keys_outcome::unreachable || got.outcome == keys_outcome::failing;
        if (!passing || left <= 1 || clock::now() + limits.pause >= latest) {
            return got;
        }
        std::this_thread::sleep_for(limits.pause);
    }
}

}  // namespace detail
}  // namespace s3
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/s3/credentials/impl/metadata_exchange.ipp>
#endif
