// The keys of a machine's role, from EC2's instance metadata service, version 2.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/http/concepts.hpp>
#include <smdebug/http/message.hpp>
#include <smdebug/s3/credentials/environment.hpp>
#include <smdebug/s3/credentials/keys_answer.hpp>
#include <smdebug/s3/credentials/metadata_exchange.hpp>

#include <string>
#include <string_view>
#include <utility>

namespace smdebug {
inline namespace v1 {
namespace s3 {
namespace detail {

/// "http://169.254.169.254", or what AWS_EC2_METADATA_SERVICE_ENDPOINT says, or the IPv6 address when
/// AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE is IPv6; without a '/' at the end.
/// Errors: value_error for what is no address, or no mode.
[[nodiscard]] std::string instance_url(const environment_reader& environment);

/// One conversation: a token, the role's name, its keys.
template <http_transport Transport>
class instance_talk {
public:
    instance_talk(const Transport& transport, const metadata_limits& limits, std::string base, std::string where)
        : transport_(transport), limits_(limits), base_(std::move(base)), where_(std::move(where)) {}

    [[nodiscard]] keys_answer once(http::request::clock::time_point latest);

private:
    static constexpr const char* roles = "/latest/meta-data/iam/security-credentials/";

    [[nodiscard]] static bool is_ok(const http::response& got) noexcept;
    /// Not empty, not long, printable and without blanks.
    [[nodiscard]] static bool plain(std::string_view text) noexcept;

    [[nodiscard]] http::response ask(http::method how, const std::string& path, http::request::clock::time_point latest,
                                     const http::header& with) const;
    /// What an answer without keys means; `missing` when it is 404.
    [[nodiscard]] keys_answer without(const http::response& got, keys_outcome missing, const char* why) const;

    const Transport& transport_;
    const metadata_limits& limits_;
    std::string base_;
    std::string where_;
};

/// Asks the instance metadata service, unless AWS_EC2_METADATA_DISABLED is true.
/// Errors: value_error, as instance_url().  Cost: three requests, one after the other; see metadata_limits for what it
/// costs where there is no such service.
template <http_transport Transport>
[[nodiscard]] keys_answer keys_of_instance(const Transport& transport, const environment_reader& environment,
                                           const metadata_limits& limits = {}) {
    if (switched_on(environment, "AWS_EC2_METADATA_DISABLED")) {
        return {keys_outcome::nothing_there, {}, "instance metadata (switched off by AWS_EC2_METADATA_DISABLED)"};
    }
    const std::string url = instance_url(environment);
    detail::instance_talk talk{transport, limits, url, "instance metadata at " + url};
    return ask_repeatedly(limits, [&](http::request::clock::time_point latest) { return talk.once(latest); });
}

}  // namespace detail
}  // namespace s3
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/s3/credentials/impl/instance_keys.ipp>
#endif

#include <smdebug/s3/credentials/impl/instance_keys.tpp>
