// Concurrent calls, each retried until it is answered, cannot succeed, or runs out of time.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/http/concepts.hpp>
#include <smdebug/http/message.hpp>
#include <smdebug/s3/call/call.hpp>
#include <smdebug/s3/call/client.hpp>
#include <smdebug/s3/call/digest.hpp>
#include <smdebug/s3/call/retry_decision.hpp>
#include <smdebug/s3/call/signature.hpp>
#include <smdebug/s3/credentials/keys.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

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
    [[nodiscard]] bool is_missing() const noexcept;
};

/// The calls of one thread.  Destroying it cancels the calls in flight.
/// Borrows: the client, and the bodies of calls until they end.
template <class Client>
class request_pipeline {
public:
    explicit request_pipeline(const Client& asked) : client_(asked), pauses_(asked.options().retry) {}
    request_pipeline(const request_pipeline&) = delete;
    request_pipeline& operator=(const request_pipeline&) = delete;
    ~request_pipeline() = default;

    [[nodiscard]] bool idle() const noexcept { return flights_.empty(); }
    [[nodiscard]] std::size_t size() const noexcept { return flights_.size(); }

    /// Cancels all calls in flight.
    void abandon() noexcept { flights_.clear(); }
    /// Cancels the call of that number, if in flight.  The number must not be used again.
    void abandon(std::size_t ticket) noexcept { flights_.erase(ticket); }

    /// Starts a call under a number that no other call in flight has.
    /// Errors: those of the credentials; then the call is not started.
    void start(std::size_t ticket, call what);

    /// Waits until any of the calls ends.  Precondition: one is in flight.
    /// Errors: those of the credentials.
    [[nodiscard]] std::pair<std::size_t, call_result> next();

private:
    using clock = http::request::clock;
    using exchange = decltype(std::declval<const typename Client::transport_type&>().start(
        std::declval<http::request>(), std::declval<http::detail::completion_queue&>(), 0));

    // An extra call that checks a doubtful answer.
    struct detour {
        call what;
        http::response doubted;
    };

    struct flight {
        call what;
        clock::time_point began;
        clock::time_point deadline;
        std::string payload_hash = std::string{empty_payload_hash};
        std::optional<exchange> going = {};  // none: in a pause
        clock::time_point again_at = {};
        http::response last = {};
        error_answer said = {};
        std::string sent_to = {};
        std::uint64_t knowledge = 0;
        unsigned attempts = 0;
        unsigned put_right = 0;                // number of corrections so far
        std::optional<access_keys> keys = {};  // the keys that signed it
        bool reached = false;                  // whether the server has ever answered
        clock::time_point seeks_since = {};    // if it has not: time of the first attempt
        std::optional<detour> aside = {};      // the extra call in progress, if any
        bool good = false;

        [[nodiscard]] const call& asked() const noexcept { return aside ? aside->what : what; }
    };

    void launch(std::size_t ticket, flight& current);

    // Time to connect that even the last attempt gets, if the server has never answered.
    static constexpr std::chrono::milliseconds least_to_connect{500};
    [[nodiscard]] clock::time_point reach_until(const flight& current) const {
        return current.seeks_since + std::min(client_.options().retry.reach_within, client_.time_for({}));
    }

    // Returns when the next call is due.
    clock::time_point launch_what_is_due();

    // For texts from outside: a server's name, or a message of libcurl, which may quote a certificate.
    static void hide_keys_of(const flight& current, std::string& text);

    // Processes the answer.  Returns whether the call has ended.
    bool resolve(std::size_t ticket, flight& current);

    // Requests the object's size, for the same version.
    static void ask_size(flight& current);

    // Processes the answer to ask_size().  Returns whether the object ends before the wanted range; then the answer
    // contains its size.  Otherwise restores the doubtful answer.
    static bool take_size(flight& current);

    // Returns whether another attempt makes sense and there is time for it.
    bool pause(flight& current, std::optional<std::chrono::seconds> at_least);

    // Reports to the client whether a read was answered in time.  A cut or refused one is not reported.
    void note_read(const flight& current) const noexcept;

    [[nodiscard]] static call_result result_of(flight& current);

    const Client& client_;
    back_off pauses_;
    http::detail::completion_queue answers_;  // declared before the exchanges that put into it
    std::map<std::size_t, flight> flights_;   // addresses are stable
};

/// Runs one call and waits for its end.
template <class Client>
[[nodiscard]] call_result perform_call(const Client& asked, call what) {
    request_pipeline<Client> window{asked};
    window.start(0, std::move(what));
    return window.next().second;
}

/// The calls of one thread.  Destroying it cancels the calls in flight.
/// Memory: answers that arrived while waiting for another one.  Borrows: the client, and the bodies of calls.
/// Errors: those of the credentials.
template <class Client>
class bounded_calls {
public:
    /// `most`: 0 counts as 1.
    bounded_calls(const Client& asked, std::size_t most) : most_(std::max<std::size_t>(most, 1)), window_(asked) {}

