// Finds keys where all AWS tools look: environment, profile, container, instance.
// Keys that are renewed before they expire; one thread fetches for all.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/http/concepts.hpp>
#include <smdebug/s3/credentials.hpp>
#include <smdebug/s3/credentials/keys.hpp>
#include <smdebug/s3/credentials/keys_answer.hpp>
#include <smdebug/s3/credentials/metadata_exchange.hpp>
#include <smdebug/s3/credentials/profile.hpp>
#include <smdebug/s3/options.hpp>

#include <array>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace smdebug::inline v1 {
namespace s3 {
namespace detail {

/// When keys are renewed.
struct refresh_policy {
    /// This long before they expire.
    std::chrono::system_clock::duration ahead = std::chrono::minutes{5};
    /// This long after a fetch that failed or returned keys that expire within `ahead`.
    std::chrono::steady_clock::duration pause = std::chrono::seconds{15};
    /// The clock that measures `pause`.
    std::function<std::chrono::steady_clock::time_point()> clock = std::chrono::steady_clock::now;
};

/// Holds keys and renews them when they are used and stale.  Threads: any; one at a time fetches, while the others use
/// the old keys if still valid, or else wait.
class refreshed_keys {
public:
    explicit refreshed_keys(refresh_policy policy) : policy_(std::move(policy)) {}

    /// Keys that are valid at `now`.  fetch() returns a keys_answer; one thread at a time calls it, without a lock.
    /// When it fails, returns the old keys while they are valid; else throws, also to callers during `pause`.
    /// Errors: access_denied and unavailable with `seen` of the answer; what fetch() throws.
    template <class Fetch>
    [[nodiscard]] access_keys get(std::chrono::system_clock::time_point now, Fetch&& fetch);

    /// Discards the keys, even if they have not expired.
    void forget();

private:
    using lock_type = std::unique_lock<std::mutex>;

    [[nodiscard]] static bool good(const std::optional<access_keys>& keys,
                                   std::chrono::system_clock::time_point then) noexcept {
        return keys && (!keys->expires || *keys->expires > then);
    }
    [[noreturn]] static void fail(const keys_answer& why);
    /// Ends a fetch, successful or not.  Under the lock.
    void settle(std::chrono::system_clock::time_point now);

    refresh_policy policy_;
    std::mutex guard_;
    std::condition_variable settled_;
    std::optional<access_keys> keys_;
    std::optional<keys_answer> failure_;  // of the latest fetch
    std::chrono::steady_clock::time_point paused_until_ = std::chrono::steady_clock::time_point::min();
    bool fetching_ = false;
};

template <class Fetch>
access_keys refreshed_keys::get(std::chrono::system_clock::time_point now, Fetch&& fetch) {
    lock_type lock{guard_};
    while (true) {
        const bool paused = policy_.clock() < paused_until_;
        if (good(keys_, now + policy_.ahead) || (good(keys_, now) && (fetching_ || paused))) {
            return *keys_;
        }
        if (!fetching_) {
            if (paused && failure_) {
                fail(*failure_);
            }
            break;
        }
        settled_.wait(lock);
    }

    fetching_ = true;
    lock.unlock();
    keys_answer got;
    try {
        got = fetch();
    } catch (...) {
        lock.lock();
        failure_.reset();
        settle(now);
        if (good(keys_, now)) {
            return *keys_;
        }
        throw;
    }
    lock.lock();
    if (got.outcome == keys_outcome::found && !good(got.keys, now)) {
        got = {keys_outcome::failing, {}, got.seen + " returned keys that have expired: is the clock right?"};
    }
    if (got.outcome == keys_outcome::found) {
        failure_.reset();
        keys_ = std::move(got.keys);
    } else {
        failure_ = std::move(got);
    }
    settle(now);
    if (!good(keys_, now)) {
        fail(*failure_);
    }
    return *keys_;
}

}  // namespace detail

namespace detail {

/// How keys are searched.  Only tests need other values than the defaults.
struct key_search {
    detail::environment_reader environment = detail::process_environment;
    detail::metadata_limits limits = {};
    detail::refresh_policy refresh = {};
};

}  // namespace detail

}  // namespace s3

/// Searches for keys at first use, in this order: the environment (AWS_ACCESS_KEY_ID, ...), the profile (see
/// s3::profile), the container's endpoint, the instance's metadata service.  The first source with keys is used from
/// then on.  Keys that expire are renewed five minutes before; if that fails, the old ones are used while they are
/// valid.  A search without result is cached for 15 s.
/// A handle: copies share the keys.  Threads: any; one fetches, the others wait or use keys still valid.
template <http_transport Transport>
class default_credentials {
public:
    /// Does not search yet.
    explicit default_credentials(Transport transport, s3::detail::key_search how = {})
        : shared_(std::make_shared<state>(std::move(transport), std::move(how))) {}

