// Signed requests to one bucket: its server, region, keys and clock, corrected from the server's answers.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/core/system_time.hpp>
#include <smdebug/http/concepts.hpp>
#include <smdebug/http/message.hpp>
#include <smdebug/s3/call/call.hpp>
#include <smdebug/s3/call/endpoint.hpp>
#include <smdebug/s3/call/retry_decision.hpp>
#include <smdebug/s3/call/signature.hpp>
#include <smdebug/s3/credentials.hpp>
#include <smdebug/s3/credentials/keys.hpp>
#include <smdebug/s3/location.hpp>
#include <smdebug/s3/options.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

namespace smdebug::inline v1::s3::detail {

/// "Sun, 06 Nov 1994 08:49:37 GMT", the only form that servers send; nothing for anything else.
/// Dates beyond the range of the system's clock are clamped to it.
[[nodiscard]] inline std::optional<std::chrono::system_clock::time_point> parse_http_date(std::string_view text) {
    constexpr std::size_t length = 29;
    constexpr std::array<std::string_view, 12> months{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                      "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    if (text.size() != length || text.substr(3, 2) != ", " || !text.ends_with(" GMT") || text[7] != ' ' ||
        text[11] != ' ' || text[16] != ' ' || text[19] != ':' || text[22] != ':') {
        return std::nullopt;
    }
    bool is_good = true;
    const auto number = [&](std::size_t at, std::size_t count) {
        unsigned value = 0;
        const char* const end = text.data() + at + count;
        const auto [stop, code] = std::from_chars(text.data() + at, end, value);
        is_good = is_good && code == std::errc{} && stop == end;
        return value;
    };
    const auto month = std::find(months.begin(), months.end(), text.substr(8, 3));
    const unsigned day = number(5, 2);
    const unsigned year = number(12, 4);
    const unsigned hour = number(17, 2);
    const unsigned minute = number(20, 2);
    const unsigned second = number(23, 2);
    const std::chrono::year_month_day date{std::chrono::year{static_cast<int>(year)},
                                           std::chrono::month{static_cast<unsigned>(month - months.begin()) + 1},
                                           std::chrono::day{day}};
    if (!is_good || !date.ok() || hour > 23 || minute > 59 || second > 60) {
        return std::nullopt;
    }
    return nearest_system_time(std::chrono::sys_days{date}.time_since_epoch() + std::chrono::hours{hour} +
                               std::chrono::minutes{minute} + std::chrono::seconds{second});
}

/// Makes signed requests to a bucket.
/// Threads: all calls on any, concurrently.
template <http_transport Transport, credentials_provider Credentials>
class client {
public:
    using transport_type = Transport;
    using clock = http::request::clock;

    /// A request, and the version of the client's knowledge that it was made with.
    struct prepared {
        http::request request;
        std::uint64_t knowledge = 0;
        std::optional<access_keys> keys = {};  ///< the keys that signed it
        bool reached = false;                  ///< its server had answered before
    };

    /// `options` must have the final region and endpoint: no other source is read.
    /// Errors: value_error (endpoint, region).
    client(location where, s3_options options, Transport transport, Credentials credentials);

    client(const client&) = delete;
    client& operator=(const client&) = delete;
    ~client() = default;

    [[nodiscard]] const location& where() const noexcept { return where_; }
    [[nodiscard]] const s3_options& options() const noexcept { return options_; }
    [[nodiscard]] const Transport& transport() const noexcept { return transport_; }
    /// "https://host" of the current server.
    [[nodiscard]] std::string server() const {
        const std::string base = base_url(look());
        return base.substr(0, base.find('/', base.find("://") + 3));
    }

    /// Whether a server may replace this one because it belongs to the same service.  Required even without keys: data
    /// is neither sent to nor taken from another service.
    [[nodiscard]] bool trusts(std::string_view server) const {
        const std::lock_guard lock{guard_};
        return standing_of(server) != standing::stranger;
    }

    /// The request for a call, signed for the current time.  `payload_hash`: see signer.  Borrows the call's body.
    /// Errors: those of the credentials.
    [[nodiscard]] prepared prepare(const call& asked, std::string_view payload_hash, clock::time_point deadline) const;

    /// How long a call that begins now may take.
    [[nodiscard]] std::chrono::milliseconds time_for(const call& asked) const noexcept;
    /// Records how a call for an object ended: with any complete answer, or with none in all its time.
    void note_read(bool in_vain) const noexcept;

    /// Records that the server of a prepared request has answered.
    void note_reached(std::uint64_t prepared_in) const {
        const std::lock_guard lock{guard_};
        known_.reached = known_.reached || known_.number == prepared_in;
    }

    /// Corrects the cause that a retry decision names.  Returns whether a retry makes sense: something has been learnt
    /// now, or since the request was prepared.
    /// Errors: those of the credentials.
    [[nodiscard]] bool learn(const retry_decision& what, const http::response& answer, std::uint64_t prepared_in) const;

private:
    struct knowledge {
        std::string region;
        std::optional<std::string> endpoint = {};
        std::string moved_to = {};  ///< a server of this service to which another one redirected us
        bool names_bucket = false;  ///< whether the name of `moved_to` includes the bucket's
        bool reached = false;       ///< whether the current server has ever answered
        std::chrono::milliseconds clock_offset{0};
        std::uint64_t number = 0;  ///< incremented with each change
    };

    [[nodiscard]] knowledge look() const {
        const std::lock_guard lock{guard_};
        return known_;
    }

    [[nodiscard]] std::string base_url(const knowledge& now) const;

