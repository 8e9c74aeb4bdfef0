// Rules from a JSON file: [{"rule": NAME, "parameters": {KEY: VALUE, ...}}, ...].
// Used by: cli/arguments.hpp.
#pragma once

#include <smdebug/cli/console.hpp>
#include <smdebug/cli/rule_set.hpp>
#include <smdebug/core/bytes.hpp>
#include <smdebug/core/json_document.hpp>
#include <smdebug/core/json_text.hpp>

#include <fstream>
#include <ios>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace cli {

namespace detail {

/// A string, number or boolean as the text that a rule would be given; nothing for anything else.
[[nodiscard]] inline std::optional<std::string> scalar_text(const json::value& value) {
    if (const auto text = value.string()) {
        return std::string{*text};
    }
    if (const auto truth = value.boolean()) {
        return *truth ? "True" : "False";
    }
    const auto number = value.number();
    return number ? std::optional{double_text(*number)} : std::nullopt;
}

[[nodiscard]] inline parameter_text parameter_of(std::string_view key, const json::value& value) {
    parameter_text parameter{.key = std::string{key}};
    if (value.is_array()) {
        bool texts = value.for_each_element([&](const json::value& item) {
            const auto text = item.string();
            parameter.items.emplace_back(text.value_or(""));
            return text.has_value();
        });
        if (!texts) {
            throw usage_error("parameter " + parameter.key + " is a list with an item that is no string");
        }
        parameter.text = "[" + joined(parameter.items, ", ") + "]";
        return parameter;
    }
    const auto text = scalar_text(value);
    if (!text) {
        throw usage_error("parameter " + parameter.key +
                          " must be a string, a number, true, false or a list of strings");
    }
    parameter.text = *text;
    parameter.items = split(*text, ',');  // SageMaker's form of a list
    return parameter;
}

[[nodiscard]] inline built_in_rule rule_of(const json::value& item) {
    std::optional<std::string> name;
    std::vector<parameter_text> parameters;
    const bool known = item.for_each_field([&](std::string_view field, const json::value& value) {
        if (field == "rule" && value.is_string()) {
            name = std::string{*value.string()};
            return true;
        }
        return field == "parameters" && value.for_each_field([&](std::string_view key, const json::value& held) {
            parameters.push_back(parameter_of(key, held));
            return true;
        });
    });
    if (!known || !name) {
        throw usage_error(R"(each item must be {"rule": NAME, "parameters": {KEY: VALUE, ...}})");
    }
    return make_rule(*name, parameters);
}

}  // namespace detail

/// The rules in a JSON text; `source` is for messages.  A list parameter is a JSON list, or a string with commas.
/// Errors: usage_error.
[[nodiscard]] inline std::vector<built_in_rule> parse_rules_json(std::string_view text, const std::string& source) {
    json::document document;
    const auto root = document.parse(as_bytes(text));
    if (!root || !root->is_array()) {
        throw usage_error("--rules-json " + source + R"(: not a JSON list of {"rule": ..., "parameters": {...}})");
    }
    std::vector<built_in_rule> rules;
    root->for_each_element([&](const json::value& item) {
        try {
            rules.push_back(detail::rule_of(item));
        } catch (const usage_error& wrong) {
            throw usage_error("--rules-json " + source + ", rule " + std::to_string(rules.size() + 1) + ": " +
                              wrong.what());
        }
        return true;
    });
    return rules;
}

/// The same from a file.
[[nodiscard]] inline std::vector<built_in_rule> read_rules_json(const std::string& path) {
    std::ifstream file{path, std::ios::binary};
    std::string text;
    bool good = file.is_open();
    try {
        text.assign(std::istreambuf_iterator<char>{file}, {});
    } catch (const std::ios_base::failure&) {  // a folder, for one, opens but does not read
        good = false;
    }
    if (!good) {
        throw usage_error("--rules-json: the file " + path + " cannot be read");
    }
    return parse_rules_json(text, path);
}

}  // namespace cli
}  // namespace v1
}  // namespace smdebug
