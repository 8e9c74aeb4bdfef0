// One collections file: a job's named groups of tensors, and the number of its workers.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/json_document.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/index/collection.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace smdebug::inline v1 {
namespace detail {

/// Reads a collections file piece by piece; stops at the first error with a sentence.
class collections_parser {
public:
    [[nodiscard]] bool read(json::value root, collections_file& out);

    [[nodiscard]] const std::string& what() const noexcept { return what_; }

private:
    bool wrong(std::string what);

    bool read_meta(const std::optional<json::value>& meta, collections_file& out);

    bool read_groups(const std::optional<json::value>& groups, collections_file& out);

    bool read_group(json::value object, collection& group);

    bool read_texts(const std::optional<json::value>& list, std::string_view key, std::vector<std::string>& out);

    bool read_flag(json::value object, std::string_view key, bool& out);

    bool read_reduction_config(const std::optional<json::value>& object, collection& group);

    // Configs name norms "l1_norm", "l2_norm"; the plain names are accepted, too.
    [[nodiscard]] static bool is_reduction(std::string_view name) noexcept;

    bool read_save_config(const std::optional<json::value>& object, collection& group);

    bool read_save_config_mode(json::value object, save_config_mode& out);

    bool read_step(const std::optional<json::value>& number, std::string_view key, std::optional<step_number>& out);

    std::string what_;
    std::string where_;
};

}  // namespace detail

/// Parses a collections file into `out`.  Returns the error as a sentence without the file's name, or nothing.
[[nodiscard]] std::optional<std::string> parse_collections_file(byte_view bytes, detail::json::document& parser,
                                                                detail::collections_file& out);

/// The names in a reduction_config as a file has them, in the package's order: `reductions` unchanged, then "l1_norm",
/// then "abs_max", then "abs_l1_norm".
[[nodiscard]] std::vector<std::string> file_names(const reduction_config& config);

namespace detail {

/// Writes a collections file piece by piece.
class collections_text_writer {
public:
    void add(std::string_view name, const collection& group);

    [[nodiscard]] const std::string& text() const noexcept { return text_; }

private:
    [[nodiscard]] static std::string_view truth(bool value) noexcept { return value ? "true" : "false"; }

    template <class Item, class AddItem>
    void add_list(const std::vector<Item>& list, const AddItem& add_item) {
        text_ += '[';
        for (std::size_t i = 0; i < list.size(); ++i) {
            text_ += i == 0 ? "" : ", ";
            add_item(list[i]);
        }
        text_ += ']';
    }

    void add_config(const std::optional<reduction_config>& config);

    void add_config(const std::optional<std::map<mode, save_config_mode>>& config);

    std::string text_;
};

}  // namespace detail

/// The whole file.  A collection's key in the map is its name.  Strings are UTF-8 (see append_json_ascii).
[[nodiscard]] std::string collections_text(const detail::collections_file& file);

}  // namespace smdebug::inline v1

#ifndef SMDEBUG_COMPILED
#include <smdebug/index/impl/collections_file.ipp>
#endif
