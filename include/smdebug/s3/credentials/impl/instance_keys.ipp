// The bodies of <smdebug/s3/credentials/instance_keys.hpp>.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/s3/credentials/instance_keys.hpp>

#include <algorithm>

namespace smdebug {
inline namespace v1 {
namespace s3 {
namespace detail {

SMDEBUG_INLINE std::string instance_url(const environment_reader& environment) {
    constexpr const char* endpoint_name = "AWS_EC2_METADATA_SERVICE_ENDPOINT";
    constexpr const char* mode_name = "AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE";
    if (auto url = variable(environment, endpoint_name)) {
        const bool known = url->starts_with("http://") || url->starts_with("https://");
        const auto odd = [](char c) { return c <= ' ' || c >= '\x7f' || c == '@' || c == '?' || c == '#'; };
        if (!known || std::any_of(url->begin(), url->end(), odd)) {
            throw value_error(std::string{endpoint_name} + " must be of the form http://host:port");
        }
        while (url->ends_with('/')) {
            url->pop_back();
        }
        return *std::move(url);
    }
    const std::string mode = in_small_letters(variable(environment, mode_name).value_or("ipv4"));
    if (mode != "ipv4" && mode != "ipv6") {
        throw value_error(std::string{mode_name} + " must be IPv4 or IPv6");
    }
    return mode == "ipv4" ? "http://169.254.169.254" : "http://[fd00:ec2::254]";
}

}  // namespace detail
}  // namespace s3
}  // namespace v1
}  // namespace smdebug
