// Reading the questions: typed looks into the EXPECTED file that say what is wrong with it where something is.
#pragma once

#include "json_out.hpp"
#include "number_text.hpp"

#include <smdebug/core/json_document.hpp>
#include <smdebug/core/step.hpp>

#include "support/standard.hpp"

namespace golden_replay {

namespace json = smdebug::detail::json;

/// The EXPECTED file does not ask as the README says.
class bad_question : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// A question as it was asked: args, steps, names go back into the answer, so that the two can be compared.
[[nodiscard]] inline fragment echo(json::value asked) {
    if (const auto text = asked.string()) {
        return in_quotes(*text);
    }
    if (const auto number = asked.integer()) {
        return whole(*number);
    }
    if (const auto number = asked.unsigned_integer()) {
        return whole(*number);
    }
    if (const auto number = asked.number()) {
        return element_json(*number);
    }
    if (const auto flag = asked.boolean()) {
        return truth(*flag);
    }
    if (asked.is_object()) {
        object out;
        asked.for_each_field([&](std::string_view key, json::value held) {
            out.add(key, echo(held));
            return true;
        });
        return out.done();
    }
    if (asked.is_array()) {
        std::vector<json::value> items;
        asked.for_each_element([&](json::value item) {
            items.push_back(item);
            return true;
        });
        return list_of(items, echo);
    }
    return null();
}

[[noreturn]] inline void wrong(const std::string& what, json::value seen) {
    throw bad_question(what + ", not " + echo(seen).json().substr(0, 200));
}

/// A field, if it is there and not null.
[[nodiscard]] inline std::optional<json::value> look(json::value in, std::string_view key) {
    const auto held = in[key];
    return held && !held->is_null() ? held : std::nullopt;
}
[[nodiscard]] inline json::value need(json::value in, std::string_view key) {
    const auto held = look(in, key);
    if (!held) {
        wrong("expected an object with \"" + std::string{key} + '"', in);
    }
    return *held;
}

template <class T>
[[nodiscard]] T must(std::optional<T> held, const char* what, json::value seen) {
    if (!held) {
        wrong(std::string{"expected "} + what, seen);
    }
    return *held;
}
[[nodiscard]] inline std::string text_of(json::value asked) {
    return std::string{must(asked.string(), "a text", asked)};
}
[[nodiscard]] inline std::int64_t whole_of(json::value asked) { return must(asked.integer(), "a whole number", asked); }
[[nodiscard]] inline double number_of(json::value asked) { return must(asked.number(), "a number", asked); }
[[nodiscard]] inline bool truth_of(json::value asked) { return must(asked.boolean(), "true or false", asked); }
[[nodiscard]] inline smdebug::mode mode_of(json::value asked) {
    return must(smdebug::mode_named(text_of(asked)), "a mode", asked);
}

[[nodiscard]] inline std::vector<json::value> items_of(json::value asked) {
    std::vector<json::value> items;
    if (!asked.is_array()) {
        wrong("expected a list", asked);
    }
    asked.for_each_element([&](json::value item) {
        items.push_back(item);
        return true;
    });
    return items;
}
/// The items of a list of objects: of questions.
[[nodiscard]] inline std::vector<json::value> questions_of(json::value asked) {
    auto items = items_of(asked);
    for (const json::value item : items) {
        if (!item.is_object()) {
            wrong("expected a question, which is an object", item);
        }
    }
    return items;
}
/// The items of a list that may be missing.
[[nodiscard]] inline std::vector<json::value> items_in(json::value asked, std::string_view key) {
    const auto held = look(asked, key);
    return held ? items_of(*held) : std::vector<json::value>{};
}
[[nodiscard]] inline std::vector<std::pair<std::string, json::value>> fields_of(json::value asked) {
    std::vector<std::pair<std::string, json::value>> fields;
    if (!asked.is_object()) {
        wrong("expected an object", asked);
    }
    asked.for_each_field([&](std::string_view key, json::value held) {
        fields.emplace_back(key, held);
        return true;
    });
    return fields;
}

/// A text, or the texts of a list; a list in a list counts as flat.
[[nodiscard]] inline std::vector<std::string> texts_of(json::value asked) {
    if (!asked.is_array()) {
        return {text_of(asked)};
    }
    std::vector<std::string> texts;
    for (const json::value item : items_of(asked)) {
        for (std::string& text : texts_of(item)) {
            texts.push_back(std::move(text));
        }
    }
    return texts;
}
[[nodiscard]] inline std::vector<smdebug::step_number> steps_of(json::value asked) {
    std::vector<smdebug::step_number> steps;
    for (const json::value item : items_of(asked)) {
        steps.push_back(whole_of(item));
    }
    return steps;
}

}  // namespace golden_replay
