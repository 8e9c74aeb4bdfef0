// What the environment and the profile say of how S3 is reached, beside the keys.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/s3/credentials/environment.hpp>
#include <smdebug/s3/credentials/profile.hpp>

#include <optional>
#include <string>

namespace smdebug {
inline namespace v1 {
namespace s3 {
namespace detail {

/// As they stand there, unchecked.
struct aws_settings {
    std::optional<std::string> region = {};     ///< "eu-central-1"
    std::optional<std::string> endpoint = {};   ///< "https://host:port"
    std::optional<std::string> ca_bundle = {};  ///< path of a file of certificates
};

/// The environment first, then the profile; the variable that is for S3 alone before the one for all services:
///  - AWS_REGION, AWS_DEFAULT_REGION, `region`;
///  - AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL, `endpoint_url` of the profile's [services], `endpoint_url`; none of them
///    when AWS_IGNORE_CONFIGURED_ENDPOINT_URLS, or `ignore_configured_endpoint_urls`, is true;
///  - AWS_CA_BUNDLE, `ca_bundle`.
/// Errors: value_error, as profile::read().
[[nodiscard]] aws_settings read_aws_settings(const environment_reader& environment = process_environment);

}  // namespace detail
}  // namespace s3
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/s3/credentials/impl/aws_settings.ipp>
#endif