    // A server's relation to the service as configured, not as other servers have described it.  Under the lock.
    [[nodiscard]] standing standing_of(std::string_view server) const {
        const auto other = server_named_by(server);
        const auto home = server_named_by(known_.endpoint ? *known_.endpoint : "https://" + amazon_host(known_.region));
        return other && home ? s3::detail::standing_of(*other, *home, where_.bucket) : standing::stranger;
    }
    // Without an endpoint the region is a part of the host's name.  With the lock held.
    [[nodiscard]] bool may_go_to_region(std::string_view region) const {
        return known_.endpoint || standing_of("https://" + amazon_host(region)) != standing::stranger;
    }

    location where_;
    s3_options options_;
    Transport transport_;
    Credentials credentials_;
    signer signer_;
    mutable std::atomic<clock::duration> impatient_until_{};
    mutable std::mutex guard_;
    mutable knowledge known_;
};

template <http_transport Transport, credentials_provider Credentials>
client<Transport, Credentials>::client(location where, s3_options options, Transport transport, Credentials credentials)
    : where_(std::move(where)),
      options_(std::move(options)),
      transport_(std::move(transport)),
      credentials_(std::move(credentials)) {
    known_.region = options_.region.value_or("us-east-1");
    if (!is_region(known_.region)) {
        throw value_error("\"" + known_.region +
                          "\" is not a region: one has small letters, digits and '-' only; see s3_options::region, "
                          "AWS_REGION, AWS_DEFAULT_REGION and the profile's region");
    }
    if (options_.endpoint) {
        known_.endpoint = checked_endpoint(*options_.endpoint);
    }
}

template <http_transport Transport, credentials_provider Credentials>
typename client<Transport, Credentials>::prepared client<Transport, Credentials>::prepare(
    const call& asked, std::string_view payload_hash, clock::time_point deadline) const {
    const knowledge now = look();
    prepared made{{}, now.number, {}, now.reached};
    http::request& ask = made.request;
    ask.method = asked.method;
    ask.url = base_url(now);
    append_percent_encoded(ask.url, asked.key, true);
    if (!asked.query.empty()) {
        ask.url.append("?").append(canonical_query(asked.query));
    }
    ask.headers = asked.headers;
    ask.body = asked.body;
    ask.most = asked.most;
    ask.connect_within = options_.connect_within;
    ask.stalled_after = options_.stalled_after;
    ask.deadline = deadline;
    ask.least_speed = asked.wanted.length != 0 ? options_.least_speed : 0;
    const auto time = std::chrono::system_clock::now() + now.clock_offset;
    made.keys = credentials_.keys(time);
    if (made.keys) {
        signer_.sign(ask, payload_hash, *made.keys, {.region = now.region}, time);
    }
    return made;
}

template <http_transport Transport, credentials_provider Credentials>
std::chrono::milliseconds client<Transport, Credentials>::time_for(const call& asked) const noexcept {
    using std::chrono::milliseconds;
    // The longest duration, which means "no deadline", would overflow the clock.
    constexpr milliseconds longest{std::chrono::years{100}};
    const milliseconds all = std::min(options_.retry.deadline, longest);
    const bool is_short =
        asked.wanted.length != 0 && clock::now() < clock::time_point{impatient_until_.load(std::memory_order_relaxed)};
    return is_short ? std::min(all, std::max(all / 64, milliseconds{std::chrono::seconds{1}})) : all;
}

template <http_transport Transport, credentials_provider Credentials>
void client<Transport, Credentials>::note_read(bool in_vain) const noexcept {
    const auto now = clock::now();
    if (!in_vain) {
        impatient_until_.store({}, std::memory_order_relaxed);
    } else if (clock::time_point{impatient_until_.load(std::memory_order_relaxed)} <= now) {
        impatient_until_.store((now + time_for({})).time_since_epoch(), std::memory_order_relaxed);
    }
}

template <http_transport Transport, credentials_provider Credentials>
bool client<Transport, Credentials>::learn(const retry_decision& what, const http::response& answer,
                                           std::uint64_t prepared_in) const {
    const std::lock_guard lock{guard_};
    if (known_.number != prepared_in) {
        return true;
    }
    switch (what.move) {
        case next_move::to_region:
            if (what.place == known_.region || !may_go_to_region(what.place)) {
                return false;
            }
            known_.region = what.place;
            known_.reached = known_.reached && known_.endpoint;
            break;
        case next_move::to_endpoint: {
            const standing found = standing_of(what.place);
            if (what.place == known_.moved_to || found == standing::stranger) {
                return false;
            }
            known_.moved_to = what.place;
            known_.reached = false;
            known_.names_bucket = found == standing::server_of_bucket;
            break;
        }
        case next_move::renew_keys:
            credentials_.renew();
            break;
        case next_move::set_clock: {
            const auto date = parse_http_date(answer.find_header("date").value_or(""));
            const auto offset =
                date ? time_between(std::chrono::system_clock::now(), *date) : std::chrono::milliseconds::max();
            // A date a century away is no clock error, and times shifted that far cannot be formatted.
            if (std::chrono::abs(offset) > std::chrono::hours{24 * 365 * 100} ||
                std::chrono::abs(offset - known_.clock_offset) < std::chrono::minutes{1}) {
                return false;  // the clock is right
            }
            known_.clock_offset = offset;
            break;
        }
        case next_move::done:
        case next_move::again:
        case next_move::ask_why:
        case next_move::ask_size:
        case next_move::give_up:
            return false;
    }
    ++known_.number;
    return true;
}

template <http_transport Transport, credentials_provider Credentials>
std::string client<Transport, Credentials>::base_url(const knowledge& now) const {
    if (now.moved_to.empty()) {
        return bucket_url(now.endpoint, now.region, where_.bucket, options_.addressing);
    }
    return now.moved_to + "/" + (now.names_bucket ? std::string{} : where_.bucket + "/");
}

}  // namespace smdebug::inline v1::s3::detail
