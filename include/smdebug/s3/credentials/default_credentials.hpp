// Finds keys where all AWS tools look: environment, profile, container, instance.
// Keys that are renewed before they expire; one thread fetches for all.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/core/function_ref.hpp>
#include <smdebug/http/transport.hpp>
#include <smdebug/s3/credentials.hpp>
#include <smdebug/s3/credentials/metadata_exchange.hpp>
#include <smdebug/s3/credentials/profile.hpp>
#include <smdebug/s3/options.hpp>

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
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

}  // namespace smdebug::inline v1

#ifndef SMDEBUG_COMPILED
#include <smdebug/s3/credentials/impl/default_credentials.ipp>
#endif
