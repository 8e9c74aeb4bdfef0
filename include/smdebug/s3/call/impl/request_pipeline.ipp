// The bodies of <smdebug/s3/call/request_pipeline.hpp>.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/s3/call/request_pipeline.hpp>
#include <smdebug/s3/call/signature.hpp>

namespace smdebug::inline v1::s3::detail {

SMDEBUG_INLINE std::size_t request_pipeline::start(call what) {
    while (size() >= most_) {
        receive();
    }
    const auto now = clock::now();
    const auto end = std::min(now + client_.time_for(what), what.latest);
    flight begun{.number = started_, .began = now, .deadline = end};
    begun.payload_hash = what.body.empty() ? std::string{empty_payload_hash} : to_hex(sha256(what.body));
    begun.made.asked = std::move(what);
    begun.now = launch(begun);
    flights_.try_emplace(started_, std::move(begun));
    return started_++;
}

SMDEBUG_INLINE std::size_t request_pipeline::next() {
    const auto has_ended = [](const auto& one) { return one.second.has_ended(); };
    auto found = flights_.end();
    while ((found = std::find_if(flights_.begin(), flights_.end(), has_ended)) == flights_.end()) {
        receive();
    }
    return found->first;
}

SMDEBUG_INLINE call_result request_pipeline::wait(std::size_t number) {
    const auto of = flights_.find(number);
    while (!of->second.has_ended()) {
        receive();
    }
    return std::move(flights_.extract(of).mapped().made);
}

SMDEBUG_INLINE request_pipeline::sent request_pipeline::launch(flight& of) {
    client::prepared ready = client_.prepare(of.asked(), of.payload_hash, of.deadline);
    if (!ready.reached) {
        of.seeks_since = of.reached || of.made.attempts == 0 ? clock::now() : of.seeks_since;
        const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(reach_until(of) - clock::now());
        ready.request.connect_within = std::min(ready.request.connect_within, std::max(left, least_to_connect));
    }
    of.reached = ready.reached;
    ++of.made.attempts;
    return {client_.transport().start(std::move(ready.request), answers_, of.number), ready.knowledge,
            std::move(ready.keys)};
}

SMDEBUG_INLINE request_pipeline::clock::time_point request_pipeline::launch_what_is_due() {
    auto earliest = clock::time_point::max();
    const auto now = clock::now();
    for (auto& [number, of] : flights_) {
        if (const paused* const waits = std::get_if<paused>(&of.now); waits != nullptr && waits->until <= now) {
            of.now = launch(of);
        } else if (waits != nullptr) {
            earliest = std::min(earliest, waits->until);
        }
    }
    return earliest;
}

SMDEBUG_INLINE void request_pipeline::receive() {
    auto arrival = answers_.take_until(launch_what_is_due());
    const auto entry = arrival ? flights_.find(arrival->ticket) : flights_.end();
    if (entry == flights_.end()) {
        return;  // a pause is over, or the call was cancelled after its answer had arrived
    }
    flight& of = entry->second;
    const sent was = std::get<sent>(std::exchange(of.now, paused{}));
    http::response& answer = of.made.answer = std::move(arrival->response);
    of.made.is_signed = was.keys.has_value();
    const bool has_failed = answer.answered() && answer.status >= 300 && answer.status != 416;
    of.made.said = has_failed ? parse_error_answer(answer, was.keys) : error_answer{};
    const bool was_cut = answer.outcome == http::outcome::interrupted;
    if (was.keys && (was_cut || answer.outcome == http::outcome::refused)) {
        hide_keys(answer.failure, *was.keys);  // libcurl's message may quote a certificate
    }
    const bool has_stalled = answer.outcome == http::outcome::stalled;
    if (!of.reached && (answer.answered() || was_cut || has_stalled)) {
        client_.note_reached(was.knowledge);
        of.reached = true;
    }
    const retry_decision decision = judge(of.asked(), answer, of.made.said);
    if (decision.move != next_move::done && !has_failed && answer.answered()) {
        of.made.said = parse_error_answer(answer, was.keys);  // some servers send 200 prematurely
    }
    of.now = state_after(of, was, decision);
    if (!of.has_ended()) {
        return;
    }
    // A read that stalls in the second half of its time counts as timed out.  A cut or refused one is not reported.
    const auto now = clock::now();
    const bool in_vain =
        answer.outcome == http::outcome::timed_out || (has_stalled && now - of.began > of.deadline - now);
    if (of.made.asked.wanted.length != 0 && (in_vain || answer.answered())) {
        client_.note_read(in_vain);
    }
    of.made.asked.body = {};
    of.made.taken = std::chrono::duration_cast<std::chrono::milliseconds>(now - of.began);
}

SMDEBUG_INLINE request_pipeline::state request_pipeline::state_after(flight& of, const sent& was,
                                                                     const retry_decision& decision) {
    switch (decision.move) {
        case next_move::done:
            of.made.good = !of.doubted;
            return of.doubted ? sized(of, was) : ended{};
        case next_move::again:
            return pause(of, decision.retry_after);
        case next_move::ask_size: {
            call check{.method = http::method::head,
                       .key = of.made.asked.key,
                       .headers = of.made.asked.headers,
                       .check = [](const http::response& got, byte_range) { return body_length(got).has_value(); },
                       .doing = of.made.asked.doing};
            std::erase_if(check.headers, [](const http::header& one) { return one.name == "range"; });
            of.doubted = doubt{std::move(check), std::move(of.made.answer)};
            return launch(of);
        }
        case next_move::ask_why:
            if (of.doubted) {
                return ended{};
            }
            // An answer to HEAD has no body with the reason: GET of the first byte has.
            of.made.asked.method = http::method::get;
            of.made.asked.wanted = {0, 1};
            of.made.asked.headers.push_back({"range", range_header(of.made.asked.wanted)});
            of.made.asked.check = [](const http::response& got, byte_range wanted) {
                return part_in(got, wanted).has_value();
            };
            return launch(of);
        case next_move::give_up:
        case next_move::to_region:
        case next_move::to_endpoint:
        case next_move::renew_keys:
        case next_move::set_clock:
            break;
    }
    constexpr unsigned most_corrections = 4;  // limits redirects in a circle
    const bool gives_up = decision.move == next_move::give_up;
    if (!gives_up && ++of.corrections <= most_corrections && client_.learn(decision, of.made.answer, was.knowledge)) {
        return launch(of);
    }
    if (gives_up || (decision.move == next_move::to_endpoint && !client_.trusts(decision.place))) {
        of.made.sent_to = decision.place;
        if (was.keys) {
            hide_keys(of.made.sent_to, *was.keys);
        }
    }
    return ended{};
}

SMDEBUG_INLINE request_pipeline::state request_pipeline::pause(const flight& of,
                                                               std::optional<std::chrono::seconds> at_least) {
    if (of.made.attempts >= std::max(client_.options().retry.most_attempts, 1U)) {
        return ended{};
    }
    constexpr std::chrono::milliseconds longest_to_seek{1000};
    const std::chrono::milliseconds pause = pauses_.pause(of.made.attempts, at_least);
    const auto until = clock::now() + (of.reached ? pause : std::min(pause, longest_to_seek));
    const bool in_time = of.reached ? until < of.deadline : until + least_to_connect < reach_until(of);
    return in_time ? state{paused{until}} : ended{};
}

SMDEBUG_INLINE request_pipeline::state request_pipeline::sized(flight& of, const sent& was) {
    const std::uint64_t size = *body_length(of.made.answer);
    doubt doubted = *std::exchange(of.doubted, std::nullopt);
    if (size > of.made.asked.wanted.offset) {
        of.made.answer = std::move(doubted.answer);
        of.made.said = parse_error_answer(of.made.answer, was.keys);
        return pause(of);
    }
    of.made.answer.status = doubted.answer.status;
    of.made.answer.headers.push_back({"content-range", "bytes */" + std::to_string(size)});
    of.made.good = true;
    return ended{};
}

SMDEBUG_INLINE call_result perform_call(const client& asked, call what) {
    request_pipeline calls{asked};
    return calls.wait(calls.start(std::move(what)));
}

}  // namespace smdebug::inline v1::s3::detail
