// Texts as words, names and lines of shell scripts.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace cli {
namespace detail {

/// A text with each of some characters replaced.
[[nodiscard]] std::string with_escapes(std::string_view text, std::string_view special, std::string_view before);

/// A word of bash and zsh that means the text, whatever is in it.
[[nodiscard]] std::string shell_word(std::string_view text);

/// The same of fish, in whose quotes a backslash escapes.
[[nodiscard]] std::string fish_word(std::string_view text);

/// The first sentence, or what stands before the first semicolon: shells have one line for it.
[[nodiscard]] std::string_view short_help(std::string_view help);

/// "a b c".
[[nodiscard]] std::string joined_words(const std::vector<std::string>& words);

/// A name that may be that of a function: "-" and "." become "_".
[[nodiscard]] std::string function_name(std::string_view name);

/// Replaces "@program@" and "@function@".
[[nodiscard]] std::string filled_in(std::string_view text, std::string_view program);

}  // namespace detail
}  // namespace cli
}  // namespace v1
}  // namespace smdebug
