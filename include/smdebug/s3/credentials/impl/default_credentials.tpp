// The bodies of <smdebug/s3/credentials/default_credentials.hpp> that are templates.
#pragma once

#include <smdebug/s3/credentials/default_credentials.hpp>

#include <array>
#include <string>

namespace smdebug {
inline namespace v1 {

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
            got.seen = "The keys for S3 could not be had: " + got.seen + ".  Looked before at: " + seen + ".";
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

}  // namespace v1
}  // namespace smdebug