    /// Never nothing.  Cost: a copy of the keys while they are valid; otherwise see metadata_limits.
    /// Errors: access_denied when none were found, or the service refuses; unavailable when it does not answer;
    /// value_error and unsupported for settings that cannot be followed (see s3/credentials/profile.hpp
    /// and s3/credentials/metadata_exchange.hpp).  No message contains a key or a token.
    [[nodiscard]] std::optional<s3::access_keys> keys(std::chrono::system_clock::time_point now) const {
        return shared_->refreshed.get(now, [this] { return shared_->look(); });
    }
    /// Makes the next keys() fetch new keys from the same source: a profile's files are read again.
    void renew() const { shared_->refreshed.forget(); }

private:
    enum class place : std::uint8_t { environment, profile, container, instance };

    struct state {
        state(Transport over, s3::detail::key_search by)
            : transport(std::move(over)), how(std::move(by)), refreshed(how.refresh) {}

        // Called by one thread at a time: refreshed_keys ensures it.
        [[nodiscard]] s3::detail::keys_answer look();
        [[nodiscard]] s3::detail::keys_answer look_in(place where) const;

        Transport transport;
        s3::detail::key_search how;
        s3::detail::refreshed_keys refreshed;
        std::optional<place> chosen;
    };

    std::shared_ptr<state> shared_;
};

/// s3_options::keys if set; else none if s3_options::anonymous is set; else default_credentials.
/// Threads: all calls on any, concurrently.  Copies share the keys found.
template <http_transport Transport>
class s3_credentials {
public:
    /// `over` carries requests to the machine's metadata services.  Errors: value_error for invalid keys.
    s3_credentials(const s3_options& options, Transport over) : chosen_(choose(options, std::move(over))) {}

    [[nodiscard]] std::optional<s3::access_keys> keys(std::chrono::system_clock::time_point now) const {
        return std::visit([&](const auto& credentials) { return credentials.keys(now); }, chosen_);
    }
    void renew() const {
        std::visit([](const auto& credentials) { credentials.renew(); }, chosen_);
    }

private:
    using choice = std::variant<anonymous_credentials, static_credentials, default_credentials<Transport>>;

    [[nodiscard]] static choice choose(const s3_options& options, Transport over);

    choice chosen_;
};

template <http_transport Transport>
s3::detail::keys_answer default_credentials<Transport>::state::look_in(place where) const {
    switch (where) {
        case place::environment:
            return s3::detail::keys_of_environment(how.environment);
        case place::profile:
            return s3::detail::keys_of_profile(how.environment);
        case place::container:
            return s3::detail::keys_of_container(transport, how.environment, how.limits);
        case place::instance:
            break;
    }
    return s3::detail::keys_of_instance(transport, how.environment, how.limits);
}

template <http_transport Transport>
s3::detail::keys_answer default_credentials<Transport>::state::look() {
    using s3::detail::keys_outcome;
    if (chosen) {
        s3::detail::keys_answer got = look_in(*chosen);
        if (got.outcome != s3::detail::keys_outcome::found) {
            got.seen = "The keys for S3 could not be renewed: " + got.seen + ".";
        }
        return got;
    }
    std::string seen;
    for (const place next : std::array{place::environment, place::profile, place::container, place::instance}) {
        s3::detail::keys_answer got = look_in(next);
        if (got.outcome == s3::detail::keys_outcome::found) {
            chosen = next;
            return got;
        }
        if (got.outcome == s3::detail::keys_outcome::failing || got.outcome == s3::detail::keys_outcome::refused) {
            got.seen = "The keys for S3 could not be fetched: " + got.seen + ".  Looked before at: " + seen + ".";
            return got;
        }
        seen.append(seen.empty() ? "" : "; ").append(got.seen);
    }
    return {s3::detail::keys_outcome::nothing_there,
            {},
            "No keys for S3 were found.  Looked at: " + seen +
                ".  Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE to a profile that has keys; or ask "
                "for anonymous access, where the bucket allows it."};
}

template <http_transport Transport>
typename s3_credentials<Transport>::choice s3_credentials<Transport>::choose(const s3_options& options,
                                                                             Transport over) {
    if (options.keys) {
        return static_credentials{*options.keys};
    }
    if (options.anonymous) {
        return anonymous_credentials{};
    }
    return default_credentials<Transport>{std::move(over)};
}

namespace s3::detail {

inline void refreshed_keys::forget() {
    const std::lock_guard lock{guard_};
    keys_.reset();
}

inline void refreshed_keys::fail(const keys_answer& why) {
    if (why.outcome == keys_outcome::failing || why.outcome == keys_outcome::unreachable) {
        throw unavailable(why.seen);
    }
    throw access_denied(why.seen);
}

inline void refreshed_keys::settle(std::chrono::system_clock::time_point now) {
    fetching_ = false;
    paused_until_ = good(keys_, now + policy_.ahead) ? paused_until_ : policy_.clock() + policy_.pause;
    settled_.notify_all();
}

}  // namespace s3::detail
}  // namespace smdebug::inline v1
