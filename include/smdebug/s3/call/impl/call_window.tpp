// The bodies of <smdebug/s3/call/call_window.hpp> that are templates.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/s3/call/call_window.hpp>

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
    const auto entry = flights_.try_emplace(ticket, std::move(begun)).first;
    try {
        launch(entry->first, entry->second);
    } catch (...) {
        flights_.erase(entry);
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
        const auto entry = flights_.find(arrival->ticket);
        if (entry == flights_.end()) {
            continue;  // of a call that was abandoned when its answer was here already
        }
        flight& current = entry->second;
        current.going.reset();
        current.last = std::move(arrival->response);
        if (const bool is_over = settle(entry->first, current); is_over) {
            note_read(current);
            std::pair<std::size_t, call_result> ended{entry->first, result_of(current)};
            flights_.erase(entry);
            return ended;
        }
    }
}

template <class Client>
void call_window<Client>::launch(std::size_t ticket, flight& current) {
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
typename call_window<Client>::clock::time_point call_window<Client>::launch_what_is_due() {
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
void call_window<Client>::hide_keys_of(const flight& current, std::string& text) {
    if (current.keys) {
        hide_keys(text, *current.keys);
    }
}

template <class Client>
bool call_window<Client>::settle(std::size_t ticket, flight& current) {
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
    const verdict decision = judge(current.asked(), current.last, current.said);
    if (decision.move != next_move::done && !has_failed && current.last.answered()) {
        current.said = parse_error_answer(current.last, current.keys);  // some servers say 200 before they know
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
            // The answer to HEAD has no body to say why: GET of the first byte has.
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
    constexpr unsigned most_put_right = 4;  // two servers that send us to each other
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
void call_window<Client>::ask_size(flight& current) {
    call size{.method = http::method::head,
              .key = current.what.key,
              .headers = current.what.headers,
              .check = [](const http::response& answer, byte_range) { return body_length(answer).has_value(); },
              .doing = current.what.doing};
    std::erase_if(size.headers, [](const http::header& one) { return one.name == "range"; });
    current.aside = detour{std::move(size), std::move(current.last)};
}

template <class Client>
bool call_window<Client>::take_size(flight& current) {
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
bool call_window<Client>::pause(flight& current, std::optional<std::chrono::seconds> at_least) {
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
void call_window<Client>::note_read(const flight& current) const noexcept {
    // In the second half of its time a call that stalls counts as one that timed out.
    const auto now = clock::now();
    const bool in_vain =
        current.last.outcome == http::outcome::timed_out ||
        (current.last.outcome == http::outcome::stalled && now - current.began > current.deadline - now);
    if (current.what.wanted.length != 0 && (in_vain || current.last.answered())) {
        client_.note_read(in_vain);
    }
}

template <class Client>
call_result call_window<Client>::result_of(flight& current) {
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

}  // namespace detail
}  // namespace s3
}  // namespace v1
}  // namespace smdebug
