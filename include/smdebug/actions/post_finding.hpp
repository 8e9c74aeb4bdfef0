// Posting findings to a server, as JSON over HTTP, with retries.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/stop_token.hpp>
#include <smdebug/core/text_number.hpp>
#include <smdebug/http/curl_transport.hpp>
#include <smdebug/http/message.hpp>
#include <smdebug/http/transport.hpp>
#include <smdebug/rules/rule_result.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace smdebug::inline v1::actions {

struct post_options {
    std::vector<http::header> headers = {};  ///< besides content-type; names in lower case
    unsigned attempts = 4;
    /// Before the second attempt; doubled each time.  A longer Retry-After of the server takes precedence.
    std::chrono::milliseconds first_pause{250};
    std::chrono::milliseconds deadline{std::chrono::seconds{30}};  ///< of all attempts together
    std::stop_token stop = {};
};

struct post_result {
    bool delivered = false;    ///< the server answered 2xx
    int status = 0;            ///< that of its last answer; 0 if there was none
    unsigned attempts = 0;     ///< the number of requests sent
    std::string failure = {};  ///< a sentence; empty when delivered.  Omits the address, which may be a secret

    [[nodiscard]] explicit operator bool() const noexcept { return delivered; }
};

namespace detail {

using post_clock = http::request::clock;

/// Whether a retry may succeed.
[[nodiscard]] inline bool may_help_to_repeat(const http::response& response) noexcept {
    if (response.answered()) {
        return response.status == 429 || response.status >= 500;
    }
    return response.outcome == http::outcome::unreachable || response.outcome == http::outcome::interrupted ||
           response.outcome == http::outcome::stalled;
}

/// The server's Retry-After, if it is in seconds; dates are ignored.
[[nodiscard]] inline std::chrono::milliseconds wanted_pause(const http::response& response) noexcept {
    const std::string_view text = response.answered() ? response.find_header("retry-after").value_or("") : "";
    return std::chrono::seconds{smdebug::detail::number_of_text<std::uint32_t>(text).value_or(0)};
}

/// Waits until then.  False if the token requested a stop before.
[[nodiscard]] inline bool pause_until(post_clock::time_point then, const std::stop_token& stop) {
    constexpr std::chrono::milliseconds slice{20};
    while (!stop.stop_requested()) {
        const auto left = then - post_clock::now();
        if (left <= left.zero()) {
            return true;
        }
        std::this_thread::sleep_for(std::min<std::chrono::nanoseconds>(left, slice));
    }
    return false;
}

/// One exchange, limited by the deadline even if the transport ignores it.
[[nodiscard]] inline http::response exchange_once(const http_transport& transport, const http::request& ask,
                                                  const std::stop_token& stop) {
    http::completion_queue answers;
    const auto exchange = transport.start(ask, answers, 0);
    constexpr std::chrono::milliseconds slice{50};
    http::response none;
    none.outcome = http::outcome::timed_out;
    none.failure = "no answer came in time";
    while (!stop.stop_requested()) {
        const auto now = post_clock::now();
        const bool last = ask.deadline - now <= slice;
        // After the deadline, the transport gets a moment to report it itself.
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
/// Retried:     after 429, 5xx, and a connection that fails, is cut or stalls.  If an answer was lost, the server gets
///              the finding twice.
/// Not retried: after any other answer; redirections are not followed.
/// Throws only std::bad_alloc: failures are in the result.  Blocks no longer than the deadline.
[[nodiscard]] inline post_result post_finding(const http_transport& transport, const std::string& url,
                                              std::string_view run, const finding& one, const post_options& how = {}) {
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
struct webhook {
    std::string url;
    std::string run = {};  ///< the run's name in the JSON
    post_options how = {};
    std::shared_ptr<const http_transport> transport = std::make_shared<curl_transport>();
    std::function<void(const post_result&)> on_result = {};

    /// Errors: what on_result throws.
    post_result operator()(const finding& one) const;
    /// Posts a finding with `rule` as the name of its rule.
    post_result operator()(std::string_view rule, finding one) const;
};

inline post_result webhook::operator()(const finding& one) const {
    post_result result = post_finding(*transport, url, run, one, how);
    if (on_result) {
        on_result(result);
    }
    return result;
}

inline post_result webhook::operator()(std::string_view rule, finding one) const {
    one.rule = rule;
    return (*this)(one);
}

}  // namespace smdebug::inline v1::actions
