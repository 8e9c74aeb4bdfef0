// Patterns of paths, as in shells: * ? [ab] [!a-z] {a,b} within a name, and ** for folders at any depth.
// Does not use fnmatch(3), which depends on the process's locale, and matches no names that are invalid UTF-8.
#pragma once

#include <smdebug/core/form.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace smdebug::inline v1::detail {

/// The position of the first wildcard of a path; npos: it has none.  '[' and '{' without their ends do not count, nor
/// do escaped characters.
[[nodiscard]] std::size_t first_wildcard(std::string_view path) noexcept;

/// A pattern for one name of a path.
/// A character is one of UTF-8, or a byte that is not part of one.  Only a pattern that begins with '.' matches a name
/// that does.  A backslash escapes the next character.
class name_pattern {
public:
    /// `text` has no '/'.  Errors: value_error if its braces expand to more than 1,024 names.
    explicit name_pattern(std::string_view text);

    [[nodiscard]] bool matches(std::string_view name) const noexcept;
    /// Whether it is "**".
    [[nodiscard]] bool is_any_depth() const noexcept { return any_depth_; }
    /// The only name that it matches; empty if it has wildcards.
    [[nodiscard]] const std::string& name() const noexcept { return name_; }

private:
    std::vector<std::string> alternatives_;  // without braces
    std::string name_;
    bool any_depth_ = false;
};

/// A pattern for paths: matched name by name, so that a walk enters only relevant folders.
class path_pattern {
public:
    /// The parts that may match next.  The names so far may match in several ways.
    using progress = std::vector<bool>;

    path_pattern() = default;
    /// Names separated by '/'; empty ones and "." are ignored.  Errors: those of name_pattern.
    explicit path_pattern(std::string_view text);

    [[nodiscard]] progress begin() const;
    /// The state after a name.  `at_link`: it is a link, which ** does not follow, to avoid circles.
    [[nodiscard]] progress after(const progress& before, std::string_view name, bool at_link = false) const;
    /// Whether all of the pattern was matched: by the names so far, or by a folder above.
    [[nodiscard]] bool is_end(const progress& reached) const noexcept { return reached.back(); }
    /// Whether anything below can still match.
    [[nodiscard]] bool goes_on(const progress& reached) const noexcept;
    /// The only name that can match next; empty if there are others.
    [[nodiscard]] const std::string& only_name(const progress& reached) const noexcept;
    /// Whether a path, or a folder above it, matches.
    [[nodiscard]] bool covers(std::string_view path) const;
    /// Whether it ends in "**".
    [[nodiscard]] bool ends_at_any_depth() const noexcept { return !parts_.empty() && parts_.back().is_any_depth(); }

private:
    void pass_over_any_depth(progress& reached) const;

    std::vector<name_pattern> parts_;
};

/// A path of this machine without "file://", with the home folder for "~", and without "//", "/./" and trailing
/// slashes.
/// ".." stays, as it may lead through a link.  An address in S3 without trailing slashes: all other slashes belong to
/// its keys.
/// Errors: value_error for any other text, and for "~" if HOME is not set.
[[nodiscard]] std::string plain_path_of(std::string_view written);

/// Splits "s3://bucket/a/b" into "s3://bucket", and "a/b" or nothing.
struct address_parts {
    std::string bucket = {};
    std::string key = {};
};
[[nodiscard]] address_parts split_address(std::string_view address);

/// One text for each path, independent of the working directory.  Links are resolved only before a "..".
[[nodiscard]] std::string whole_path_of(const std::string& plain);
/// The text of whole_path_of() for an unnormalized path; an invalid one is returned unchanged.
[[nodiscard]] std::string run_key_of(std::string_view written);

/// Splits "runs/*.tar!/job-?".
struct path_in_archive {
    std::string archive = {};
    std::string inside = {};
};
/// Nothing if no name of an archive is followed by "!/".
[[nodiscard]] std::optional<path_in_archive> split_at_archive(std::string_view path);

/// A path with wildcards, split.
struct rooted_pattern {
    std::string root = {};     ///< the folder before the first wildcard: at least "." or "/"
    std::string prefix = {};   ///< of the names in it that can match
    std::string pattern = {};  ///< what follows the root
};
/// Errors: value_error for a pattern of buckets.
[[nodiscard]] rooted_pattern split_at_wildcard(const std::string& plain);

}  // namespace smdebug::inline v1::detail

#ifndef SMDEBUG_COMPILED
#include <smdebug/batch/search/impl/name_pattern.ipp>
#endif
