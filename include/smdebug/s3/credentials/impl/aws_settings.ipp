// The bodies of <smdebug/s3/credentials/aws_settings.hpp>.
#pragma once

#include <smdebug/s3/credentials/aws_settings.hpp>

namespace smdebug {
inline namespace v1 {
namespace s3 {
namespace detail {

SMDEBUG_INLINE aws_settings read_aws_settings(const environment_reader& environment) {
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

}  // namespace detail
}  // namespace s3
}  // namespace v1
}  // namespace smdebug
