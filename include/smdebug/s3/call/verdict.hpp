// What to make of an answer: take it, ask again, put something right first, or give up.
// Pure.
// Source: Amazon's list of S3 error responses, and what radosgw and Swift do.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/http/message.hpp>
#include <smdebug/s3/call/back_off.hpp>
#include <smdebug/s3/call/call.hpp>
#include <smdebug/s3/call/content_range.hpp>
#include <smdebug/s3/call/endpoint.hpp>
#include <smdebug/s3/call/error_answer.hpp>
#include <smdebug/s3/call/same_service.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace smdebug {
inline namespace v1 {
namespace s3 {
namespace detail {

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

template <std::size_t N>
[[nodiscard]] constexpr bool is_among(std::string_view code, const std::array<std::string_view, N>& codes) noexcept {
    return std::find(codes.begin(), codes.end(), code) != codes.end();
}

/// `said` is what the answer says of an error, where its status is one.
[[nodiscard]] verdict judge(const call& asked, const http::response& answer, const error_answer& said);

}  // namespace detail
}  // namespace s3
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/s3/call/impl/verdict.ipp>
#endif