    /// Whether no answer is outstanding or waiting to be taken.
    [[nodiscard]] bool idle() const noexcept { return window_.idle() && arrived_.empty(); }

    /// Starts a call as soon as the limit permits.  Returns its number; numbers ascend.
    std::size_t start(call what);

    /// Waits for the end of that call, which must not have been taken or dropped.
    [[nodiscard]] call_result wait(std::size_t number);

    /// Waits for the end of any call.  Precondition: not idle.
    [[nodiscard]] std::pair<std::size_t, call_result> next();

    /// Cancels a call whose answer is no longer needed.
    void drop(std::size_t number) noexcept;

private:
    std::size_t most_;
    request_pipeline<Client> window_;
    std::map<std::size_t, call_result> arrived_;
    std::size_t last_ = 0;
};

template <class Client>
void request_pipeline<Client>::start(std::size_t ticket, call what) {
    const auto now = clock::now();
    const auto end = std::min(now + client_.time_for(what), what.latest);
    flight begun{.what = std::move(what), .began = now, .deadline = end};
    if (!begun.what.body.empty()) {
        begun.payload_hash = to_hex(sha256(begun.what.body));
    }
    const auto entry = flights_.try_emplace(ticket, std::move(begun)).first;
    try {
        launch(entry->first, entry->second);
    } catch (...) {
        flights_.erase(entry);
        throw;
    }
}

template <class Client>
std::pair<std::size_t, call_result> request_pipeline<Client>::next() {
    while (true) {
        const auto arrival = answers_.take_until(launch_what_is_due());
        if (!arrival) {
            continue;
        }
        const auto entry = flights_.find(arrival->ticket);
        if (entry == flights_.end()) {
            continue;  // its call was cancelled after the answer had arrived
        }
        flight& current = entry->second;
        current.going.reset();
        current.last = std::move(arrival->response);
        if (const bool is_over = resolve(entry->first, current); is_over) {
            note_read(current);
            std::pair<std::size_t, call_result> ended{entry->first, result_of(current)};
            flights_.erase(entry);
            return ended;
        }
    }
}

template <class Client>
void request_pipeline<Client>::launch(std::size_t ticket, flight& current) {
    auto made = client_.prepare(current.asked(), current.payload_hash, current.deadline);
    current.knowledge = made.knowledge;
    current.keys = std::move(made.keys);
    if (!made.reached) {
        current.seeks_since = current.reached || current.attempts == 0 ? clock::now() : current.seeks_since;
        const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(reach_until(current) - clock::now());
        made.request.connect_within = std::min(made.request.connect_within, std::max(left, least_to_connect));
    }
    current.reached = made.reached;
    ++current.attempts;
    current.going.emplace(client_.transport().start(std::move(made.request), answers_, ticket));
}

template <class Client>
typename request_pipeline<Client>::clock::time_point request_pipeline<Client>::launch_what_is_due() {
    auto earliest = clock::time_point::max();
    const auto now = clock::now();
    for (auto& [ticket, current] : flights_) {
        if (!current.going && current.again_at <= now) {
            launch(ticket, current);
        }
        if (!current.going) {
            earliest = std::min(earliest, current.again_at);
        }
    }
    return earliest;
}

template <class Client>
void request_pipeline<Client>::hide_keys_of(const flight& current, std::string& text) {
    if (current.keys) {
        hide_keys(text, *current.keys);
    }
}

template <class Client>
bool request_pipeline<Client>::resolve(std::size_t ticket, flight& current) {
    const bool has_failed = current.last.answered() && current.last.status >= 300 && current.last.status != 416;
    current.said = has_failed ? parse_error_answer(current.last, current.keys) : error_answer{};
    if (current.last.outcome == http::outcome::refused || current.last.outcome == http::outcome::interrupted) {
        hide_keys_of(current, current.last.failure);
    }
    const bool is_there = current.last.answered() || current.last.outcome == http::outcome::interrupted ||
                          current.last.outcome == http::outcome::stalled;
    if (is_there && !current.reached) {
        client_.note_reached(current.knowledge);
        current.reached = true;
    }
    const retry_decision decision = judge(current.asked(), current.last, current.said);
    if (decision.move != next_move::done && !has_failed && current.last.answered()) {
        current.said = parse_error_answer(current.last, current.keys);  // some servers send 200 prematurely
    }
    switch (decision.move) {
        case next_move::done:
            current.good = !current.aside || take_size(current);
            return current.good || !pause(current, std::nullopt);
        case next_move::give_up:
            current.sent_to = decision.place;
            hide_keys_of(current, current.sent_to);
            return true;
        case next_move::again:
            return !pause(current, decision.retry_after);
        case next_move::ask_size:
            ask_size(current);
            launch(ticket, current);
            return false;
        case next_move::ask_why:
            if (current.aside) {
                return true;
            }
            // An answer to HEAD has no body with the reason: GET of the first byte has.
            current.what.method = http::method::get;
            current.what.wanted = {0, 1};
            current.what.headers.push_back({"range", range_header(current.what.wanted)});
            current.what.check = [](const http::response& answer, byte_range wanted) {
                return part_in(answer, wanted).has_value();
            };
            launch(ticket, current);
            return false;
        case next_move::to_region:
        case next_move::to_endpoint:
        case next_move::renew_keys:
        case next_move::set_clock:
            break;
    }
    constexpr unsigned most_put_right = 4;  // limits redirects in a circle
    if (++current.put_right > most_put_right || !client_.learn(decision, current.last, current.knowledge)) {
        if (decision.move == next_move::to_endpoint && !client_.trusts(decision.place)) {
            current.sent_to = decision.place;
            hide_keys_of(current, current.sent_to);
        }
        return true;
    }
    launch(ticket, current);
    return false;
}

