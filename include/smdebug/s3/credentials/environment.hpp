// The environment variables that say how S3 is reached, behind a function: tests need not change the process's own.
#pragma once

#include <smdebug/core/form.hpp>

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace smdebug {
inline namespace v1 {
namespace s3 {
namespace detail {

/// Gives the value of a variable, nothing when it is not set.
using environment_reader = std::function<std::optional<std::string>(const char*)>;

/// The process's variables.  Threads: any, while nobody changes the environment.
[[nodiscard]] std::optional<std::string> process_environment(const char* name);

/// The value of a variable.  An empty one counts as not set, as with the tools of AWS.
[[nodiscard]] std::optional<std::string> variable(const environment_reader& environment, const char* name);

/// A to Z made small; whatever the locale says.
[[nodiscard]] std::string in_small_letters(std::string_view text);

/// Whether a variable says "true".
[[nodiscard]] inline bool switched_on(const environment_reader& environment, const char* name) {
    return in_small_letters(variable(environment, name).value_or("")) == "true";
}

/// A path with "~/" at its begin put into words, where HOME is known.
[[nodiscard]] std::string from_home(const environment_reader& environment, std::string path);

}  // namespace detail
}  // namespace s3
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/s3/credentials/impl/environment.ipp>
#endif
