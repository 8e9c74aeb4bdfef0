// The values of one section of a JSON file, each of the type that is wanted, or an error that names file and key.
// Values may be texts where numbers or truths are wanted, as SageMaker writes them, and whatever else Python's int()
// and the Python package take for a number or a truth without a loss.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/json_document.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// A JSON object in a file, or in its place null or nothing, which hold no values.  A value that is null is not there.
/// Whatever has the wrong type is a value_error that names file, section and key.
/// Borrows: the document, and the file's name.
class json_section {
public:
    /// `name` is where it stands in the file: "HookParameters"; empty for the whole.
    /// Errors: value_error unless `object` is an object without repeated keys, null or nothing.
    json_section(const std::string& file, std::string name, std::optional<json::value> object);

    /// The value of a key, unless it is missing or null.
    [[nodiscard]] std::optional<json::value> find(std::string_view key) const;

    /// The section under a key.
    [[nodiscard]] json_section section(std::string_view key) const { return {file_, path_of(key), find(key)}; }

    /// A text.
    [[nodiscard]] std::optional<std::string> text(std::string_view key) const;

    /// A whole number: 3, 3.0, "3", "+3"; true is 1, false 0.
    [[nodiscard]] std::optional<std::int64_t> number(std::string_view key) const;

    /// true or false, or a text that says so, or 1 or 0.
    [[nodiscard]] std::optional<bool> truth(std::string_view key) const;

    /// The pieces of a text between commas, without blanks around them; or the texts of a list.
    [[nodiscard]] std::optional<std::vector<std::string>> texts(std::string_view key) const {
        return text_list(key, empty_pieces::skip);
    }
    /// The same with the pieces that are empty: one of "", two of "a,".
    [[nodiscard]] std::optional<std::vector<std::string>> all_texts(std::string_view key) const {
        return text_list(key, empty_pieces::keep);
    }

    /// As texts() for whole numbers; also one number alone.
    [[nodiscard]] std::optional<std::vector<std::int64_t>> numbers(std::string_view key) const;

    /// Calls visit(section) for each object of a list.
    template <class Visit>
    void for_each_section(std::string_view key, Visit&& visit) const {
        std::size_t place = 0;
        const auto elements = find(key);
        if (elements && !elements->for_each_element([&](json::value item) {
                visit(json_section{file_, path_of(key) + "[" + std::to_string(place++) + "]", item});
                return true;
            })) {
            refuse(key, "is no list");
        }
    }

    /// A sentence for each key that is not `known`.  Errors: value_error where one looks like a known key misspelt.
    [[nodiscard]] std::vector<std::string> unknown_keys(std::span<const std::string> known) const;

    /// Throws the value_error: "<file>: <section>.<key> <why>".
    [[noreturn]] void refuse(std::string_view key, const std::string& why) const {
        throw value_error(file_ + ": " + path_of(key) + " " + why, {.where = file_});
    }

private:
    enum class empty_pieces : std::uint8_t { skip, keep };

    [[nodiscard]] std::string path_of(std::string_view key) const {
        return (name_.empty() ? "" : name_ + ".") + std::string{key};
    }

    [[nodiscard]] static std::string_view trimmed(std::string_view text) noexcept;

    [[nodiscard]] std::int64_t whole(std::string_view key, std::string_view text) const;
    [[nodiscard]] std::int64_t whole(std::string_view key, json::value value) const;

    [[nodiscard]] std::optional<std::vector<std::string>> text_list(std::string_view key, empty_pieces empty) const;

    template <class Item, class FromPiece, class FromValue>
    [[nodiscard]] std::optional<std::vector<Item>> list(std::string_view key, empty_pieces empty,
                                                        const FromPiece& from_piece,
                                                        const FromValue& from_value) const {
        const auto value = find(key);
        if (!value) {
            return std::nullopt;
        }
        std::vector<Item> items;
        if (const auto text = value->string()) {
            for (std::size_t begin = 0; begin <= text->size();) {
                const std::size_t end = std::min(text->find(',', begin), text->size());
                const std::string_view piece = trimmed(text->substr(begin, end - begin));
                if (empty == empty_pieces::keep || !piece.empty()) {
                    items.push_back(from_piece(piece));
                }
                begin = end + 1;
            }
        } else if (value->is_number() || value->boolean()) {  // one alone
            items.push_back(from_value(*value));
        } else if (!value->for_each_element([&](json::value item) {
                       items.push_back(from_value(item));
                       return true;
                   })) {
            refuse(key, "is neither a text nor a list");
        }
        return items;
    }

    const std::string& file_;
    std::string name_;
    std::optional<json::value> object_;
};

}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/hook/impl/json_section.ipp>
#endif
