#include <program/shell_words.hpp>

#include <algorithm>
#include <utility>

namespace smdebug {
inline namespace v1 {
namespace cli {
namespace detail {

std::string with_escapes(std::string_view text, std::string_view special, std::string_view before) {
    std::string out;
    for (const char c : text) {
        out.append(special.find(c) == std::string_view::npos ? "" : before).push_back(c);
    }
    return out;
}

std::string shell_word(std::string_view text) {
    std::string out = "'";
    for (const char c : text) {
        c == '\'' ? out.append("'\\''") : out.append(1, c);
    }
    return out + "'";
}

std::string fish_word(std::string_view text) { return "'" + with_escapes(text, "'\\", "\\") + "'"; }

std::string_view short_help(std::string_view help) {
    return help.substr(0, std::min(help.find(';'), help.find(".  ")));
}

std::string joined_words(const std::vector<std::string>& words) {
    std::string text;
    for (const std::string& word : words) {
        text.append(text.empty() ? "" : " ").append(word);
    }
    return text;
}

std::string function_name(std::string_view name) {
    std::string out{name};
    std::replace_if(
        out.begin(), out.end(), [](char c) { return c == '-' || c == '.'; }, '_');
    return out;
}

std::string filled_in(std::string_view text, std::string_view program) {
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
