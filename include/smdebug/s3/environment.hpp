// The environment variables that say how S3 is reached, behind a function: tests need not change the process's own.
// Used by: s3 (credentials, settings).
#pragma once

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace smdebug {
inline namespace v1 {
namespace s3 {

/// Gives the value of a variable, nothing when it is not set.
using environment_reader = std::function<std::optional<std::string>(const char*)>;

/// The process's variables.  Threads: any, while nobody changes the environment.
[[nodiscard]] inline std::optional<std::string> process_environment(const char* name) {
    const char* text = std::getenv(name);  // NOLINT(concurrency-mt-unsafe)
    return text == nullptr ? std::nullopt : std::optional<std::string>{text};
}

/// The value of a variable.  An empty one counts as not set, as with the tools of AWS.
[[nodiscard]] inline std::optional<std::string> variable(const environment_reader& environment, const char* name) {
    auto value = environment(name);
    return value && value->empty() ? std::nullopt : std::move(value);
}

/// A to Z made small; whatever the locale says.
[[nodiscard]] inline std::string in_small_letters(std::string_view text) {
    std::string made{text};
    std::transform(made.begin(), made.end(), made.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
    return made;
}

/// Whether a variable says "true".
[[nodiscard]] inline bool switched_on(const environment_reader& environment, const char* name) {
    return in_small_letters(variable(environment, name).value_or("")) == "true";
}

/// A path with "~/" at its begin put into words, where HOME is known.
[[nodiscard]] inline std::string from_home(const environment_reader& environment, std::string path) {
    const auto home = variable(environment, "HOME");
    return home && path.starts_with("~/") ? *home + path.substr(1) : std::move(path);
}

}  // namespace s3
}  // namespace v1
}  // namespace smdebug
