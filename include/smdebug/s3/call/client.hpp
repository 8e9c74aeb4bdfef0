// Asking one bucket: which server, which region, whose keys, what time; and what is learnt of these on the way.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/http/concepts.hpp>
#include <smdebug/http/message.hpp>
#include <smdebug/s3/call/call.hpp>
#include <smdebug/s3/call/endpoint.hpp>
#include <smdebug/s3/call/http_date.hpp>
#include <smdebug/s3/call/percent_encoding.hpp>
#include <smdebug/s3/call/same_service.hpp>
#include <smdebug/s3/call/signature.hpp>
#include <smdebug/s3/call/verdict.hpp>
#include <smdebug/s3/credentials.hpp>
#include <smdebug/s3/credentials/keys.hpp>
#include <smdebug/s3/location.hpp>
#include <smdebug/s3/options.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace smdebug {
inline namespace v1 {
namespace s3 {
namespace detail {

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
    client(location where, s3_options options, Transport transport, Credentials credentials);

    client(const client&) = delete;
    client& operator=(const client&) = delete;
    ~client() = default;

    [[nodiscard]] const location& where() const noexcept { return where_; }
    [[nodiscard]] const s3_options& options() const noexcept { return options_; }
    [[nodiscard]] const Transport& transport() const noexcept { return transport_; }
    /// "https://host" of the server that is asked now.
    [[nodiscard]] std::string server() const;

    /// Whether a server may be asked in place of this one, since it belongs to the same service.  It must, without keys,
    /// too: data goes to no other service, and comes from none.
    [[nodiscard]] bool trusts(std::string_view server) const;

    /// The request for a call, signed for now.  `payload_hash`: see signer.  Borrows the call's body.
    /// Errors: what the credentials throw.
    [[nodiscard]] prepared prepare(const call& asked, std::string_view payload_hash, clock::time_point deadline) const;

    /// How long a call may take that begins now.
    [[nodiscard]] std::chrono::milliseconds time_for(const call& asked) const noexcept;
    /// Is told how a call for an object ended: whether there was any whole answer, or all its time went by without one.
    void note_read(bool in_vain) const noexcept;

    /// The server that a request was prepared for is there.
    void note_reached(std::uint64_t prepared_in) const;

    /// Puts right what a verdict says is wrong.  Returns whether asking again makes sense: something has been learnt
    /// now, or since the request was prepared.
    /// Errors: what the credentials throw.
    [[nodiscard]] bool learn(const verdict& what, const http::response& answer, std::uint64_t prepared_in) const;

private:
    struct knowledge {
        std::string region;
        std::optional<std::string> endpoint = {};
        std::string moved_to = {};  ///< a server of this service that another one has sent us to
        bool names_bucket = false;  ///< whether `moved_to` has the bucket's name in its own
        bool reached = false;       ///< whether the server that is asked now has ever answered
        std::chrono::milliseconds clock_offset{0};
        std::uint64_t number = 0;  ///< goes up with each change
    };

    [[nodiscard]] knowledge look() const;

    [[nodiscard]] std::string base_url(const knowledge& now) const;

    // How a server stands to the service as it was set up, not as other servers have described it.  Under the lock.
    [[nodiscard]] standing standing_of(std::string_view server) const;
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

}  // namespace detail
}  // namespace s3
}  // namespace v1
}  // namespace smdebug

#include <smdebug/s3/call/impl/client.tpp>
