// What to do with an answer: accept it, retry, correct something first, or give up.
// Pure functions.
// Source: Amazon's list of S3 error responses, and the behaviour of radosgw and Swift.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/http/message.hpp>
#include <smdebug/s3/call/call.hpp>
#include <smdebug/s3/call/endpoint.hpp>
#include <smdebug/s3/call/xml_document.hpp>
#include <smdebug/s3/credentials.hpp>
#include <smdebug/s3/options.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <string_view>

namespace smdebug::inline v1::s3::detail {

/// Parses Retry-After in seconds; nothing for other forms, such as a date.
[[nodiscard]] std::optional<std::chrono::seconds> parse_retry_after(std::string_view value) noexcept;

/// Random pauses between zero and a bound that doubles ("full jitter"): clients that failed together do not retry
/// together.  One thread at a time.
class back_off {
public:
    explicit back_off(const retry_options& how, std::uint64_t seed = std::random_device{}())
        : how_(how), random_(seed) {}

    /// The pause after attempt number `attempt`, counted from 1; `at_least`: the server's Retry-After.
    [[nodiscard]] std::chrono::milliseconds pause(unsigned attempt,
                                                  std::optional<std::chrono::seconds> at_least = std::nullopt);

private:
    retry_options how_;
    std::minstd_rand random_;
};

/// A field is empty if the server does not send it or sends an impossible value.
struct error_answer {
    std::string code = {};        ///< "NoSuchKey", ...
    std::string message = {};     ///< for people: one line, at most 300 characters of ASCII
    std::string request_id = {};  ///< identifies the request in the server's logs
    std::string region = {};      ///< the bucket's region, or the one the signature should have named
    std::string endpoint = {};    ///< the host to use instead
};

/// Reads an error answer of any kind: XML of S3, a proxy's page, empty, cut or garbage.  Echoed parts of the request
/// (its signature, the signed text, key ids, tokens) are left out, and so is every piece of the keys `signed_with`.
/// Cost: linear in the body, of which at most 64 KiB are read.
[[nodiscard]] error_answer parse_error_answer(const http::response& answer,
                                              const std::optional<access_keys>& signed_with = {});

/// The next step after an attempt.
enum class next_move : std::uint8_t {
    done,         ///< the answer is complete and fits the request
    again,        ///< temporary failure: retry after a pause
    to_region,    ///< the bucket is in another region: retry_decision::place
    to_endpoint,  ///< allegedly another server has the bucket: retry_decision::place; client::learn() decides
    renew_keys,   ///< the keys have expired
    set_clock,    ///< this machine's clock is wrong: use the answer's date
    ask_why,      ///< the answer has no reason: request again in a way that returns one
    ask_size,     ///< 416 without the object's size: request the size to check it
    give_up,
};

struct retry_decision {
    next_move move = next_move::done;
    std::string place = {};                                ///< a region or "https://host"; also set with give_up
    std::optional<std::chrono::seconds> retry_after = {};  ///< with `again`
};

/// `said`: the error in the answer, if its status is one.
[[nodiscard]] retry_decision judge(const call& asked, const http::response& answer, const error_answer& said);

}  // namespace smdebug::inline v1::s3::detail

#ifndef SMDEBUG_COMPILED
#include <smdebug/s3/call/impl/retry_decision.ipp>
#endif
