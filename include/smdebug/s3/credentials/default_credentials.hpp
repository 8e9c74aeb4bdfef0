// Finds keys where all AWS tools look: environment, profile, container, instance.
// Keys that are renewed before they expire; one thread fetches for all.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/core/function_ref.hpp>
#include <smdebug/http/transport.hpp>
#include <smdebug/s3/credentials.hpp>
#include <smdebug/s3/credentials/metadata_exchange.hpp>
#include <smdebug/s3/credentials/profile.hpp>
#include <smdebug/s3/options.hpp>

#include <array>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

namespace smdebug::inline v1 {
namespace s3::detail {

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
    [[nodiscard]] access_keys get(std::chrono::system_clock::time_point now, function_ref<keys_answer()> fetch);

    /// Discards the keys, even if they have not expired.
    void forget() {
        const std::lock_guard lock{guard_};
        keys_.reset();
    }

private:
    [[nodiscard]] static bool good(const std::optional<access_keys>& keys,
                                   std::chrono::system_clock::time_point then) noexcept {
        return keys && (!keys->expires || *keys->expires > then);
    }
    [[noreturn]] static void fail(const keys_answer& why);

    refresh_policy policy_;
    std::mutex guard_;
    std::condition_variable settled_;
    std::optional<access_keys> keys_;
    std::optional<keys_answer> failure_;  // of the latest fetch
    std::chrono::steady_clock::time_point paused_until_ = std::chrono::steady_clock::time_point::min();
    bool fetching_ = false;
};

/// How keys are searched.  Only tests need other values than the defaults.
struct key_search {
    environment_reader environment = process_environment;
    metadata_limits limits = {};
    refresh_policy refresh = {};
};

}  // namespace s3::detail

/// Searches for keys at first use, in this order: the environment (AWS_ACCESS_KEY_ID, ...), the profile (see
/// s3::profile), the container's endpoint, the instance's metadata service.  The first source with keys is used from
/// then on.  Keys that expire are renewed five minutes before; if that fails, the old ones are used while they are
/// valid.  A search without result is cached for 15 s.
/// Threads: any; one fetches, the others wait or use keys still valid.
class default_credentials final : public credentials_provider {
public:
    /// Does not search yet.
    explicit default_credentials(std::shared_ptr<const http_transport> over, s3::detail::key_search how = {})
        : transport_(std::move(over)), how_(std::move(how)), refreshed_(how_.refresh) {}

    /// Never nothing.  Cost: a copy of the keys while they are valid; otherwise see metadata_limits.
    /// Errors: access_denied when none were found, or the service refuses; unavailable when it does not answer;
    /// value_error and unsupported for settings that cannot be followed (see s3/credentials/profile.hpp
    /// and s3/credentials/metadata_exchange.hpp).  No message contains a key or a token.
    [[nodiscard]] std::optional<s3::access_keys> keys(std::chrono::system_clock::time_point now) const override {
        return refreshed_.get(now, [this] { return look(); });
    }
    /// Makes the next keys() fetch new keys from the same source: a profile's files are read again.
    void renew() const override { refreshed_.forget(); }

private:
    // Called by one thread at a time: refreshed_keys ensures it.
    [[nodiscard]] s3::detail::keys_answer look() const;

    std::shared_ptr<const http_transport> transport_;
    s3::detail::key_search how_;
    mutable s3::detail::refreshed_keys refreshed_;
    mutable std::optional<std::size_t> chosen_;  // source of the keys
};

/// The provider that options ask for: s3_options::keys if set; else none if s3_options::anonymous is set; else
/// default_credentials.  `over` carries requests to the machine's metadata services.
/// Errors: value_error for invalid keys.
[[nodiscard]] std::shared_ptr<const credentials_provider> s3_credentials(const s3_options& options,
                                                                         std::shared_ptr<const http_transport> over);

namespace s3::detail {

inline access_keys refreshed_keys::get(std::chrono::system_clock::time_point now, function_ref<keys_answer()> fetch) {
    std::unique_lock lock{guard_};
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
    std::exception_ptr thrown;
    try {
        got = fetch();
    } catch (...) {
        thrown = std::current_exception();
    }
    lock.lock();
    if (got.outcome == keys_outcome::found && !good(got.keys, now)) {
        got = {keys_outcome::failing, {}, got.seen + " returned keys that have expired: is the clock right?"};
    }
    failure_.reset();
    if (got.outcome == keys_outcome::found) {
        keys_ = std::move(got.keys);
    } else if (!thrown) {
        failure_ = std::move(got);
    }
    fetching_ = false;
    paused_until_ = good(keys_, now + policy_.ahead) ? paused_until_ : policy_.clock() + policy_.pause;
    settled_.notify_all();
    if (good(keys_, now)) {
        return *keys_;
    }
    if (thrown) {
        std::rethrow_exception(thrown);
    }
    fail(*failure_);
}

inline void refreshed_keys::fail(const keys_answer& why) {
    if (why.outcome == keys_outcome::failing || why.outcome == keys_outcome::unreachable) {
        throw unavailable(why.seen);
    }
    throw access_denied(why.seen);
}

}  // namespace s3::detail

inline s3::detail::keys_answer default_credentials::look() const {
    using s3::detail::keys_answer;
    using s3::detail::keys_outcome;
    using source = keys_answer (*)(const http_transport& transport, const s3::detail::key_search& how);
    constexpr std::array<source, 4> sources{
        [](auto&, auto& how) { return s3::detail::keys_of_environment(how.environment); },
        [](auto&, auto& how) { return s3::detail::keys_of_profile(how.environment); },
        [](auto& over, auto& how) { return s3::detail::keys_of_container(over, how.environment, how.limits); },
        [](auto& over, auto& how) { return s3::detail::keys_of_instance(over, how.environment, how.limits); }};
    if (chosen_) {
        keys_answer got = sources[*chosen_](*transport_, how_);
        if (got.outcome != keys_outcome::found) {
            got.seen = "The keys for S3 could not be renewed: " + got.seen + ".";
        }
        return got;
    }
    std::string seen;
    for (std::size_t next = 0; next < sources.size(); ++next) {
        keys_answer got = sources[next](*transport_, how_);
        if (got.outcome == keys_outcome::found) {
            chosen_ = next;
            return got;
        }
        if (got.outcome == keys_outcome::failing || got.outcome == keys_outcome::refused) {
            got.seen = "The keys for S3 could not be fetched: " + got.seen + ".  Looked before at: " + seen + ".";
            return got;
        }
        seen.append(seen.empty() ? "" : "; ").append(got.seen);
    }
    return {keys_outcome::nothing_there,
            {},
            "No keys for S3 were found.  Looked at: " + seen +
                ".  Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE to a profile that has keys; or ask "
                "for anonymous access, where the bucket allows it."};
}

inline std::shared_ptr<const credentials_provider> s3_credentials(const s3_options& options,
                                                                  std::shared_ptr<const http_transport> over) {
    if (options.keys) {
        return std::make_shared<static_credentials>(*options.keys);
    }
    if (options.anonymous) {
        return std::make_shared<anonymous_credentials>();
    }
    return std::make_shared<default_credentials>(std::move(over));
}

}  // namespace smdebug::inline v1
