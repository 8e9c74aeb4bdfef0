// What the environment and the profile say of how S3 is reached, beside the keys.
// Used by: s3 (what options do not say), users.
#pragma once

#include <smdebug/s3/environment.hpp>
#include <smdebug/s3/profile.hpp>

#include <optional>
#include <string>

namespace smdebug {
inline namespace v1 {
namespace s3 {

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
[[nodiscard]] inline aws_settings read_aws_settings(const environment_reader& environment = process_environment) {
    const profile chosen = profile::read(environment);
    const auto first = [&](auto... names) {
        std::optional<std::string> found;
        static_cast<void>(((found = variable(environment, names)).has_value() || ...));
        return found;
    };
    aws_settings made{.region = first("AWS_REGION", "AWS_DEFAULT_REGION"), .ca_bundle = first("AWS_CA_BUNDLE")};
    if (!made.region) {
        made.region = chosen.value("region");
    }
    if (!made.ca_bundle) {
        made.ca_bundle = chosen.value("ca_bundle");
    }
    if (made.ca_bundle) {
        made.ca_bundle = from_home(environment, *made.ca_bundle);
    }

    const auto ignored = variable(environment, "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS");
    if (in_small_letters(ignored ? *ignored : chosen.value("ignore_configured_endpoint_urls").value_or("")) == "true") {
        return made;
    }
    made.endpoint = first("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL");
    if (!made.endpoint) {
        made.endpoint = chosen.s3_endpoint();
    }
    if (!made.endpoint) {
        made.endpoint = chosen.value("endpoint_url");
    }
    return made;
}

}  // namespace s3
}  // namespace v1
}  // namespace smdebug
