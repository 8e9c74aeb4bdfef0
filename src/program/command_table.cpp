#include <program/command_table.hpp>

#include <algorithm>
#include <cstddef>

namespace smdebug::inline v1::cli::detail {

const command_entry* command_table::find(std::string_view name) const noexcept {
    const auto found =
        std::find_if(commands.begin(), commands.end(), [&](const command_entry& each) { return each.name == name; });
    return found == commands.end() ? nullptr : &*found;
}

std::vector<exit_status> exit_statuses_in(std::string_view text) {
    constexpr std::string_view head = "Exit status: ";
    std::vector<exit_status> statuses;
    const std::size_t begin = text.find(head);
    if (begin == std::string_view::npos) {
        return statuses;
    }
    text.remove_prefix(begin + head.size());
    text = text.substr(0, text.find('.'));
    while (!text.empty()) {
        const std::string_view one = text.substr(0, text.find(';'));
        text.remove_prefix(std::min(one.size() + 1, text.size()));
        const std::size_t digits = one.find_first_of("0123456789");
        const std::size_t words = digits == std::string_view::npos ? digits : one.find(' ', digits);
        if (words != std::string_view::npos) {
            statuses.push_back({std::string{one.substr(digits, words - digits)}, std::string{one.substr(words + 1)}});
        }
    }
    return statuses;
}

}  // namespace smdebug::inline v1::cli::detail
