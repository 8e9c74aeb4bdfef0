// Small pieces of text that several commands print: steps as ranges, names that cannot upset a terminal, suggestions.
// Used by: cli.
#pragma once

#include <smdebug/core/near_names.hpp>
#include <smdebug/core/shape.hpp>
#include <smdebug/core/step.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace cli {

/// Steps as people write them: "0-8 by 2, 10, 20-29".  Steps are ascending.  After `most` pieces it says how many
/// steps are left out.
[[nodiscard]] inline std::string compact_steps(std::span<const step_number> steps, std::size_t most = 12) {
    std::string text;
    std::size_t pieces = 0;
    for (std::size_t i = 0; i < steps.size(); ++pieces) {
        text += text.empty() ? "" : ", ";
        if (pieces == most && steps.size() - i > 1) {
            return text + "... (" + std::to_string(steps.size() - i) + " more)";
        }
        std::size_t last = i;
        const step_number stride = i + 1 < steps.size() ? steps[i + 1] - steps[i] : 0;
        while (last + 1 < steps.size() && steps[last + 1] - steps[last] == stride) {
            ++last;
        }
        text += std::to_string(steps[i]);
        if (last - i < 2) {  // two steps are no range
            ++i;
            continue;
        }
        text += "-" + std::to_string(steps[last]);
        text += stride == 1 ? "" : " by " + std::to_string(stride);
        i = last + 1;
    }
    return text;
}

/// A shape for tables: "2x3", "scalar" for a 0-d tensor.
[[nodiscard]] inline std::string shape_for_people(std::span<const std::size_t> extents) {
    return extents.empty() ? "scalar" : shape_text(extents);
}

/// "1 step", "2 steps".
[[nodiscard]] inline std::string counted(std::size_t count, std::string_view noun) {
    return std::to_string(count).append(" ").append(noun).append(count == 1 ? "" : "s");
}

/// How long something took, as people say it: "90 seconds", "3 days".
[[nodiscard]] inline std::string duration_text(std::chrono::milliseconds time) {
    const auto seconds = static_cast<std::size_t>(std::max<std::chrono::milliseconds::rep>(time.count(), 0) / 1000);
    if (seconds == 0) {
        return "less than a second";
    }
    const std::size_t minutes = seconds / 60;
    const std::size_t hours = minutes / 60;
    return hours >= 48      ? counted(hours / 24, "day")
           : minutes >= 120 ? counted(hours, "hour")
           : seconds >= 120 ? counted(minutes, "minute")
                            : counted(seconds, "second");
}

[[nodiscard]] inline std::string joined(std::span<const std::string> parts, std::string_view between) {
    std::string text;
    for (const std::string& part : parts) {
        text.append(&part == parts.data() ? std::string_view{} : between).append(part);
    }
    return text;
}

/// The text with control characters as escapes, so that a name can neither break a table nor command a terminal.
[[nodiscard]] inline std::string printable(std::string_view text) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string out;
    for (const char c : text) {
        const auto code = static_cast<unsigned char>(c);
        if (c == '\n' || c == '\t' || c == '\r') {
            out += c == '\n' ? "\\n" : (c == '\t' ? "\\t" : "\\r");
        } else if (code < 0x20 || code == 0x7F) {
            out.append("\\x").append(1, digits[code >> 4U]).append(1, digits[code & 15U]);
        } else {
            out += c;
        }
    }
    return out;
}

/// The length of the UTF-8 character that `text` starts with, 0 where it starts with none.
[[nodiscard]] constexpr std::size_t utf8_length(std::string_view text) noexcept {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned lead = byte(0);
    const std::size_t length = lead < 0x80   ? 1
                               : lead < 0xC2 ? 0
                               : lead < 0xE0 ? 2
                               : lead < 0xF0 ? 3
                               : lead < 0xF5 ? 4
                                             : 0;
    if (length > text.size()) {
        return 0;
    }
    for (std::size_t i = 1; i < length; ++i) {
        if ((byte(i) & 0xC0U) != 0x80) {
            return 0;
        }
    }
    // Overlong forms, surrogates, and what lies beyond U+10FFFF.
    const unsigned second = length > 2 ? byte(1) : 0;
    const bool bad = (lead == 0xE0 && second < 0xA0) || (lead == 0xED && second > 0x9F) ||
                     (lead == 0xF0 && second < 0x90) || (lead == 0xF4 && second > 0x8F);
    return bad ? 0 : length;
}

/// The text with U+FFFD for every byte that is no UTF-8: strings in tensors may be any bytes, JSON may not.
[[nodiscard]] inline std::string valid_utf8(std::string_view text) {
    std::string out;
    while (!text.empty()) {
        const std::size_t length = utf8_length(text);
        out.append(length == 0 ? std::string_view{"\xEF\xBF\xBD"} : text.substr(0, length));
        text.remove_prefix(std::max<std::size_t>(length, 1));
    }
    return out;
}

/// " Did you mean a, b or c?", or nothing.
[[nodiscard]] inline std::string suggestion(std::string_view wanted, std::span<const std::string> names) {
    return printable(did_you_mean(wanted, names));
}

}  // namespace cli
}  // namespace v1
}  // namespace smdebug
