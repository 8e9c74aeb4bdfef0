// The keys that every tool of AWS would find here: environment, profile, container, instance.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/http/concepts.hpp>
#include <smdebug/s3/credentials.hpp>
#include <smdebug/s3/credentials/configured_keys.hpp>
#include <smdebug/s3/credentials/container_keys.hpp>
#include <smdebug/s3/credentials/environment.hpp>
#include <smdebug/s3/credentials/instance_keys.hpp>
#include <smdebug/s3/credentials/keys.hpp>
#include <smdebug/s3/credentials/keys_answer.hpp>
#include <smdebug/s3/credentials/metadata_exchange.hpp>
#include <smdebug/s3/credentials/refreshed_keys.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

namespace smdebug {
inline namespace v1 {
namespace s3 {

namespace detail {

/// How keys are looked for.  The defaults are right but for tests.
struct key_search {
    detail::environment_reader environment = detail::process_environment;
    detail::metadata_limits limits = {};
    detail::refresh_policy refresh = {};
};

}  // namespace detail

}  // namespace s3

/// Looks for keys when they are first wanted, in this order: the environment (AWS_ACCESS_KEY_ID, ...), the profile (see
/// s3::profile), the container's endpoint, the instance's metadata service.  The first place that has some stays the
/// one that is asked.  Keys that expire are fetched again five minutes before; should that fail, the old ones are used
/// while they are good.  That there were none is remembered for a quarter of a minute.
/// A handle: copies share the keys.  Threads: any; one of them asks, the others wait for it or use what is good.
template <http_transport Transport>
class default_credentials {
public:
    /// Does not look yet.
    explicit default_credentials(Transport transport, s3::detail::key_search how = {})
        : shared_(std::make_shared<state>(std::move(transport), std::move(how))) {}

    /// Never nothing.  Cost: a copy of the keys, when they are good; see metadata_limits for when they are not.
    /// Errors: access_denied when none were found, or the service that has them refuses; unavailable when it does not
    /// answer; value_error and unsupported for settings that cannot be followed (see s3/credentials/configured_keys.hpp
    /// and s3/credentials/container_keys.hpp).  No message holds a key or a token.
    [[nodiscard]] std::optional<s3::access_keys> keys(std::chrono::system_clock::time_point now) const {
        return shared_->refreshed.get(now, [this] { return shared_->look(); });
    }
    /// The keys are asked for afresh when they are wanted next, from the same place: a profile's files are read again.
    void renew() const { shared_->refreshed.forget(); }

private:
    enum class place : std::uint8_t { environment, profile, container, instance };

    struct state {
        state(Transport over, s3::detail::key_search by)
            : transport(std::move(over)), how(std::move(by)), refreshed(how.refresh) {}

        // Called by one thread at a time: refreshed_keys sees to it.
        [[nodiscard]] s3::detail::keys_answer look();
        [[nodiscard]] s3::detail::keys_answer look_in(place where) const;

        Transport transport;
        s3::detail::key_search how;
        s3::detail::refreshed_keys refreshed;
        std::optional<place> chosen;
    };

    std::shared_ptr<state> shared_;
};

}  // namespace v1
}  // namespace smdebug

#include <smdebug/s3/credentials/impl/default_credentials.tpp>
