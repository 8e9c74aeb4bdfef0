// The text of a collections file, as the Python package writes it.
// Apart from collections_file.hpp, which reads it, so that a writer needs no JSON parser.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/index/collection.hpp>

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace smdebug {
inline namespace v1 {

/// The names in a reduction_config as a file has them, in the order in which the package lists them: `reductions` as
/// they are, then "l1_norm", then "abs_max", then "abs_l1_norm".
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

/// The whole file.  A collection stands under its name in the map.  Texts are UTF-8 (see append_json_ascii).
[[nodiscard]] std::string collections_text(const detail::collections_file& file);

}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/index/impl/collections_writer.ipp>
#endif
