// Parses "s3://bucket/prefix".
#pragma once

#include <smdebug/core/error.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

namespace smdebug::inline v1::s3 {

/// The place of a run.
struct location {
    std::string bucket;
    std::string prefix;  ///< prepended to a storage's keys: empty, or ends in '/'

    /// "s3://bucket/prefix", without '/' at its end.
    [[nodiscard]] std::string text() const {
        std::string whole = "s3://" + bucket + "/" + prefix;
        whole.pop_back();
        return whole;
    }
    /// "s3://bucket/key", of an object's key with the prefix.
    [[nodiscard]] std::string name_of(std::string_view whole_key) const {
        return "s3://" + bucket + "/" + std::string{whole_key};
    }
    friend bool operator==(const location&, const location&) = default;
};

/// Trailing slashes are ignored; the rest of the prefix is taken literally, including '%' and "//".
/// Errors: value_error for anything but s3://, and for a name that no bucket can have.
[[nodiscard]] inline location parse_location(std::string_view uri) {
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
    // The name becomes a host name or a part of a path, so it must not contain anything else.
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

}  // namespace smdebug::inline v1::s3
