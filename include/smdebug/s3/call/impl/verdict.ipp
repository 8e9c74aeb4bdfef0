// The bodies of <smdebug/s3/call/verdict.hpp>.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/s3/call/verdict.hpp>

namespace smdebug {
inline namespace v1 {
namespace s3 {
namespace detail {

SMDEBUG_INLINE verdict judge(const call& asked, const http::response& answer, const error_answer& said) {
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

}  // namespace detail
}  // namespace s3
}  // namespace v1
}  // namespace smdebug
