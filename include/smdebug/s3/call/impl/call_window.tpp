// The bodies of <smdebug/s3/call/call_window.hpp> that are templates.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/s3/call/call_window.hpp>

#include <vector>

namespace smdebug {
inline namespace v1 {
namespace s3 {
namespace detail {

template <class Client>
void call_window<Client>::start(std::size_t ticket, call what) {
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

template <class Client>
std::pair<std::size_t, call_result> call_window<Client>::next() {
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
            std::pair<std::size_t, call_result> ended{at->first, result_of(held)};
            flights_.erase(at);
            return ended;
        }
    }
}

template <class Client>
void call_window<Client>::launch(std::size_t ticket, flight& held) {
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

template <class Client>
typename call_window<Client>::clock::time_point call_window<Client>::launch_what_is_due() {
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

template <class Client>
void call_window<Client>::hide_keys_of(const flight& held, std::string& text) {
    if (held.keys) {
        hide_keys(text, *held.keys);
    }
}

template <class Client>
bool call_window<Client>::settle(std::size_t ticket, flight& held) {
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

template <class Client>
void call_window<Client>::ask_size(flight& held) {
    call size{.method = http::method::head,
              .key = held.what.key,
              .headers = held.what.headers,
              .check = [](const http::response& answer, byte_range) { return body_length(answer).has_value(); },
              .doing = held.what.doing};
    std::erase_if(size.headers, [](const http::header& one) { return one.name == "range"; });
    held.aside = detour{std::move(size), std::move(held.last)};
}

template <class Client>
bool call_window<Client>::take_size(flight& held) {
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

template <class Client>
bool call_window<Client>::pause(flight& held, std::optional<std::chrono::seconds> at_least) {
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

template <class Client>
void call_window<Client>::note_read(const flight& held) const noexcept {
    // The last attempts may have had no time to be told from those that are late.
    const auto now = clock::now();
    const bool in_vain = held.last.outcome == http::outcome::timed_out ||
                         (held.last.outcome == http::outcome::stalled && now - held.began > held.deadline - now);
    if (held.what.wanted.length != 0 && (in_vain || held.last.answered())) {
        client_.note_read(in_vain);
    }
}

template <class Client>
call_result call_window<Client>::result_of(flight& held) {
    call_result ended{.answer = std::move(held.last),
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

}  // namespace detail
}  // namespace s3
}  // namespace v1
}  // namespace smdebug
