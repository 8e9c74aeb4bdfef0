// Reads numbers from text, independent of the locale.
#pragma once

#include <charconv>
#include <concepts>
#include <optional>
#include <string_view>
#include <system_error>

namespace smdebug::inline v1::detail {

/// The number that is the whole of the text; nothing if the text is empty, has anything else, even a blank or a leading
/// '+', or if Number cannot hold it.  `base`: of whole numbers.
template <class Number>
[[nodiscard]] std::optional<Number> number_of_text(std::string_view text, [[maybe_unused]] int base = 10) noexcept {
    Number number = 0;
    std::from_chars_result read = {};
    if constexpr (std::integral<Number>) {
        read = std::from_chars(text.data(), text.data() + text.size(), number, base);
    } else {
        read = std::from_chars(text.data(), text.data() + text.size(), number);
    }
    return read.ec == std::errc{} && read.ptr == text.data() + text.size() ? std::optional{number} : std::nullopt;
}

/// The text without a '+' in front of a number, which number_of_text() refuses; "+-1" stays as it is.
[[nodiscard]] constexpr std::string_view without_plus(std::string_view text) noexcept {
    return text.starts_with('+') && !text.starts_with("+-") ? text.substr(1) : text;
}

}  // namespace smdebug::inline v1::detail
