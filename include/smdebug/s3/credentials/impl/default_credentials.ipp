// The bodies of <smdebug/s3/credentials/default_credentials.hpp>.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/s3/credentials/default_credentials.hpp>

#include <array>
#include <cstddef>
#include <exception>
#include <string>

namespace smdebug::inline v1 {
namespace s3::detail {

SMDEBUG_INLINE access_keys refreshed_keys::get(std::chrono::system_clock::time_point now,
                                               function_ref<keys_answer()> fetch) {
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

SMDEBUG_INLINE void refreshed_keys::fail(const keys_answer& why) {
    if (why.outcome == keys_outcome::failing || why.outcome == keys_outcome::unreachable) {
        throw unavailable(why.seen);
    }
    throw access_denied(why.seen);
}

}  // namespace s3::detail

SMDEBUG_INLINE s3::detail::keys_answer default_credentials::look() const {
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

SMDEBUG_INLINE std::shared_ptr<const credentials_provider> s3_credentials(const s3_options& options,
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
