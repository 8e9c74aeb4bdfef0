#include <program/text.hpp>

#include <smdebug/core/dtype.hpp>
#include <smdebug/core/printable_text.hpp>

#include <algorithm>
#include <array>
#include <cstdio>

namespace smdebug::inline v1::cli::detail {

std::string compact_steps(std::span<const step_number> steps, std::size_t most) {
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
        text.append("-").append(std::to_string(steps[last]));
        if (stride != 1) {
            text.append(" by ").append(std::to_string(stride));
        }
        i = last + 1;
    }
    return text;
}

std::string shape_for_people(std::span<const std::size_t> extents) {
    return extents.empty() ? "scalar" : shape_text(extents);
}

std::string counted(std::size_t count, std::string_view noun) {
    return std::to_string(count).append(" ").append(noun).append(count == 1 ? "" : "s");
}

std::string duration_text(std::chrono::milliseconds time) {
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

std::string grouped(std::uint64_t number) {
    std::string text = std::to_string(number);
    for (std::size_t place = text.size(); place > 3;) {
        text.insert(place -= 3, 1, ',');
    }
    return text;
}

std::string size_text(std::uint64_t bytes) {
    constexpr std::array<const char*, 5> units{"bytes", "kB", "MB", "GB", "TB"};
    auto size = static_cast<double>(bytes);
    std::size_t unit = 0;
    while (size >= 999.5 && unit + 1 < units.size()) {
        size /= 1000;
        ++unit;
    }
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), unit == 0 || size >= 99.5 ? "%.0f %s" : "%.1f %s", size, units[unit]);
    return text.data();
}

std::string joined(std::span<const std::string> parts, std::string_view between) {
    std::string text;
    for (const std::string& part : parts) {
        text.append(&part == parts.data() ? std::string_view{} : between).append(part);
    }
    return text;
}

}  // namespace smdebug::inline v1::cli::detail
