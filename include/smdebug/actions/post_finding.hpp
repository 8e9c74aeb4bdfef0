// Posting findings to a server, as JSON over HTTP, with retries.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/stop_token.hpp>
#include <smdebug/http/concepts.hpp>
#include <smdebug/http/curl_transport.hpp>
#include <smdebug/http/inbox.hpp>
#include <smdebug/http/message.hpp>
#include <smdebug/rules/finding.hpp>
#include <smdebug/rules/finding_json.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <new>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace actions {

struct post_options {
    std::vector<http::header> headers = {};  ///< besides content-type; names in small letters
    unsigned attempts = 4;
    /// Before the second attempt; doubled each time.  A server's Retry-After counts where it is longer.
    std::chrono::milliseconds first_pause{250};
    std::chrono::milliseconds deadline{std::chrono::seconds{30}};  ///< of all attempts together
    std::stop_token stop = {};
};

struct post_result {
    bool delivered = false;    ///< the server said 2xx
    int status = 0;            ///< its last answer's; 0: there was none
    unsigned attempts = 0;     ///< how often it was asked
    std::string failure = {};  ///< a sentence; empty when delivered.  The address is not in it: it may be a secret

    [[nodiscard]] explicit operator bool() const noexcept { return delivered; }
};

namespace detail {

using post_clock = http::request::clock;

/// Whether a retry may succeed.
[[nodiscard]] bool may_help_to_repeat(const http::response& response) noexcept;

/// The server's Retry-After, where it is in seconds; dates are ignored.
[[nodiscard]] std::chrono::milliseconds wanted_pause(const http::response& response) noexcept;

/// Waits until then.  False where the token said stop before.
[[nodiscard]] bool pause_until(post_clock::time_point then, const std::stop_token& stop);

/// One exchange, for no longer than the deadline, even where a transport does not keep to it.
template <http_transport Transport>
[[nodiscard]] http::response exchange_once(const Transport& transport, const http::request& ask,
                                           const std::stop_token& stop) {
    http::detail::inbox answers;
    [[maybe_unused]] const auto exchange = transport.start(ask, answers, 0);
    constexpr std::chrono::milliseconds slice{50};
    http::response none;
    none.outcome = http::outcome::timed_out;
    none.failure = "no answer came in time";
    while (!stop.stop_requested()) {
        const auto now = post_clock::now();
        const bool last = ask.deadline - now <= slice;
        // After the deadline, a moment for the transport to say so itself.
        if (auto answer = answers.take_until(now + slice)) {
            return std::move(answer->response);
        }
        if (last) {
            return none;
        }
    }
    none.failure = "it was stopped";
    return none;
}

}  // namespace detail

/// Sends a finding to `url`, as finding_json writes it, with content-type application/json.
/// Tried again: after 429, 5xx, a connection that fails, is cut or stalls.  Where an answer was lost, the server gets
/// the finding twice.
/// Not:         after any other answer; redirections are not followed.
/// Never throws but std::bad_alloc: failures are in the result.  Blocks no longer than the deadline.
template <http_transport Transport>
[[nodiscard]] post_result post_finding(const Transport& transport, const std::string& url, std::string_view run,
                                       const finding& one, const post_options& how = {}) {
    using std::chrono::milliseconds;
    constexpr milliseconds longest_deadline = std::chrono::hours{24};
    const auto deadline =
        detail::post_clock::now() + std::clamp<milliseconds>(how.deadline, milliseconds{0}, longest_deadline);
    const std::string body = finding_json(run, one);
    http::request ask{.method = http::method::post, .url = url, .headers = how.headers};
    ask.headers.push_back({"content-type", "application/json"});
    ask.body = as_bytes(body);
    ask.most = std::uint64_t{1} << 20U;
    ask.deadline = deadline;
    post_result result;
    milliseconds pause = std::clamp<milliseconds>(how.first_pause, milliseconds{0}, longest_deadline);
    while (true) {
        http::response reply;
        ++result.attempts;
        try {
            reply = detail::exchange_once(transport, ask, how.stop);
        } catch (const std::bad_alloc&) {
            throw;
        } catch (const std::exception& failed) {
            reply.outcome = http::outcome::refused;
            reply.failure = failed.what();
        }
        result.status = reply.answered() ? reply.status : 0;
        result.delivered = reply.answered() && reply.status >= 200 && reply.status < 300;
        if (result.delivered) {
            result.failure.clear();
            return result;
        }
        result.failure =
            "The finding was not delivered: " +
            (reply.answered() ? "the server answered " + std::to_string(reply.status)
                              : (reply.failure.empty() ? std::string{"there was no answer"} : reply.failure));
        const auto next = detail::post_clock::now() +
                          std::max(pause, std::min<milliseconds>(detail::wanted_pause(reply), longest_deadline));
        if (!detail::may_help_to_repeat(reply) || result.attempts >= how.attempts || next >= deadline ||
            !detail::pause_until(next, how.stop)) {
            return result;
        }
        pause = std::min<milliseconds>(2 * pause, longest_deadline);
    }
}

/// A callback for findings that posts them: a custom action.  Copies share the transport's connections.
template <http_transport Transport = curl_transport>
struct webhook {
    std::string url;
    std::string run = {};  ///< the run's name in the JSON
    post_options how = {};
    Transport transport = Transport{};
    std::function<void(const post_result&)> on_result = {};

    /// Errors: what on_result throws.
    post_result operator()(const finding& one) const;
    /// The same for a finding that does not name its rule.
    post_result operator()(std::string_view rule, finding one) const;
};

}  // namespace actions
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/actions/impl/post_finding.ipp>
#endif

#include <smdebug/actions/impl/post_finding.tpp>
