// Concurrent calls, each retried until it is answered, cannot succeed, or runs out of time.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/http/message.hpp>
#include <smdebug/http/transport.hpp>
#include <smdebug/s3/call/call.hpp>
#include <smdebug/s3/call/client.hpp>
#include <smdebug/s3/call/retry_decision.hpp>
#include <smdebug/s3/credentials.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace smdebug::inline v1::s3::detail {

/// How a call ended.
struct call_result {
    http::response answer = {};  ///< the last attempt's
    error_answer said = {};      ///< the error in it
    call asked = {};             ///< the call without its body
    std::string sent_to = {};    ///< a server to which this one redirects, but which was not contacted
    bool good = false;           ///< whether the answer fits the request
    bool is_signed = false;      ///< whether it was signed with keys
    unsigned attempts = 0;
    std::chrono::milliseconds taken{0};

    /// Whether the object does not exist, although the bucket does.
    [[nodiscard]] bool is_missing() const noexcept {
        return !good && answer.answered() && answer.status == 404 && said.code != "NoSuchBucket" &&
               said.code != "NoSuchUpload";
    }
};

/// The calls of one thread.  Destroying it cancels the calls in flight.
/// Memory: answers that arrived while waiting for another one.
/// Borrows: the client, and the bodies of calls until they end.      Errors: those of the credentials.
class request_pipeline {
public:
    /// At most `most` calls are in flight; 0 counts as 1.
    explicit request_pipeline(const client& asked, std::size_t most = std::numeric_limits<std::size_t>::max())
        : client_(asked), most_(std::max<std::size_t>(most, 1)), pauses_(asked.options().retry) {}
    request_pipeline(const request_pipeline&) = delete;
    request_pipeline& operator=(const request_pipeline&) = delete;
    ~request_pipeline() = default;

    /// Whether no answer is outstanding or waiting to be taken.
    [[nodiscard]] bool idle() const noexcept { return flights_.empty(); }
    /// The number of calls in flight.
    [[nodiscard]] std::size_t size() const noexcept {
        return static_cast<std::size_t>(
            std::count_if(flights_.begin(), flights_.end(), [](const auto& one) { return !one.second.has_ended(); }));
    }

    /// Starts a call as soon as the limit permits.  Returns its number: 0, 1, 2, ...
    /// Errors: those of the credentials; then the call is not started, and its number is used again.
    std::size_t start(call what);

    /// Waits for the end of any call, and returns its number: wait() gives its result.  Precondition: not idle.
    [[nodiscard]] std::size_t next();
    /// Waits for the end of that call, which must not have been waited for or dropped before.
    [[nodiscard]] call_result wait(std::size_t number);

    /// Cancels a call whose answer is no longer needed.
    void drop(std::size_t number) noexcept { flights_.erase(number); }
    /// Cancels all calls.
    void abandon() noexcept { flights_.clear(); }

private:
    using clock = http::request::clock;

    // The states of a call.  launch() leads to `sent`, and the answer from there to the next state: see receive().

    struct sent {
        std::unique_ptr<http_transport::exchange> held;
        std::uint64_t knowledge = 0;      // with which the request was made
        std::optional<access_keys> keys;  // that signed it
    };
    struct paused {
        clock::time_point until;
    };
    struct ended {};
    using state = std::variant<paused, sent, ended>;

    // An answer in doubt, and the extra call that checks it: see size_call().
    struct doubt {
        call check;
        http::response answer;
    };

    struct flight {
        std::size_t number = 0;
        call_result made = {};  // `asked` has its body until the end
        clock::time_point began = {};
        clock::time_point deadline = {};
        std::string payload_hash = {};
        state now = {};
        unsigned corrections = 0;
        bool reached = false;                // whether the server has ever answered
        clock::time_point seeks_since = {};  // if it has not: time of the first attempt
        std::optional<doubt> doubted = {};

        [[nodiscard]] const call& asked() const noexcept { return doubted ? doubted->check : made.asked; }
        [[nodiscard]] bool has_ended() const noexcept { return std::holds_alternative<ended>(now); }
    };

    // Time to connect that even the last attempt gets, if the server has never answered.
    static constexpr std::chrono::milliseconds least_to_connect{500};
    [[nodiscard]] clock::time_point reach_until(const flight& of) const {
        return of.seeks_since + std::min(client_.options().retry.reach_within, client_.time_for({}));
    }

    // Sends the call, or the check of a doubt.
    [[nodiscard]] sent launch(flight& of);
    // Sends the calls whose pause is over.  Returns when the next one is due.
    clock::time_point launch_what_is_due();

    // Waits for one answer, which ends its call or leads to another attempt; or until a pause is over.
    void receive();
    // The state after an answer to `was`, which is in `of.made`.
    [[nodiscard]] state state_after(flight& of, const sent& was, const retry_decision& decision);
    // Another attempt after a pause, if one makes sense and there is time for it.
    [[nodiscard]] state pause(const flight& of, std::optional<std::chrono::seconds> at_least = std::nullopt);
    // After the size of an object that is said to end before the wanted range: confirms it, or the doubted answer was
    // wrong, and is retried.
    [[nodiscard]] state sized(flight& of, const sent& was);

    const client& client_;
    std::size_t most_;
    back_off pauses_;
    http::completion_queue answers_;         // declared before the exchanges that put into it
    std::map<std::size_t, flight> flights_;  // in flight, or ended and not taken yet; addresses are stable
    std::size_t started_ = 0;
};

/// Runs one call and waits for its end.
[[nodiscard]] call_result perform_call(const client& asked, call what);

}  // namespace smdebug::inline v1::s3::detail

#ifndef SMDEBUG_COMPILED
#include <smdebug/s3/call/impl/request_pipeline.ipp>
#endif
