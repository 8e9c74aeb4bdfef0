// Paths of runs as users write them: in one form, so that the same run is known again; taken apart where they hold a pattern.
#pragma once

#include <smdebug/core/form.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// A path of this machine without "file://", the home folder in place of "~", and without "//", "/./" and slashes at its end.
/// ".." stays, as it may lead through a link.  An address in S3 without slashes at its end: all others are of its keys.
/// Errors: value_error for what is neither, and for "~" where HOME is not set.
[[nodiscard]] std::string plain_path_of(std::string_view written);

/// "s3://bucket/a/b" in its parts: "s3://bucket", and "a/b" or nothing.
struct address_parts {
    std::string bucket = {};
    std::string key = {};
};
[[nodiscard]] address_parts split_address(std::string_view address);

/// The same text for the same path, whatever the folder that it is written from.  Links are resolved only before a "..".
[[nodiscard]] std::string whole_path_of(const std::string& plain);
/// The same of a path as it was written; what is no path stays as it is.
[[nodiscard]] std::string run_key_of(std::string_view written);

/// "runs/*.tar!/job-?" in its parts.
struct path_in_archive {
    std::string archive = {};
    std::string inside = {};
};
/// Nothing where no name of an archive has "!/" behind it.
[[nodiscard]] std::optional<path_in_archive> split_at_archive(std::string_view path);

/// A path that has wildcards, in its parts.
struct rooted_pattern {
    std::string root = {};     ///< the folder before the first wildcard: "." or "/" where there is none else
    std::string prefix = {};   ///< with which the names in it begin that can match
    std::string pattern = {};  ///< what follows the root
};
/// Errors: value_error for a pattern of buckets.
[[nodiscard]] rooted_pattern split_at_wildcard(const std::string& plain);

}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/batch/search/impl/written_path.ipp>
#endif
