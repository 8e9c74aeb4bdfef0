// One collections file: the named groups of tensors that a job was configured with, and how many workers it has.
// Source: decisions.md D17, N1, N3.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/json_document.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/index/collection.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace smdebug {
inline namespace v1 {

namespace detail {

/// Reads a collections file piece by piece; the first thing that is wrong ends it with a sentence.
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

    // Norms stand in configs as "l1_norm", "l2_norm"; the plain names are accepted, too.
    [[nodiscard]] static bool is_reduction(std::string_view name) noexcept;

    bool read_save_config(const std::optional<json::value>& object, collection& group);

    bool read_save_config_mode(json::value object, save_config_mode& out);

    bool read_step(const std::optional<json::value>& number, std::string_view key, std::optional<step_number>& out);

    std::string what_;
    std::string where_;
};

}  // namespace detail

/// Parses a collections file into `out`.  Returns what is wrong with it, as a sentence without the file's name.
[[nodiscard]] std::optional<std::string> parse_collections_file(byte_view bytes, detail::json::document& parser,
                                                                detail::collections_file& out);

}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/index/impl/collections_file.ipp>
#endif
