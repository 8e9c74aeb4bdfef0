#include <program/numbers.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>

namespace smdebug::inline v1::cli::detail {

double real_number(const std::string& option, std::string_view text) {
    const double number = smdebug::detail::number_of_text<double>(text).value_or(-1);
    if (!(number >= 0) || std::isinf(number)) {
        throw usage_error(option + " must be a number, 0 or more, such as 1e-5, not \"" + std::string{text} + "\"");
    }
    return number;
}

step_range parse_range(const std::string& text) {
    const std::size_t colon = text.find(':');
    if (text.find_first_not_of("0123456789:") != std::string::npos) {
        throw usage_error("--steps must be A:B, from step A up to, not including, B, or one step, not \"" + text +
                          "\"");
    }
    const auto bound = [&](std::string_view part) {
        return part.empty() ? std::nullopt : std::optional{whole_number<step_number>("--steps", part, 0)};
    };
    const std::string_view all = text;
    if (colon == std::string::npos) {
        const auto only = whole_number<step_number>("--steps", all, 0);
        return {only, only == std::numeric_limits<step_number>::max() ? std::nullopt : std::optional{only + 1}};
    }
    const step_range range{bound(all.substr(0, colon)), bound(all.substr(colon + 1))};
    if (!range.valid()) {
        throw usage_error("--steps " + text + ": the first step must be below the last one, which is not included");
    }
    return range;
}

std::chrono::milliseconds parse_duration(const std::string& option, std::string_view text) {
    struct unit {
        std::string_view name;
        std::int64_t milliseconds;
    };
    const std::string_view name = text.substr(std::min(text.find_first_not_of("0123456789"), text.size()));
    const auto number =
        smdebug::detail::number_of_text<std::int64_t>(text.substr(0, text.size() - name.size())).value_or(0);
    for (const unit& each : {unit{"ms", 1}, unit{"s", 1000}, unit{"", 1000}, unit{"m", 60'000}, unit{"h", 3'600'000},
                             unit{"d", 86'400'000}}) {
        if (name == each.name && number > 0 && number <= std::numeric_limits<std::int64_t>::max() / each.milliseconds) {
            return std::chrono::milliseconds{number * each.milliseconds};
        }
    }
    throw usage_error(option + " must be a time such as 500ms, 90s, 10m or 2h, more than none, not \"" +
                      std::string{text} + "\"");
}

std::uint64_t parse_size(const std::string& option, std::string_view text) {
    const std::string_view name = text.substr(std::min(text.find_first_not_of("0123456789"), text.size()));
    const auto number =
        smdebug::detail::number_of_text<std::uint64_t>(text.substr(0, text.size() - name.size())).value_or(0);
    constexpr std::string_view letters = "KMGT";
    unsigned shift = 0;
    bool known = name.empty() || name == "B";
    if (!known && (name.size() == 1 || name.substr(1) == "B" || name.substr(1) == "iB")) {
        const char letter = name.front() == 'k' ? 'K' : name.front();
        const std::size_t place = letters.find(letter);
        known = place != std::string_view::npos;
        shift = known ? 10 * static_cast<unsigned>(place + 1) : 0;
    }
    if (!known || number == 0 || number > (std::numeric_limits<std::uint64_t>::max() >> shift)) {
        throw usage_error(option + " must be a size such as 500M or 2G, more than none, not \"" + std::string{text} +
                          "\"");
    }
    return number << shift;
}

}  // namespace smdebug::inline v1::cli::detail
