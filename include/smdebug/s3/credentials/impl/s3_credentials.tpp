// The bodies of <smdebug/s3/credentials/s3_credentials.hpp> that are templates.
#pragma once

#include <smdebug/s3/credentials/s3_credentials.hpp>

namespace smdebug {
inline namespace v1 {

template <http_transport Transport>
typename s3_credentials<Transport>::choice s3_credentials<Transport>::choose(const s3_options& options,
                                                                             Transport over) {
    if (options.keys) {
        return static_credentials{*options.keys};
    }
    if (options.anonymous) {
        return anonymous_credentials{};
    }
    return default_credentials<Transport>{std::move(over)};
}

}  // namespace v1
}  // namespace smdebug
