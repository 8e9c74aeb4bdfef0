// Asking one bucket: which server, which region, whose keys, what time; and what is learnt of these on the way.
// Used by: s3/call_window.hpp, s3/s3_storage.hpp.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/core/system_time.hpp>
#include <smdebug/http/concepts.hpp>
#include <smdebug/http/message.hpp>
#include <smdebug/s3/call.hpp>
#include <smdebug/s3/credentials.hpp>
#include <smdebug/s3/endpoint.hpp>
#include <smdebug/s3/http_date.hpp>
#include <smdebug/s3/keys.hpp>
#include <smdebug/s3/location.hpp>
#include <smdebug/s3/options.hpp>
#include <smdebug/s3/same_service.hpp>
#include <smdebug/s3/signature.hpp>
#include <smdebug/s3/verdict.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace smdebug {
inline namespace v1 {
namespace s3 {

/// Makes signed requests to a bucket.
/// Threads: everything may be called at once.
template <http_transport Transport, credentials_provider Credentials>
class client {
public:
    using transport_type = Transport;
    using clock = http::request::clock;

    /// A request, and the state of knowledge that it was made in.
    struct prepared {
        http::request request;
        std::uint64_t knowledge = 0;
        std::optional<access_keys> keys = {};  ///< that it is signed with
        bool reached = false;                  ///< its server was, before
    };

    /// `options` with region and endpoint as they are to be: nobody else is asked for them.
    /// Errors: value_error (endpoint, region).
    client(location where, s3_options options, Transport transport, Credentials credentials)
        : where_(std::move(where)),
          options_(std::move(options)),
          transport_(std::move(transport)),
          credentials_(std::move(credentials)) {
        known_.region = options_.region.value_or("us-east-1");
        if (!is_region(known_.region)) {
            throw value_error("\"" + known_.region +
                              "\" is no region: one has small letters, digits and '-' only; see s3_options::region, "
                              "AWS_REGION, AWS_DEFAULT_REGION and the profile's region");
        }
        if (options_.endpoint) {
            known_.endpoint = checked_endpoint(*options_.endpoint);
        }
    }

    client(const client&) = delete;
    client& operator=(const client&) = delete;
    ~client() = default;

    [[nodiscard]] const location& where() const noexcept { return where_; }
    [[nodiscard]] const s3_options& options() const noexcept { return options_; }
    [[nodiscard]] const Transport& transport() const noexcept { return transport_; }
    /// "https://host" of the server that is asked now.
    [[nodiscard]] std::string server() const {
        const std::string base = base_url(look());
        return base.substr(0, base.find('/', base.find("://") + 3));
    }

    /// Whether a server may be asked in place of this one, since it belongs to the same service.  The rule is the same
    /// for who has no keys: what is written goes nowhere else, and what is read comes from nowhere else.
    [[nodiscard]] bool trusts(std::string_view server) const {
        const std::lock_guard lock{guard_};
        return standing_of(server) != standing::stranger;
    }

    /// The request for a call, signed for now.  `payload_hash`: see signer.  Borrows the call's body.
    /// Errors: what the credentials throw.
    [[nodiscard]] prepared prepare(const call& asked, std::string_view payload_hash, clock::time_point deadline) const {
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

    /// How long a call may take that begins now.
    [[nodiscard]] std::chrono::milliseconds time_for(const call& asked) const noexcept {
        using std::chrono::milliseconds;
        // A clock does not go as far as durations do: who wants no deadline sets the longest there is.
        constexpr milliseconds longest{std::chrono::years{100}};
        const milliseconds all = std::min(options_.retry.deadline, longest);
        const bool is_short = asked.wanted.length != 0 &&
                              clock::now() < clock::time_point{impatient_until_.load(std::memory_order_relaxed)};
        return is_short ? std::min(all, std::max(all / 64, milliseconds{std::chrono::seconds{1}})) : all;
    }
    /// Is told how a call for an object ended: whether there was any whole answer, or all its time went by without one.
    void note_read(bool in_vain) const noexcept {
        const auto now = clock::now();
        if (!in_vain) {
            impatient_until_.store({}, std::memory_order_relaxed);
        } else if (clock::time_point{impatient_until_.load(std::memory_order_relaxed)} <= now) {
            impatient_until_.store((now + time_for({})).time_since_epoch(), std::memory_order_relaxed);
        }
    }

    /// The server that a request was prepared for is there.
    void note_reached(std::uint64_t prepared_in) const {
        const std::lock_guard lock{guard_};
        known_.reached = known_.reached || known_.number == prepared_in;
    }

    /// Puts right what a verdict says is wrong.  Returns whether asking again makes sense: something has been learnt
    /// now, or since the request was prepared.
    /// Errors: what the credentials throw.
    [[nodiscard]] bool learn(const verdict& what, const http::response& answer, std::uint64_t prepared_in) const {
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
                // A century away is no clock, and a time that is moved by it has no date.
                if (std::chrono::abs(offset) > std::chrono::hours{24 * 365 * 100} ||
                    std::chrono::abs(offset - known_.clock_offset) < std::chrono::minutes{1}) {
                    return false;  // it is not the clock
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

private:
    struct knowledge {
        std::string region;
        std::optional<std::string> endpoint = {};
        std::string moved_to = {};  ///< a server of this service that another one has sent us to
        bool names_bucket = false;  ///< that one, before its own name
        bool reached = false;       ///< the server that is asked now
        std::chrono::milliseconds clock_offset{0};
        std::uint64_t number = 0;  ///< goes up with each change
    };

    [[nodiscard]] knowledge look() const {
        const std::lock_guard lock{guard_};
        return known_;
    }

    [[nodiscard]] std::string base_url(const knowledge& now) const {
        if (now.moved_to.empty()) {
            return bucket_url(now.endpoint, now.region, where_.bucket, options_.addressing);
        }
        return now.moved_to + "/" + (now.names_bucket ? std::string{} : where_.bucket + "/");
    }

    // To the service as it was set up, not as others have described it since.  With the lock held.
    [[nodiscard]] standing standing_of(std::string_view server) const {
        const auto other = server_named_by(server);
        const auto home = server_named_by(known_.endpoint ? *known_.endpoint : "https://" + amazon_host(known_.region));
        return other && home ? s3::standing_of(*other, *home, where_.bucket) : standing::stranger;
    }
    // The region is a part of the host's name where there is no endpoint.  With the lock held.
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

}  // namespace s3
}  // namespace v1
}  // namespace smdebug