template <class Client>
void request_pipeline<Client>::ask_size(flight& current) {
    call size{.method = http::method::head,
              .key = current.what.key,
              .headers = current.what.headers,
              .check = [](const http::response& answer, byte_range) { return body_length(answer).has_value(); },
              .doing = current.what.doing};
    std::erase_if(size.headers, [](const http::header& one) { return one.name == "range"; });
    current.aside = detour{std::move(size), std::move(current.last)};
}

template <class Client>
bool request_pipeline<Client>::take_size(flight& current) {
    const std::uint64_t size = *body_length(current.last);
    detour was = *std::exchange(current.aside, std::nullopt);
    if (size > current.what.wanted.offset) {
        current.last = std::move(was.doubted);
        current.said = parse_error_answer(current.last, current.keys);
        return false;
    }
    current.last.status = was.doubted.status;
    current.last.headers.push_back({"content-range", "bytes */" + std::to_string(size)});
    return true;
}

template <class Client>
bool request_pipeline<Client>::pause(flight& current, std::optional<std::chrono::seconds> at_least) {
    if (current.attempts >= std::max(client_.options().retry.most_attempts, 1U)) {
        return false;
    }
    const auto pause = pauses_.pause(current.attempts, at_least);
    if (current.reached) {
        current.again_at = clock::now() + pause;
        return current.again_at < current.deadline;
    }
    constexpr std::chrono::milliseconds longest_pause{1000};
    current.again_at = clock::now() + std::min(pause, longest_pause);
    return current.again_at + least_to_connect < reach_until(current);
}

template <class Client>
void request_pipeline<Client>::note_read(const flight& current) const noexcept {
    // A call that stalls in the second half of its time counts as timed out.
    const auto now = clock::now();
    const bool in_vain =
        current.last.outcome == http::outcome::timed_out ||
        (current.last.outcome == http::outcome::stalled && now - current.began > current.deadline - now);
    if (current.what.wanted.length != 0 && (in_vain || current.last.answered())) {
        client_.note_read(in_vain);
    }
}

template <class Client>
call_result request_pipeline<Client>::result_of(flight& current) {
    call_result ended{.answer = std::move(current.last),
                      .said = std::move(current.said),
                      .asked = std::move(current.what),
                      .sent_to = std::move(current.sent_to),
                      .good = current.good,
                      .is_signed = current.keys.has_value(),
                      .attempts = current.attempts,
                      .taken = std::chrono::duration_cast<std::chrono::milliseconds>(clock::now() - current.began)};
    ended.asked.body = {};
    return ended;
}

template <class Client>
std::size_t bounded_calls<Client>::start(call what) {
    while (window_.size() >= most_) {
        arrived_.insert(window_.next());
    }
    window_.start(last_ + 1, std::move(what));
    return ++last_;
}

template <class Client>
call_result bounded_calls<Client>::wait(std::size_t number) {
    while (!arrived_.contains(number)) {
        arrived_.insert(window_.next());
    }
    return std::move(arrived_.extract(number).mapped());
}

template <class Client>
std::pair<std::size_t, call_result> bounded_calls<Client>::next() {
    if (arrived_.empty()) {
        return window_.next();
    }
    auto first = arrived_.extract(arrived_.begin());
    return {first.key(), std::move(first.mapped())};
}

template <class Client>
void bounded_calls<Client>::drop(std::size_t number) noexcept {
    window_.abandon(number);
    arrived_.erase(number);
}

inline bool call_result::is_missing() const noexcept {
    return !good && answer.answered() && answer.status == 404 && said.code != "NoSuchBucket" &&
           said.code != "NoSuchUpload";
}

}  // namespace smdebug::inline v1::s3::detail
