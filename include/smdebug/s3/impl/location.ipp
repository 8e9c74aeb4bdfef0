// The bodies of <smdebug/s3/location.hpp>.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/s3/location.hpp>

#include <algorithm>
#include <cstddef>

namespace smdebug {
inline namespace v1 {
namespace s3 {

SMDEBUG_INLINE std::string location::text() const {
    std::string whole = "s3://" + bucket + "/" + prefix;
    whole.pop_back();
    return whole;
}

SMDEBUG_INLINE location parse_location(std::string_view uri) {
    constexpr std::string_view scheme = "s3://";
    const auto refuse = [&](const char* why) {
        throw value_error("\"" + std::string{uri} + "\" names no place in S3: " + why +
                              "; it should be of the form s3://bucket/prefix",
                          {.where = std::string{uri}});
    };
    if (!uri.starts_with(scheme)) {
        refuse("it does not begin with s3://");
    }
    std::string_view rest = uri.substr(scheme.size());
    const std::size_t slash = rest.find('/');
    location found{.bucket = std::string{rest.substr(0, slash)}, .prefix = {}};
    rest.remove_prefix(slash == std::string_view::npos ? rest.size() : slash + 1);
    // What comes out as a host's name or a part of a path must be nothing else.
    const auto is_good = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.' ||
               c == '_';
    };
    if (found.bucket.empty()) {
        refuse("there is no bucket in it");
    }
    if (!std::all_of(found.bucket.begin(), found.bucket.end(), is_good) || found.bucket == "." ||
        found.bucket == "..") {
        refuse("a bucket's name has letters, digits, '-', '.' and '_' only");
    }
    while (rest.ends_with('/')) {
        rest.remove_suffix(1);
    }
    if (!rest.empty()) {
        found.prefix.append(rest).append("/");
    }
    return found;
}

}  // namespace s3
}  // namespace v1
}  // namespace smdebug
