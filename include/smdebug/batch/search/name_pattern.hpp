// Patterns of paths, as shells have them: * ? [ab] [!a-z] {a,b} within a name, and ** for folders at any depth.
// Not fnmatch(3): what it matches depends on the process's locale, and names that are no UTF-8 match nothing there.
#pragma once

#include <smdebug/core/form.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// Where the first wildcard of a path stands; npos: it has none.  '[' and '{' without their ends are none, nor is what stands
/// behind a backslash.
[[nodiscard]] std::size_t first_wildcard(std::string_view path) noexcept;

/// A pattern for one name of a path.
/// A character is one of UTF-8, or a byte that belongs to none.  A name that begins with '.' is matched by a pattern that
/// does.  A backslash takes its meaning from what follows it.
class name_pattern {
public:
    /// `text` has no '/'.  Errors: value_error where its braces stand for more than 1,024 names.
    explicit name_pattern(std::string_view text);

    [[nodiscard]] bool matches(std::string_view name) const noexcept;
    /// Whether it is "**".
    [[nodiscard]] bool is_any_depth() const noexcept { return any_depth_; }
    /// The only name that it matches; empty: it has wildcards.
    [[nodiscard]] const std::string& name() const noexcept { return name_; }

private:
    std::vector<std::string> alternatives_;  // without braces
    std::string name_;
    bool any_depth_ = false;
};

/// A pattern for paths: how far a path has come in it is told name by name, so that a walk goes only where it matters.
class path_pattern {
public:
    /// Which of the parts may be next.  What came first may match in several ways.
    using progress = std::vector<bool>;

    path_pattern() = default;
    /// Of names with '/' between; empty ones and "." do not count.  Errors: those of name_pattern.
    explicit path_pattern(std::string_view text);

    [[nodiscard]] progress begin() const;
    /// Behind a name.  `at_link`: it is a link, through which ** does not go, as it could go round for ever.
    [[nodiscard]] progress after(const progress& before, std::string_view name, bool at_link = false) const;
    /// Whether all of the pattern was matched: by what came first, or by a folder above it.
    [[nodiscard]] bool is_end(const progress& reached) const noexcept { return reached.back(); }
    /// Whether anything below can still be matched.
    [[nodiscard]] bool goes_on(const progress& reached) const noexcept;
    /// The only name that can come next; empty: there are others.
    [[nodiscard]] const std::string& only_name(const progress& reached) const noexcept;
    /// Whether a path, or a folder above it, is matched.
    [[nodiscard]] bool covers(std::string_view path) const;
    /// Whether it ends in "**".
    [[nodiscard]] bool ends_at_any_depth() const noexcept { return !parts_.empty() && parts_.back().is_any_depth(); }

private:
    void pass_over_any_depth(progress& reached) const;

    std::vector<name_pattern> parts_;
};

}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/batch/search/impl/name_pattern.ipp>
#endif
