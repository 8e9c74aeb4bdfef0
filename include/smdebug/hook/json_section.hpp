// The values of one section of a JSON file, each of the type that is wanted, or an error that names file and key.
// Values may be texts where numbers or truths are wanted, as SageMaker writes them, and whatever else Python's int()
// and the Python package take for a number or a truth without a loss. Used by: hook/hook_json.hpp.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/core/json_document.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {

/// A JSON object in a file, or in its place null or nothing, which hold no values.  A value that is null is not there.
/// Whatever has the wrong type is a value_error that names file, section and key.
/// Borrows: the document, and the file's name.
class json_section {
public:
    /// `name` is where it stands in the file: "HookParameters"; empty for the whole.
    /// Errors: value_error unless `held` is an object, null or nothing.
    json_section(const std::string& file, std::string name, std::optional<json::value> held)
        : file_(file), name_(std::move(name)) {
        if (held && !held->is_null()) {
            if (!held->is_object()) {
                throw value_error(file_ + ": " + name_ + " is no JSON object", {.where = file_});
            }
            held_ = held;
        }
    }

    /// The value of a key, unless it is missing or null.
    [[nodiscard]] std::optional<json::value> find(std::string_view key) const {
        const auto value = held_ ? (*held_)[key] : std::nullopt;
        return value && !value->is_null() ? value : std::nullopt;
    }

    /// The section under a key.
    [[nodiscard]] json_section section(std::string_view key) const { return {file_, path_of(key), find(key)}; }

    /// A text.
    [[nodiscard]] std::optional<std::string> text(std::string_view key) const {
        const auto value = find(key);
        if (value && !value->is_string()) {
            refuse(key, "is no text");
        }
        return value ? std::optional{std::string{*value->string()}} : std::nullopt;
    }

    /// A whole number: 3, 3.0, "3", "+3"; true is 1, false 0.
    [[nodiscard]] std::optional<std::int64_t> number(std::string_view key) const {
        const auto value = find(key);
        return value ? std::optional{whole(key, *value)} : std::nullopt;
    }

    /// true or false, or a text that says so, or 1 or 0.
    [[nodiscard]] std::optional<bool> truth(std::string_view key) const {
        const auto value = find(key);
        if (!value) {
            return std::nullopt;
        }
        if (const auto truth = value->boolean()) {
            return truth;
        }
        const auto text = value->string();
        const auto number = value->number();
        if (text == "true" || text == "True" || number == 1.0) {
            return true;
        }
        if (text == "false" || text == "False" || number == 0.0) {
            return false;
        }
        refuse(key, "is neither true nor false");
    }

    /// The pieces of a text between commas, without blanks around them; or the texts of a list.
    [[nodiscard]] std::optional<std::vector<std::string>> texts(std::string_view key) const {
        return text_list(key, empty_pieces::skip);
    }
    /// The same with the pieces that are empty: one of "", two of "a,".
    [[nodiscard]] std::optional<std::vector<std::string>> all_texts(std::string_view key) const {
        return text_list(key, empty_pieces::keep);
    }

    /// As texts() for whole numbers; also one number alone.
    [[nodiscard]] std::optional<std::vector<std::int64_t>> numbers(std::string_view key) const {
        return list<std::int64_t>(
            key, empty_pieces::skip, [&](std::string_view piece) { return whole(key, piece); },
            [&](json::value item) { return whole(key, item); });
    }

    /// Calls visit(section) for each object of a list.
    template <class Visit>
    void for_each_section(std::string_view key, Visit&& visit) const {
        std::size_t place = 0;
        const auto held = find(key);
        if (held && !held->for_each_element([&](json::value item) {
                visit(json_section{file_, path_of(key) + "[" + std::to_string(place++) + "]", item});
                return true;
            })) {
            refuse(key, "is no list");
        }
    }

    /// Throws the value_error: "<file>: <section>.<key> <why>".
    [[noreturn]] void refuse(std::string_view key, const std::string& why) const {
        throw value_error(file_ + ": " + path_of(key) + " " + why, {.where = file_});
    }

private:
    enum class empty_pieces : std::uint8_t { skip, keep };

    [[nodiscard]] std::string path_of(std::string_view key) const {
        return (name_.empty() ? "" : name_ + ".") + std::string{key};
    }

    [[nodiscard]] static std::string_view trimmed(std::string_view text) noexcept {
        constexpr std::string_view blanks = " \t\r\n\v\f";
        text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
        return text.substr(0, text.find_last_not_of(blanks) + 1);
    }

    [[nodiscard]] std::int64_t whole(std::string_view key, std::string_view text) const {
        std::string_view digits = trimmed(text);
        if (digits.starts_with('+') && !digits.starts_with("+-")) {
            digits.remove_prefix(1);
        }
        std::int64_t number = 0;
        const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
        if (code != std::errc{} || end != digits.data() + digits.size()) {
            refuse(key, "holds \"" + std::string{text} + "\", which is no whole number");
        }
        return number;
    }
    [[nodiscard]] std::int64_t whole(std::string_view key, json::value held) const {
        if (const auto text = held.string()) {
            return whole(key, *text);
        }
        if (const auto truth = held.boolean()) {
            return *truth ? 1 : 0;
        }
        if (const auto number = held.integer()) {
            return *number;
        }
        constexpr double limit = 9223372036854775808.0;  // 2^63: the first that an int64 cannot hold
        const double number = held.number().value_or(limit);
        if (!(number >= -limit && number < limit) || std::trunc(number) != number) {
            refuse(key, "is no whole number");
        }
        return static_cast<std::int64_t>(number);
    }

    [[nodiscard]] std::optional<std::vector<std::string>> text_list(std::string_view key, empty_pieces empty) const {
        return list<std::string>(
            key, empty, [](std::string_view piece) { return std::string{piece}; },
            [&](json::value item) {
                if (!item.is_string()) {
                    refuse(key, "holds something that is no text");
                }
                return std::string{*item.string()};
            });
    }

    template <class Item, class FromPiece, class FromValue>
    [[nodiscard]] std::optional<std::vector<Item>> list(std::string_view key, empty_pieces empty,
                                                        const FromPiece& from_piece,
                                                        const FromValue& from_value) const {
        const auto held = find(key);
        if (!held) {
            return std::nullopt;
        }
        std::vector<Item> items;
        if (const auto text = held->string()) {
            for (std::size_t begin = 0; begin <= text->size();) {
                const std::size_t end = std::min(text->find(',', begin), text->size());
                const std::string_view piece = trimmed(text->substr(begin, end - begin));
                if (empty == empty_pieces::keep || !piece.empty()) {
                    items.push_back(from_piece(piece));
                }
                begin = end + 1;
            }
        } else if (held->is_number() || held->boolean()) {  // one alone
            items.push_back(from_value(*held));
        } else if (!held->for_each_element([&](json::value item) {
                       items.push_back(from_value(item));
                       return true;
                   })) {
            refuse(key, "is neither a text nor a list");
        }
        return items;
    }

    const std::string& file_;
    std::string name_;
    std::optional<json::value> held_;
};

}  // namespace v1
}  // namespace smdebug
