// The bodies of <smdebug/actions/action_record.hpp>.
#pragma once

#include <smdebug/actions/action_record.hpp>
#include <smdebug/core/bytes.hpp>
#include <smdebug/core/error.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>

namespace smdebug {
inline namespace v1 {
namespace actions {

SMDEBUG_INLINE std::string_view name_of(const action_record& action) noexcept {
    constexpr std::string_view names[] = {"stoptraining", "email", "sms"};
    return names[action.index()];
}

namespace detail {

SMDEBUG_INLINE bool equal_but_for_case(std::string_view left, std::string_view right) noexcept {
    const auto small = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
    return std::equal(left.begin(), left.end(), right.begin(), right.end(),
                      [&](char a, char b) { return small(a) == small(b); });
}

SMDEBUG_INLINE std::optional<smdebug::detail::json::value> field_of(smdebug::detail::json::value entry,
                                                                    std::string_view name) {
    std::optional<smdebug::detail::json::value> match;
    entry.for_each_field([&](std::string_view field, smdebug::detail::json::value value) {
        match = equal_but_for_case(field, name) ? value : match;
        return true;
    });
    return match;
}

SMDEBUG_INLINE std::string needed_field(smdebug::detail::json::value entry, std::string_view name,
                                        std::string_view action, std::string& problem) {
    const auto field = field_of(entry, name);
    const auto text = field ? field->string() : std::nullopt;
    if (!text || text->empty()) {
        problem = std::string{action}.append(" needs a text as its \"").append(name).append("\"");
    }
    return std::string{text.value_or("")};
}

/// Adds the action that an entry stands for, or why there is none.
SMDEBUG_INLINE void add_action(parsed_actions& parsed, smdebug::detail::json::value entry, std::size_t number) {
    const std::string name{[&] {
        const auto field = field_of(entry, "name");
        return (field ? field->string() : std::nullopt).value_or("");
    }()};
    std::string problem;
    std::optional<action_record> made;
    if (!entry.is_object()) {
        problem = "it is no object";
    } else if (name.empty()) {
        problem = "it has no \"name\"";
    } else if (equal_but_for_case(name, "stoptraining")) {
        made = stop_training{needed_field(entry, "training_job_prefix", name, problem)};
    } else if (equal_but_for_case(name, "email")) {
        made = email{needed_field(entry, "endpoint", name, problem)};
    } else if (equal_but_for_case(name, "sms")) {
        made = sms{needed_field(entry, "endpoint", name, problem)};
    } else {
        problem = "there is no action \"" + name + "\"; there are: stoptraining, email, sms";
    }
    if (problem.empty()) {
        parsed.actions.push_back(*std::move(made));
    } else {
        parsed.problems.push_back("Action " + std::to_string(number) + " is left out: " + problem + ".");
    }
}

SMDEBUG_INLINE std::string without_escapes(std::string_view text) {
    std::string plain;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '\\' && i + 1 < text.size() && (text[i + 1] == '"' || text[i + 1] == '\\')) {
            ++i;
        }
        plain += text[i];
    }
    return plain;
}

}  // namespace detail

SMDEBUG_INLINE detail::parsed_actions parse_actions(std::string_view text) {
    constexpr std::string_view blanks = " \t\r\n";
    detail::parsed_actions parsed;
    text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
    text = text.substr(0, text.find_last_not_of(blanks) + 1);
    if (text.empty() || text == "None") {
        return parsed;
    }
    smdebug::detail::json::document parser;
    smdebug::detail::json::document inner;
    std::string plain;
    auto root = parser.parse(as_bytes(text));
    if (!root) {
        plain = detail::without_escapes(text);
        root = parser.parse(as_bytes(plain));
    }
    if (!root) {
        constexpr std::size_t most_shown = 200;
        throw value_error("The actions are not valid JSON: " + std::string{text.substr(0, most_shown)} +
                          (text.size() > most_shown ? "..." : ""));
    }
    if (const auto quoted = root->string()) {
        const std::string embedded{*quoted};
        auto unescaped = inner.parse(as_bytes(embedded));
        root = unescaped ? unescaped : inner.parse(as_bytes(detail::without_escapes(embedded)));
    }
    std::size_t number = 0;
    const bool is_list = root && root->for_each_element([&](smdebug::detail::json::value entry) {
        detail::add_action(parsed, entry, ++number);
        return true;
    });
    if (root && root->is_object()) {
        detail::add_action(parsed, *root, 1);
    } else if (!is_list) {
        parsed.problems.emplace_back("The actions are neither an object nor a list: there are none.");
    }
    return parsed;
}

}  // namespace actions
}  // namespace v1
}  // namespace smdebug
