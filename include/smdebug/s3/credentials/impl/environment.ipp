// The bodies of <smdebug/s3/credentials/environment.hpp>.
#pragma once

#include <smdebug/s3/credentials/environment.hpp>

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace smdebug {
inline namespace v1 {
namespace s3 {
namespace detail {

SMDEBUG_INLINE std::optional<std::string> process_environment(const char* name) {
    const char* text = std::getenv(name);  // NOLINT(concurrency-mt-unsafe)
    return text == nullptr ? std::nullopt : std::optional<std::string>{text};
}

SMDEBUG_INLINE std::optional<std::string> variable(const environment_reader& environment, const char* name) {
    auto value = environment(name);
    return value && value->empty() ? std::nullopt : std::move(value);
}

SMDEBUG_INLINE std::string in_small_letters(std::string_view text) {
    std::string made{text};
    std::transform(made.begin(), made.end(), made.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
    return made;
}

SMDEBUG_INLINE std::string from_home(const environment_reader& environment, std::string path) {
    const auto home = variable(environment, "HOME");
    return home && path.starts_with("~/") ? *home + path.substr(1) : std::move(path);
}

}  // namespace detail
}  // namespace s3
}  // namespace v1
}  // namespace smdebug
