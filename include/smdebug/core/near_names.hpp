// Suggestions for an unknown name: those that a user may have meant.
#pragma once

#include <smdebug/core/form.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace smdebug {
inline namespace v1 {

/// How many insertions, deletions and replacements make one text of the other.
[[nodiscard]] std::size_t edit_distance(std::string_view a, std::string_view b);

/// The names that a user may have meant by `wanted`, the likeliest first: those that hold it or that it holds, and
/// those that differ in a few letters; upper and lower case are the same.
[[nodiscard]] std::vector<std::string> near_matches(std::string_view wanted, std::span<const std::string> names,
                                                    std::size_t most = 5);

/// " Did you mean a, b or c?" of those that were found near, or nothing.
[[nodiscard]] std::string did_you_mean(std::span<const std::string> near);

/// The same of the `most` names that are nearest.
[[nodiscard]] inline std::string did_you_mean(std::string_view wanted, std::span<const std::string> names,
                                              std::size_t most = 5) {
    return did_you_mean(near_matches(wanted, names, most));
}

/// What to say behind a name that is not there: did_you_mean() of at most three, or else " There are: a, b" of the
/// first 20.
[[nodiscard]] std::string near_or_all(std::string_view wanted, std::span<const std::string> names);

}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/core/impl/near_names.ipp>
#endif
