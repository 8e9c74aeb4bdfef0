// Writing the answers: finished pieces of JSON, and objects and lists made of pieces.
// A piece is a type of its own, so that text that still needs quotes is never taken for JSON.
#pragma once

#include <smdebug/core/json_document.hpp>
#include <smdebug/core/json_text.hpp>
#include <smdebug/core/printable_text.hpp>

#include "support/standard.hpp"

#include <charconv>

namespace golden_replay {

/// A finished JSON value.
class fragment {
public:
    explicit fragment(std::string json) : json_(std::move(json)) {}
    [[nodiscard]] const std::string& json() const noexcept { return json_; }

private:
    std::string json_;
};

namespace detail {

/// Text that is not all UTF-8: each stray byte becomes the lone surrogate that Python's "surrogateescape" makes of it,
/// so that the file stays readable and different bytes stay different.
[[nodiscard]] inline std::string escaped(std::string_view text) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string out = "\"";
    while (!text.empty()) {
        const std::size_t length = smdebug::first_utf8_character(text).length;
        if (length == 0) {
            const auto code = static_cast<unsigned char>(text.front());
            out.append("\\udc").append({digits[code >> 4U], digits[code & 15U]});
            text.remove_prefix(1);
        } else {
            std::string quoted;
            smdebug::append_json_string(quoted, text.substr(0, length));
            out.append(quoted, 1, quoted.size() - 2);
            text.remove_prefix(length);
        }
    }
    return out += '"';
}

}  // namespace detail

[[nodiscard]] inline fragment null() { return fragment{"null"}; }
[[nodiscard]] inline fragment truth(bool value) { return fragment{value ? "true" : "false"}; }

[[nodiscard]] inline fragment whole(std::integral auto value) {
    char text[24] = {};
    return fragment{std::string(text, std::to_chars(text, text + sizeof text, value).ptr)};
}

[[nodiscard]] inline fragment in_quotes(std::string_view text) {
    if (!smdebug::is_utf8(text)) {
        return fragment{detail::escaped(text)};
    }
    std::string out;
    smdebug::append_json_string(out, text);
    return fragment{std::move(out)};
}

/// A list of make(item) for each item of `items`.
template <class Items, class Make>
[[nodiscard]] fragment list_of(const Items& items, Make&& make) {
    std::string out = "[";
    for (const auto& item : items) {
        out.append(out.size() == 1 ? "" : ", ").append(make(item).json());
    }
    return fragment{out += ']'};
}
[[nodiscard]] inline fragment list_of_whole(const auto& numbers) {
    return list_of(numbers, [](const auto& number) { return whole(number); });
}
[[nodiscard]] inline fragment list_of_texts(const auto& texts) {
    return list_of(texts, [](const auto& text) { return in_quotes(text); });
}

/// An object, key by key.  `break_lines`: each key on a line of its own, for the outer objects that people look at.
class object {
public:
    explicit object(bool break_lines = false) : separator_(break_lines ? ",\n" : ", ") {}

    object& add(std::string_view key, const fragment& value) {
        json_.append(json_.size() == 1 ? "" : separator_)
            .append(in_quotes(key).json())
            .append(": ")
            .append(value.json());
        return *this;
    }
    [[nodiscard]] fragment done() const { return fragment{json_ + '}'}; }

private:
    std::string_view separator_;
    std::string json_ = "{";
};

}  // namespace golden_replay
