// Signed requests to one bucket: its server, region, keys and clock, corrected from the server's answers.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/http/message.hpp>
#include <smdebug/http/transport.hpp>
#include <smdebug/s3/call/call.hpp>
#include <smdebug/s3/call/endpoint.hpp>
#include <smdebug/s3/call/retry_decision.hpp>
#include <smdebug/s3/call/signature.hpp>
#include <smdebug/s3/credentials.hpp>
#include <smdebug/s3/options.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace smdebug::inline v1::s3 {

/// The place of a run.
struct location {
    std::string bucket;
    std::string prefix;  ///< prepended to a storage's keys: empty, or ends in '/'

    /// "s3://bucket/prefix", without '/' at its end.
    [[nodiscard]] std::string text() const {
        std::string whole = "s3://" + bucket + "/" + prefix;
        whole.pop_back();
        return whole;
    }
    /// "s3://bucket/key", of an object's key with the prefix.
    [[nodiscard]] std::string name_of(std::string_view whole_key) const {
        return "s3://" + bucket + "/" + std::string{whole_key};
    }
    friend bool operator==(const location&, const location&) = default;
};

/// The place that "s3://bucket/prefix" names.  Trailing slashes are ignored; the rest of the prefix is taken literally,
/// including '%' and "//".
/// Errors: value_error for anything but s3://, and for a name that no bucket can have.
[[nodiscard]] location parse_location(std::string_view uri);

}  // namespace smdebug::inline v1::s3

namespace smdebug::inline v1::s3::detail {

/// "Sun, 06 Nov 1994 08:49:37 GMT", the only form that servers send; nothing for anything else.
/// Dates beyond the range of the system's clock are clamped to it.
[[nodiscard]] std::optional<std::chrono::system_clock::time_point> parse_http_date(std::string_view text);

/// Makes signed requests to a bucket.
/// Threads: all calls on any, concurrently.
class client {
public:
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
    client(location where, s3_options options, std::shared_ptr<const http_transport> over,
           std::shared_ptr<const credentials_provider> credentials);

    client(const client&) = delete;
    client& operator=(const client&) = delete;
    ~client() = default;

    [[nodiscard]] const location& where() const noexcept { return where_; }
    [[nodiscard]] const s3_options& options() const noexcept { return options_; }
    [[nodiscard]] const http_transport& transport() const noexcept { return *transport_; }
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

    [[nodiscard]] std::string base_url(const knowledge& now) const {
        if (now.moved_to.empty()) {
            return bucket_url(now.endpoint, now.region, where_.bucket, options_.addressing);
        }
        return now.moved_to + "/" + (now.names_bucket ? std::string{} : where_.bucket + "/");
    }

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
    std::shared_ptr<const http_transport> transport_;
    std::shared_ptr<const credentials_provider> credentials_;
    signer signer_;
    mutable std::atomic<clock::duration> impatient_until_{};
    mutable std::mutex guard_;
    mutable knowledge known_;
};

}  // namespace smdebug::inline v1::s3::detail

#ifndef SMDEBUG_COMPILED
#include <smdebug/s3/call/impl/client.ipp>
#endif
