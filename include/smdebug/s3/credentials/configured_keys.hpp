// Keys that stand somewhere: in the environment, or in a profile.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/s3/credentials.hpp>
#include <smdebug/s3/credentials/environment.hpp>
#include <smdebug/s3/credentials/keys.hpp>
#include <smdebug/s3/credentials/keys_answer.hpp>
#include <smdebug/s3/credentials/profile.hpp>

namespace smdebug {
inline namespace v1 {
namespace s3 {
namespace detail {

/// Of AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN.
/// Errors: value_error for an id alone, and for what can never be right.
[[nodiscard]] keys_answer keys_of_environment(const environment_reader& environment);

/// Of the profile that is in force.
/// Errors: value_error, as profile::read() and profile::keys(); unsupported when the profile, or the environment behind
/// it, gets its keys in a way that needs another service or program: these are not asked.
[[nodiscard]] keys_answer keys_of_profile(const environment_reader& environment);

}  // namespace detail
}  // namespace s3
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/s3/credentials/impl/configured_keys.ipp>
#endif
