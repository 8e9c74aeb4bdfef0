// The bodies of <smdebug/s3/credentials/configured_keys.hpp>.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/s3/credentials/configured_keys.hpp>
#include <smdebug/s3/credentials/profile_file.hpp>

#include <array>
#include <string>
#include <utility>

namespace smdebug {
inline namespace v1 {
namespace s3 {
namespace detail {

SMDEBUG_INLINE keys_answer keys_of_environment(const environment_reader& environment) {
    auto id = variable(environment, "AWS_ACCESS_KEY_ID");
    if (!id) {
        return {keys_outcome::nothing_there, {}, "the environment (AWS_ACCESS_KEY_ID is not set)"};
    }
    access_keys found{.id = *std::move(id),
                      .secret = variable(environment, "AWS_SECRET_ACCESS_KEY").value_or(""),
                      .token = variable(environment, "AWS_SESSION_TOKEN").value_or("")};
    check_keys(found, "AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN");
    return {keys_outcome::found, std::move(found), "the environment"};
}

SMDEBUG_INLINE keys_answer keys_of_profile(const environment_reader& environment) {
    const profile chosen = profile::read(environment);
    const auto refuse = [&](const std::string& where, const std::string& what) {
        throw unsupported(where + " gets its keys by way of " + what +
                              ", which this library does not do.  Let the AWS CLI get them, and hand them over in the "
                              "environment: eval \"$(aws configure export-credentials --profile " +
                              chosen.name() + " --format env)\"",
                          {.where = where});
    };
    const auto refuse_property = [&](const profile_property& found) {
        refuse("Profile \"" + chosen.name() + "\" (" + found.where + ")", found.name);
    };
    // Keys beside a role are those that ask for the role, not those to use.
    const profile_property* role = chosen.find("role_arn");
    if (role != nullptr) {
        refuse_property(*role);
    }
    if (auto found = chosen.keys()) {
        return {keys_outcome::found, std::move(found), "profile \"" + chosen.name() + "\""};
    }
    for (const char* other : std::array{"credential_process", "sso_session", "sso_start_url", "sso_account_id",
                                        "login_session", "web_identity_token_file"}) {
        if (const profile_property* found = chosen.find(other)) {
            refuse_property(*found);
        }
    }
    for (const char* half : std::array{"source_profile", "credential_source"}) {
        if (const profile_property* found = chosen.find(half)) {
            throw value_error(
                "Profile \"" + chosen.name() + "\" (" + found->where + ") has " + half +
                    ", but no role_arn to use it for, and no keys.  Set AWS_PROFILE to a profile that has "
                    "keys, or add aws_access_key_id and aws_secret_access_key.",
                {.where = found->where});
        }
    }
    if (variable(environment, "AWS_WEB_IDENTITY_TOKEN_FILE") && variable(environment, "AWS_ROLE_ARN")) {
        refuse("The environment", "AWS_WEB_IDENTITY_TOKEN_FILE");
    }
    return {keys_outcome::nothing_there, {}, chosen.described()};
}

}  // namespace detail
}  // namespace s3
}  // namespace v1
}  // namespace smdebug
