// Hook options from the JSON file with which SageMaker, or another launcher, configures the hook.
// Values may be strings ("save_interval": "100"), as SageMaker writes them, or of their own types.
// Source: the file as the Python package's documentation describes it, and how the package reads it.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/json_document.hpp>
#include <smdebug/core/printable_text.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/hook/hook_options.hpp>
#include <smdebug/index/collection.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace smdebug::inline v1 {
namespace detail {

/// Typed access to a JSON object in a file; null or a missing object has no values.  A null value counts as missing.
/// A value of the wrong type is a value_error that names file, section and key.  Numbers and booleans may also be
/// strings, as SageMaker writes them.
/// Borrows: the document, and the file's name.
class json_section {
public:
    /// `name` is the section's path: "HookParameters"; empty for the whole.
    /// Errors: value_error unless `object` is an object without repeated keys, null or missing.
    json_section(const std::string& file, std::string name, std::optional<json::value> object);

    /// The value of a key, unless it is missing or null.
    [[nodiscard]] std::optional<json::value> find(std::string_view key) const;

    /// The section under a key.
    [[nodiscard]] json_section section(std::string_view key) const { return {file_, path_of(key), find(key)}; }

    /// A string.
    [[nodiscard]] std::optional<std::string> text(std::string_view key) const;

    /// A whole number: 3, 3.0, "3", "+3"; true is 1, false 0.
    [[nodiscard]] std::optional<std::int64_t> number(std::string_view key) const;

    /// true or false, "true" or "false", or 1 or 0.
    [[nodiscard]] std::optional<bool> truth(std::string_view key) const;

    /// The parts of a comma-separated string, without surrounding blanks; or the strings of a list.
    [[nodiscard]] std::optional<std::vector<std::string>> texts(std::string_view key) const {
        return text_list(key, empty_pieces::skip);
    }
    /// The parts of a comma-separated string, with the empty ones: "" has one, "a," has two.
    [[nodiscard]] std::optional<std::vector<std::string>> all_texts(std::string_view key) const {
        return text_list(key, empty_pieces::keep);
    }

    /// As texts(), for whole numbers; a single number is accepted, too.
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
            refuse(key, "is not a list");
        }
    }

    /// A sentence for each key that is not `known`.  Errors: value_error if it resembles a known key.
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
        } else if (value->is_number() || value->boolean()) {  // a single number
            items.push_back(from_value(*value));
        } else if (!value->for_each_element([&](json::value item) {
                       items.push_back(from_value(item));
                       return true;
                   })) {
            refuse(key, "is neither a string nor a list");
        }
        return items;
    }

    const std::string& file_;
    std::string name_;
    std::optional<json::value> object_;
};

}  // namespace detail

/// Default places of the file and of a run.
inline constexpr const char* hook_json_variable = "SMDEBUG_CONFIG_FILE_PATH";
inline constexpr const char* default_hook_json = "/opt/ml/input/config/debughookconfig.json";
inline constexpr const char* default_out_dir = "/opt/ml/output/tensors";

/// The options in a configuration file: LocalPath, HookParameters and CollectionConfigurations.  A section or value
/// that is null counts as missing.  An unknown key has no effect, as in the package, but is listed in
/// hook_options::notes; an unknown key that resembles a known one is an error.  Keys for the service (S3OutputPath,
/// RuleConfigurations) are ignored.
///  - HookParameters and CollectionParameters: save_interval, save_steps, start_step, end_step, each also for one mode
///    ("train.save_interval"); reductions, save_raw_tensor, save_shape; include_regex.
///  - HookParameters alone: save_all, include_workers, export_tensorboard, tensorboard_dir; digests, which is not the
///    package's: collections whose tensors are saved as digests, too.
///  - CollectionParameters alone: save_histogram.  HookParameters are the defaults of CollectionParameters.
/// As in the package:
///  - Configured collections are included; an include_regex is added to the built-in regexes of the name, while
///    hook_options::collections replaces them.
///  - save_raw_tensor and save_shape have an effect only with reductions, which may be "" for none.  Without reductions
///    a collection saves what the hook saves, and the hook saves values.
///  - Lists are strings with commas ("1,2,3"), or lists; a regex that contains a comma needs a list.  In lists of
///    regexes an empty item ("relu,") is a regex that matches every name; in others it is skipped.
/// Errors: value_error that names `where`, the key, the value and the probable meaning of a misspelt key;
///         invalid_collection_configuration for a collection unknown to the package and without include_regex, to
///         which no tensor can belong.
[[nodiscard]] hook_options hook_options_from_json(byte_view text, std::string_view where);

/// The options in the file `path`; without one, in the file that the environment variable SMDEBUG_CONFIG_FILE_PATH
/// names; without that, in /opt/ml/input/config/debughookconfig.json.
/// Errors: not_found, access_denied, unavailable; value_error as hook_options_from_json.
[[nodiscard]] hook_options hook_options_from_json_file(const std::optional<std::string>& path = {});

namespace detail {

/// The prefix of a mode's own keys.
[[nodiscard]] constexpr std::string_view key_prefix(mode which) noexcept {
    constexpr std::array<std::string_view, all_modes.size()> prefixes{"train.", "eval.", "predict.", "global."};
    return prefixes[place_of(which)];
}

/// What to save; nothing if the section has no reductions, whatever else it has.
[[nodiscard]] std::optional<reduction_config> read_what(const json_section& from);

}  // namespace detail

}  // namespace smdebug::inline v1

#ifndef SMDEBUG_COMPILED
#include <smdebug/hook/impl/hook_json.ipp>
#endif
