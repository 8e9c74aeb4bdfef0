// "s3://bucket/prefix", taken apart.
// Used by: s3.
#pragma once

#include <smdebug/core/error.hpp>

#include <algorithm>
#include <string>
#include <string_view>

namespace smdebug {
inline namespace v1 {
namespace s3 {

/// Where a run lies.
struct location {
    std::string bucket;
    std::string prefix;  ///< empty, or with '/' at its end: what a storage's keys get before them

    /// "s3://bucket/prefix", without '/' at its end.
    [[nodiscard]] std::string text() const {
        std::string whole = "s3://" + bucket + "/" + prefix;
        whole.pop_back();
        return whole;
    }
    friend bool operator==(const location&, const location&) = default;
};

/// Slashes at the end do not count; everything else of the prefix is taken as it stands, '%' and "//" too.
/// Errors: value_error for anything else than s3://, and for a name that no bucket can have.
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
