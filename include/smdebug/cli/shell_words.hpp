// Texts as words, names and lines of shell scripts.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace cli {
namespace detail {

/// A text with each of some characters replaced.
[[nodiscard]] inline std::string with_escapes(std::string_view text, std::string_view special,
                                              std::string_view before) {
    std::string out;
    for (const char c : text) {
        out.append(special.find(c) == std::string_view::npos ? "" : before).push_back(c);
    }
    return out;
}

/// A word of bash and zsh that means the text, whatever is in it.
[[nodiscard]] inline std::string shell_word(std::string_view text) {
    std::string out = "'";
    for (const char c : text) {
        c == '\'' ? out.append("'\\''") : out.append(1, c);
    }
    return out + "'";
}

/// The same of fish, in whose quotes a backslash escapes.
[[nodiscard]] inline std::string fish_word(std::string_view text) {
    return "'" + with_escapes(text, "'\\", "\\") + "'";
}

/// The first sentence, or what stands before the first semicolon: shells have one line for it.
[[nodiscard]] inline std::string_view short_help(std::string_view help) {
    return help.substr(0, std::min(help.find(';'), help.find(".  ")));
}

/// "a b c".
[[nodiscard]] inline std::string joined_words(const std::vector<std::string>& words) {
    std::string text;
    for (const std::string& word : words) {
        text.append(text.empty() ? "" : " ").append(word);
    }
    return text;
}

/// A name that may be that of a function: "-" and "." become "_".
[[nodiscard]] inline std::string function_name(std::string_view name) {
    std::string out{name};
    std::replace_if(
        out.begin(), out.end(), [](char c) { return c == '-' || c == '.'; }, '_');
    return out;
}

/// Replaces "@program@" and "@function@".
[[nodiscard]] inline std::string filled_in(std::string_view text, std::string_view program) {
    std::string out{text};
    for (const auto& [mark, value] : {std::pair<std::string_view, std::string>{"@program@", std::string{program}},
                                      {"@function@", function_name(program)}}) {
        for (std::size_t at = out.find(mark); at != std::string::npos; at = out.find(mark, at + value.size())) {
            out.replace(at, mark.size(), value);
        }
    }
    return out;
}

}  // namespace detail
}  // namespace cli
}  // namespace v1
}  // namespace smdebug
