// The bodies of <smdebug/s3/call/retry_decision.hpp>.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/s3/call/retry_decision.hpp>

#include <algorithm>
#include <cstddef>
#include <initializer_list>

namespace smdebug::inline v1::s3::detail {

SMDEBUG_INLINE std::optional<std::chrono::seconds> parse_retry_after(std::string_view value) noexcept {
    const auto number = take_number(value);
    const bool good = number && *number <= INT64_MAX && value.empty();
    const std::uint64_t most = std::uint64_t{366} * 24 * 3600;
    return good ? std::optional{std::chrono::seconds{std::min(*number, most)}} : std::nullopt;
}

SMDEBUG_INLINE std::chrono::milliseconds back_off::pause(unsigned attempt,
                                                         std::optional<std::chrono::seconds> at_least) {
    using std::chrono::milliseconds;
    const auto longest = std::max(how_.longest_pause, milliseconds{0});
    auto bound = std::clamp(how_.first_pause, milliseconds{0}, longest);
    for (unsigned i = 1; i < attempt && bound < longest; ++i) {
        bound = bound < longest / 2 ? 2 * bound + milliseconds{1} : longest;
    }
    std::uniform_int_distribution<milliseconds::rep> up_to{0, bound.count()};
    // All clients get the same Retry-After: a random addition keeps them apart.
    return (at_least ? milliseconds{*at_least} : milliseconds{0}) + milliseconds{up_to(random_)};
}

/// Whether a word may be a signature, a token or a key's id, which must not be shown.
[[nodiscard]] constexpr bool looks_secret(std::string_view word) noexcept {
    return word.size() >= 32 || (word.size() >= 16 && (word.starts_with("AKIA") || word.starts_with("ASIA")));
}

/// One line for people: white space folded, unprintable characters as '?', words that looks_secret() as "...", cut at
/// 300 characters.
SMDEBUG_INLINE std::string shown(std::string_view text) {
    constexpr std::size_t most = 300;
    const auto in_word = [](char c) { return is_alphanumeric(c) || c == '+' || c == '_'; };
    std::string out;
    while (!text.empty() && out.size() <= most) {
        const char c = text.front();
        std::size_t length = 1;
        if (in_word(c)) {
            length = static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), in_word) - text.begin());
            const std::string_view word = text.substr(0, length);
            out.append(looks_secret(word) ? "..." : word);
        } else if (c == ' ' || (c >= '\t' && c <= '\r')) {
            out.append(out.empty() || out.back() == ' ' ? "" : " ");
        } else {
            out += c > ' ' && c <= '~' ? c : '?';
        }
        text.remove_prefix(length);
    }
    if (out.size() > most) {
        out.replace(most - 3, std::string::npos, "...");
    }
    if (out.ends_with(' ')) {
        out.pop_back();
    }
    return out;
}

/// The title of an HTML page, as proxies send them.
SMDEBUG_INLINE std::string_view html_title(std::string_view page) noexcept {
    for (const std::string_view tag : {"<title>", "<TITLE>"}) {
        if (const std::size_t at = page.find(tag); at != std::string_view::npos) {
            const std::string_view title = page.substr(at + tag.size());
            const std::size_t end = title.find('<');
            return end == std::string_view::npos ? std::string_view{} : title.substr(0, end);
        }
    }
    return {};
}

SMDEBUG_INLINE error_answer parse_error_answer(const http::response& answer,
                                               const std::optional<access_keys>& signed_with) {
    constexpr std::size_t most = std::size_t{64} << 10U;
    error_answer said;
    // Before texts are shortened: a shortened key would not be recognised.
    const auto without_keys = [&](std::string_view text, letter_case how = letter_case::any) {
        std::string hidden{text};
        if (signed_with) {
            hide_keys(hidden, *signed_with, how);
        }
        return hidden;
    };
    // Regions and hosts are acted upon: with something left out they would name other ones.
    const auto unless_key = [&](std::string_view text) {
        return without_keys(text, letter_case::as_it_is) == text ? text : std::string_view{};
    };
    const auto header = [&](std::string_view name) { return answer.find_header(name).value_or(std::string_view{}); };
    std::string_view request_id = header("x-amz-request-id");
    std::string_view region = header("x-amz-bucket-region");
    const byte_view body = answer.body.view().first(std::min(answer.body.size(), most));
    xml_document document;
    if (const auto root = document.parse(body, "Error")) {
        const auto field = [&](const char* name) { return root->text_of(name).value_or(std::string_view{}); };
        // Codes are case-sensitive: "InvalidAccessKeyId" stays whole even if a key's id is "KEYID".
        said.code = plain_word(without_keys(field("Code"), letter_case::as_it_is), "._-");
        said.message = shown(without_keys(field("Message")));
        said.endpoint = plain_word(unless_key(field("Endpoint")), ".-:[]");
        request_id = request_id.empty() ? field("RequestId") : request_id;
        region = region.empty() ? field("Region") : region;
    } else {
        said.message = shown(without_keys(html_title(as_text(body))));
    }
    said.request_id = plain_word(without_keys(request_id), "._-:/+=");
    said.region = plain_word(unless_key(region), "-_");
    return said;
}

SMDEBUG_INLINE retry_decision judge(const call& asked, const http::response& answer, const error_answer& said) {
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
    const auto says_one_of = [&](std::initializer_list<std::string_view> codes) {
        return std::find(codes.begin(), codes.end(), said.code) != codes.end();
    };
    if ((status == 400 || status == 401 || status == 403) &&
        says_one_of({"ExpiredToken", "TokenRefreshRequired", "ExpiredTokenException", "RequestExpired"})) {
        return {next_move::renew_keys};
    }
    if (status == 403 && said.code == "RequestTimeTooSkewed") {
        return {next_move::set_clock};
    }
    const bool is_passing =
        status == 408 || status == 429 || status == 500 || status == 502 || status == 503 || status == 504 ||
        status == 509 ||
        says_one_of({"RequestTimeout", "SlowDown", "Throttling", "ThrottlingException", "RequestLimitExceeded",
                     "InternalError", "ServiceUnavailable", "OperationAborted", "ConditionalRequestConflict",
                     // The server received the body damaged.
                     "IncompleteBody", "BadDigest", "XAmzContentSHA256Mismatch"});
    if (is_passing) {
        const auto after = answer.find_header("retry-after");
        return {next_move::again, {}, after ? parse_retry_after(*after) : std::nullopt};
    }
    // Servers name the right region in either of these; some do in every answer, so other causes are checked first.
    if (is_region(said.region) && (status == 301 || status == 307 || status == 308 || status == 400)) {
        return {next_move::to_region, said.region};
    }
    if (status == 301 || status == 302 || status == 307 || status == 308) {
        // Only the server part of the address counts; an address with a user name is never used.
        const auto server = server_named_by(answer.find_header("location").value_or(""));
        const next_move move = server && !server->has_user ? next_move::to_endpoint : next_move::give_up;
        return {move, server ? server->text() : std::string{}};
    }
    if (asked.method == http::method::head && status >= 400 && status < 500 && status != 404 && status != 429) {
        return {next_move::ask_why};
    }
    return {next_move::give_up};
}

}  // namespace smdebug::inline v1::s3::detail
