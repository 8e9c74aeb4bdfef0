// The bodies of <smdebug/s3/credentials/metadata_exchange.hpp>.
#pragma once

#include <smdebug/s3/credentials/metadata_exchange.hpp>

#include <algorithm>
#include <cstdint>
#include <utility>

namespace smdebug {
inline namespace v1 {
namespace s3 {
namespace detail {

SMDEBUG_INLINE http::request metadata_request(http::method how, std::string url, const metadata_limits& limits,
                                              http::request::clock::time_point latest) {
    constexpr std::uint64_t longest_answer = std::uint64_t{64} << 10U;
    return {.method = how,
            .url = std::move(url),
            .most = longest_answer,
            .connect_within = limits.connect_within,
            .stalled_after = limits.answer_within,
            .deadline = std::min(latest, http::request::clock::now() + limits.answer_within)};
}

SMDEBUG_INLINE keys_answer without_keys(const http::response& got, const std::string& where) {
    if (!got.answered()) {
        const bool for_good = got.outcome == http::outcome::refused;
        return {for_good ? keys_outcome::refused : keys_outcome::unreachable,
                {},
                where + " (no answer: " + got.failure + ")"};
    }
    constexpr int request_timeout = 408;
    constexpr int too_many = 429;
    constexpr int server_errors = 500;
    const bool passing = got.status == request_timeout || got.status == too_many || got.status >= server_errors;
    return {passing ? keys_outcome::failing : keys_outcome::refused,
            {},
            where + " (it answers with status " + std::to_string(got.status) + ")"};
}

}  // namespace detail
}  // namespace s3
}  // namespace v1
}  // namespace smdebug
