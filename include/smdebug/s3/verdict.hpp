// What to make of an answer: take it, ask again, put something right first, or give up.
// Pure.  Used by: s3/call_window.hpp, s3/failure.hpp.
// Source: Amazon's list of S3 error responses, and what radosgw and Swift do.
#pragma once

#include <smdebug/http/message.hpp>
#include <smdebug/s3/back_off.hpp>
#include <smdebug/s3/call.hpp>
#include <smdebug/s3/content_range.hpp>
#include <smdebug/s3/endpoint.hpp>
#include <smdebug/s3/error_answer.hpp>
#include <smdebug/s3/same_service.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace smdebug {
inline namespace v1 {
namespace s3 {

/// What the answer to an attempt calls for.
enum class next_move : std::uint8_t {
    done,         ///< the answer is whole, and the one that was asked for
    again,        ///< passing: ask again, after a pause
    to_region,    ///< the bucket is in another region: verdict::place
    to_endpoint,  ///< another server has the bucket, it is said: verdict::place; client::learn() decides
    renew_keys,   ///< the keys have expired
    set_clock,    ///< this machine's clock is wrong: the answer's date is right
    ask_why,      ///< an answer that may not say why: ask in a way that does
    ask_size,     ///< 416 that does not say where the object ends: only its size tells whether that is true
    give_up,
};

struct verdict {
    next_move move = next_move::done;
    std::string place = {};                                ///< a region, or "https://host", also of give_up
    std::optional<std::chrono::seconds> retry_after = {};  ///< of `again`
};

namespace detail {

template <std::size_t N>
[[nodiscard]] constexpr bool is_among(std::string_view code, const std::array<std::string_view, N>& codes) noexcept {
    return std::find(codes.begin(), codes.end(), code) != codes.end();
}

}  // namespace detail

/// `said` is what the answer says of an error, where its status is one.
[[nodiscard]] inline verdict judge(const call& asked, const http::response& answer, const error_answer& said) {
    using detail::is_among;
    switch (answer.outcome) {
        case http::outcome::answered:
            break;
        case http::outcome::unreachable:
        case http::outcome::interrupted:
        case http::outcome::stalled:
            return {next_move::again};
        case http::outcome::timed_out:
        case http::outcome::too_long:
        case http::outcome::refused:
            return {next_move::give_up};
    }
    const int status = answer.status;
    const bool asks_for_part = asked.wanted.length != 0;
    if ((status >= 200 && status < 300) || (status == 416 && asks_for_part)) {
        if (asked.check(answer, asked.wanted)) {
            return {next_move::done};
        }
        const bool tells_size = parse_content_range(answer.find_header("content-range").value_or("")).has_value();
        return {status == 416 && !tells_size ? next_move::ask_size : next_move::again};
    }
    constexpr std::array expired{std::string_view{"ExpiredToken"}, std::string_view{"TokenRefreshRequired"},
                                 std::string_view{"ExpiredTokenException"}, std::string_view{"RequestExpired"}};
    if ((status == 400 || status == 401 || status == 403) && is_among(said.code, expired)) {
        return {next_move::renew_keys};
    }
    if (status == 403 && said.code == "RequestTimeTooSkewed") {
        return {next_move::set_clock};
    }
    constexpr std::array passing{std::string_view{"RequestTimeout"}, std::string_view{"SlowDown"},
                                 std::string_view{"Throttling"}, std::string_view{"ThrottlingException"},
                                 std::string_view{"RequestLimitExceeded"}, std::string_view{"InternalError"},
                                 std::string_view{"ServiceUnavailable"}, std::string_view{"OperationAborted"},
                                 std::string_view{"ConditionalRequestConflict"},
                                 // The body that we sent did not come there as it was.
                                 std::string_view{"IncompleteBody"}, std::string_view{"BadDigest"},
                                 std::string_view{"XAmzContentSHA256Mismatch"}};
    const bool is_passing = status == 408 || status == 429 || status == 500 || status == 502 || status == 503 ||
                            status == 504 || status == 509 || is_among(said.code, passing);
    if (is_passing) {
        const auto after = answer.find_header("retry-after");
        return {next_move::again, {}, after ? parse_retry_after(*after) : std::nullopt};
    }
    // The right region is told by whichever of these a server has; some name it in every answer, so it comes after what
    // else may be wrong.
    if (is_region(said.region) && (status == 301 || status == 307 || status == 308 || status == 400)) {
        return {next_move::to_region, said.region};
    }
    if (status == 301 || status == 302 || status == 307 || status == 308) {
        // Of the address only the server counts; one with a user's name is never asked.
        const auto server = server_named_by(answer.find_header("location").value_or(""));
        const next_move move = server && !server->has_user ? next_move::to_endpoint : next_move::give_up;
        return {move, server ? server->text() : std::string{}};
    }
    if (asked.method == http::method::head && status >= 400 && status < 500 && status != 404 && status != 429) {
        return {next_move::ask_why};
    }
    return {next_move::give_up};
}

}  // namespace s3
}  // namespace v1
}  // namespace smdebug
