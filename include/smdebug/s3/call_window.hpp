// Calls under way at once, each tried again until it is answered, cannot be, or is out of time.
// Used by: s3 (object_reader, s3_output, s3_storage).
#pragma once

#include <smdebug/http/concepts.hpp>
#include <smdebug/http/inbox.hpp>
#include <smdebug/http/message.hpp>
#include <smdebug/s3/back_off.hpp>
#include <smdebug/s3/call.hpp>
#include <smdebug/s3/client.hpp>
#include <smdebug/s3/content_range.hpp>
#include <smdebug/s3/digest.hpp>
#include <smdebug/s3/error_answer.hpp>
#include <smdebug/s3/keys.hpp>
#include <smdebug/s3/verdict.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace smdebug {
inline namespace v1 {
namespace s3 {

/// How a call ended.
struct result {
    http::response answer = {};  ///< of the last attempt
    error_answer said = {};      ///< what it says of an error
    call asked = {};             ///< without its body
    std::string sent_to = {};    ///< the server to which this one sends its requests, which was not asked
    bool good = false;           ///< whether the answer is the one that was asked for
    bool is_signed = false;      ///< whether there were keys for it
    unsigned attempts = 0;
    std::chrono::milliseconds taken{0};

    /// Whether there is no such object, where the bucket is there.
    [[nodiscard]] bool is_missing() const noexcept {
        return !good && answer.answered() && answer.status == 404 && said.code != "NoSuchBucket" &&
               said.code != "NoSuchUpload";
    }
};

/// The calls of one thread.  Destroying it ends what is under way.
/// Borrows: the client, and the bodies of calls until they are over.
template <class Client>
class call_window {
public:
    explicit call_window(const Client& asked) : client_(asked), pauses_(asked.options().retry) {}
    call_window(const call_window&) = delete;
    call_window& operator=(const call_window&) = delete;
    ~call_window() = default;

    [[nodiscard]] bool idle() const noexcept { return flights_.empty(); }
    [[nodiscard]] std::size_t size() const noexcept { return flights_.size(); }

    /// Ends all that is under way.
    void abandon() noexcept { flights_.clear(); }
    /// Ends the call of that number, where it is under way.  A number that was ended so is not used again.
    void abandon(std::size_t ticket) noexcept { flights_.erase(ticket); }

    /// Begins a call under a number that no other one under way has.
    /// Errors: what the credentials throw; the call is not begun then.
    void start(std::size_t ticket, call what) {
        const auto now = clock::now();
        const auto end = std::min(now + client_.time_for(what), what.latest);
        flight begun{.what = std::move(what), .began = now, .deadline = end};
        if (!begun.what.body.empty()) {
            begun.payload_hash = to_hex(sha256(begun.what.body));
        }
        const auto at = flights_.try_emplace(ticket, std::move(begun)).first;
        try {
            launch(at->first, at->second);
        } catch (...) {
            flights_.erase(at);
            throw;
        }
    }

    /// Waits until one of the calls is over, whichever it is: there is one under way.
    /// Errors: what the credentials throw.
    [[nodiscard]] std::pair<std::size_t, result> next() {
        while (true) {
            const auto arrival = answers_.take_until(launch_what_is_due());
            if (!arrival) {
                continue;
            }
            const auto at = flights_.find(arrival->ticket);
            if (at == flights_.end()) {
                continue;  // it had come already when it was ended
            }
            flight& held = at->second;
            held.going.reset();
            held.last = std::move(arrival->response);
            if (const bool is_over = settle(at->first, held); is_over) {
                note_read(held);
                std::pair<std::size_t, result> ended{at->first, result_of(held)};
                flights_.erase(at);
                return ended;
            }
        }
    }

private:
    using clock = http::request::clock;
    using exchange = decltype(std::declval<const typename Client::transport_type&>().start(
        std::declval<http::request>(), std::declval<http::inbox&>(), 0));

    // What has to be known before an answer can be believed.
    struct detour {
        call what;
        http::response doubted;
    };

    struct flight {
        call what;
        clock::time_point began;
        clock::time_point deadline;
        std::string payload_hash = std::string{empty_payload_hash};
        std::optional<exchange> going = {};  // none: it pauses
        clock::time_point again_at = {};
        http::response last = {};
        error_answer said = {};
        std::string sent_to = {};
        std::uint64_t knowledge = 0;
        unsigned attempts = 0;
        unsigned put_right = 0;                // how often something was learnt
        std::optional<access_keys> keys = {};  // it is signed with
        bool reached = false;                  // the server was, before
        clock::time_point seeks_since = {};    // where not
        std::optional<detour> aside = {};      // is asked instead, for now
        bool good = false;

        [[nodiscard]] const call& asked() const noexcept { return aside ? aside->what : what; }
    };

    void launch(std::size_t ticket, flight& held) {
        auto made = client_.prepare(held.asked(), held.payload_hash, held.deadline);
        held.knowledge = made.knowledge;
        held.keys = std::move(made.keys);
        if (!made.reached) {
            held.seeks_since = held.reached || held.attempts == 0 ? clock::now() : held.seeks_since;
            const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(reach_until(held) - clock::now());
            made.request.connect_within = std::min(made.request.connect_within, std::max(left, least_to_connect));
        }
        held.reached = made.reached;
        ++held.attempts;
        held.going.emplace(client_.transport().start(std::move(made.request), answers_, ticket));
    }

    // Of a server of which nothing was heard yet.
    static constexpr std::chrono::milliseconds least_to_connect{500};
    [[nodiscard]] clock::time_point reach_until(const flight& held) const {
        return held.seeks_since + std::min(client_.options().retry.reach_within, client_.time_for({}));
    }

    // Returns when the next one will be due.
    clock::time_point launch_what_is_due() {
        auto earliest = clock::time_point::max();
        const auto now = clock::now();
        for (auto& [ticket, held] : flights_) {
            if (!held.going && held.again_at <= now) {
                launch(ticket, held);
            }
            if (!held.going) {
                earliest = std::min(earliest, held.again_at);
            }
        }
        return earliest;
    }

    // A server's name, or words of libcurl, which may have a certificate's name in them.
    static void hide_keys_of(const flight& held, std::string& text) {
        if (held.keys) {
            hide_keys(text, *held.keys);
        }
    }

    // Looks at the answer.  Returns whether the call is over; else it goes on.
    bool settle(std::size_t ticket, flight& held) {
        const bool has_failed = held.last.answered() && held.last.status >= 300 && held.last.status != 416;
        held.said = has_failed ? parse_error_answer(held.last, held.keys) : error_answer{};
        if (held.last.outcome == http::outcome::refused || held.last.outcome == http::outcome::interrupted) {
            hide_keys_of(held, held.last.failure);
        }
        const bool is_there = held.last.answered() || held.last.outcome == http::outcome::interrupted ||
                              held.last.outcome == http::outcome::stalled;
        if (is_there && !held.reached) {
            client_.note_reached(held.knowledge);
            held.reached = true;
        }
        const verdict found = judge(held.asked(), held.last, held.said);
        if (found.move != next_move::done && !has_failed && held.last.answered()) {
            held.said = parse_error_answer(held.last, held.keys);  // some servers say 200 before they know
        }
        switch (found.move) {
            case next_move::done:
                held.good = !held.aside || take_size(held);
                return held.good || !pause(held, std::nullopt);
            case next_move::give_up:
                held.sent_to = found.place;
                hide_keys_of(held, held.sent_to);
                return true;
            case next_move::again:
                return !pause(held, found.retry_after);
            case next_move::ask_size:
                ask_size(held);
                launch(ticket, held);
                return false;
            case next_move::ask_why:
                if (held.aside) {
                    return true;
                }
                // Answers to HEAD have no body.  The first byte of the object tells as much.
                held.what.method = http::method::get;
                held.what.wanted = {0, 1};
                held.what.headers.push_back({"range", range_header(held.what.wanted)});
                held.what.check = [](const http::response& answer, byte_range wanted) {
                    return part_in(answer, wanted).has_value();
                };
                launch(ticket, held);
                return false;
            case next_move::to_region:
            case next_move::to_endpoint:
            case next_move::renew_keys:
            case next_move::set_clock:
                break;
        }
        constexpr unsigned most_put_right = 4;  // two servers that send us to each other
        if (++held.put_right > most_put_right || !client_.learn(found, held.last, held.knowledge)) {
            if (found.move == next_move::to_endpoint && !client_.trusts(found.place)) {
                held.sent_to = found.place;
                hide_keys_of(held, held.sent_to);
            }
            return true;
        }
        launch(ticket, held);
        return false;
    }

    // Asks how long the object is: the same version of it.
    static void ask_size(flight& held) {
        call size{.method = http::method::head,
                  .key = held.what.key,
                  .headers = held.what.headers,
                  .check = [](const http::response& answer, byte_range) { return body_length(answer).has_value(); },
                  .doing = held.what.doing};
        std::erase_if(size.headers, [](const http::header& one) { return one.name == "range"; });
        held.aside = detour{std::move(size), std::move(held.last)};
    }

    // Whether the object ends before what was wanted: the answer is then one that says where.  Else it is the one that
    // was doubted.
    static bool take_size(flight& held) {
        const std::uint64_t size = *body_length(held.last);
        detour was = *std::exchange(held.aside, std::nullopt);
        if (size > held.what.wanted.offset) {
            held.last = std::move(was.doubted);
            held.said = parse_error_answer(held.last, held.keys);
            return false;
        }
        held.last.status = was.doubted.status;
        held.last.headers.push_back({"content-range", "bytes */" + std::to_string(size)});
        return true;
    }

    // Returns whether there is time, and sense, for another attempt.
    bool pause(flight& held, std::optional<std::chrono::seconds> at_least) {
        if (held.attempts >= std::max(client_.options().retry.most_attempts, 1U)) {
            return false;
        }
        const auto pause = pauses_.pause(held.attempts, at_least);
        if (held.reached) {
            held.again_at = clock::now() + pause;
            return held.again_at < held.deadline;
        }
        constexpr std::chrono::milliseconds longest_pause{1000};
        held.again_at = clock::now() + std::min(pause, longest_pause);
        return held.again_at + least_to_connect < reach_until(held);
    }

    // An answer in time, or none: what was cut or refused says nothing of the time that the next one takes.
    void note_read(const flight& held) const noexcept {
        // The last attempts may have had no time to be told from those that are late.
        const auto now = clock::now();
        const bool in_vain = held.last.outcome == http::outcome::timed_out ||
                             (held.last.outcome == http::outcome::stalled && now - held.began > held.deadline - now);
        if (held.what.wanted.length != 0 && (in_vain || held.last.answered())) {
            client_.note_read(in_vain);
        }
    }

    [[nodiscard]] static result result_of(flight& held) {
        result ended{.answer = std::move(held.last),
                     .said = std::move(held.said),
                     .asked = std::move(held.what),
                     .sent_to = std::move(held.sent_to),
                     .good = held.good,
                     .is_signed = held.keys.has_value(),
                     .attempts = held.attempts,
                     .taken = std::chrono::duration_cast<std::chrono::milliseconds>(clock::now() - held.began)};
        ended.asked.body = {};
        return ended;
    }

    const Client& client_;
    back_off pauses_;
    http::inbox answers_;                    // before the exchanges that put into it
    std::map<std::size_t, flight> flights_;  // addresses stay
};

/// One call from start to end.
template <class Client>
[[nodiscard]] result perform_call(const Client& asked, call what) {
    call_window<Client> window{asked};
    window.start(0, std::move(what));
    return window.next().second;
}

}  // namespace s3
}  // namespace v1
}  // namespace smdebug
