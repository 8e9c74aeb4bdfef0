// The text of a collections file, as the Python package writes it.
// Apart from collections_file.hpp, which reads it, so that a writer needs no JSON parser.
// Used by: hook.
#pragma once

#include <smdebug/core/json_text.hpp>
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
[[nodiscard]] inline std::vector<std::string> file_names(const reduction_config& config) {
    std::vector<std::string> names = config.reductions;
    for (const std::string& norm : config.norms) {
        names.push_back(norm + "_norm");
    }
    for (const std::string& plain : config.abs_reductions) {
        names.push_back("abs_" + plain);
    }
    for (const std::string& norm : config.abs_norms) {
        names.push_back("abs_" + norm + "_norm");
    }
    return names;
}

namespace detail {

/// Writes a collections file piece by piece.
class collections_text_writer {
public:
    void add(std::string_view name, const collection& group) {
        text_ += text_.empty() ? "" : ", ";
        append_json_ascii(text_, name);
        text_ += R"(: {"name": )";
        append_json_ascii(text_, name);
        text_ += R"(, "include_regex": )";
        add_list(group.include_regex, [&](const std::string& pattern) { append_json_ascii(text_, pattern); });
        text_ += R"(, "tensor_names": )";
        add_list(group.tensor_names, [&](const std::string& tensor) { append_json_ascii(text_, tensor); });
        text_ += R"(, "reduction_config": )";
        add_config(group.reduction_config);
        text_ += R"(, "save_config": )";
        add_config(group.save_config);
        text_ += R"(, "save_histogram": )";
        text_ += truth(group.save_histogram);
        text_ += '}';
    }

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

    void add_config(const std::optional<reduction_config>& config) {
        if (!config) {
            text_ += "null";
            return;
        }
        std::string joined;
        for (const std::string& name : file_names(*config)) {
            joined += joined.empty() ? "" : ",";
            joined += name;
        }
        text_ += R"({"save_raw_tensor": )";
        text_ += truth(config->save_raw_tensor);
        text_ += R"(, "reductions": )";
        append_json_ascii(text_, joined);
        text_ += R"(, "save_shape": )";
        text_ += truth(config->save_shape);
        text_ += '}';
    }

    void add_config(const std::optional<std::map<mode, save_config_mode>>& config) {
        if (!config) {
            text_ += "null";
            return;
        }
        text_ += '{';
        std::string_view between;
        for (const auto& [which, when] : *config) {
            text_ += between;
            between = ", ";
            append_json_ascii(text_, name_of(which));
            text_ += R"(: {"save_interval": )";
            append_json_integer(text_, when.save_interval);
            text_ += R"(, "save_steps": )";
            add_list(when.save_steps, [&](step_number step) { append_json_integer(text_, step); });
            text_ += R"(, "start_step": )";
            append_json_integer(text_, when.start_step.value_or(0));
            text_ += R"(, "end_step": )";
            if (when.end_step) {
                append_json_integer(text_, *when.end_step);
            } else {
                text_ += "null";
            }
            text_ += '}';
        }
        text_ += '}';
    }

    std::string text_;
};

}  // namespace detail

/// The whole file.  A collection stands under its name in the map.  Texts are UTF-8 (see append_json_ascii).
[[nodiscard]] inline std::string collections_text(const collections_file& file) {
    detail::collections_text_writer writer;
    for (const auto& [name, group] : file.collections) {
        writer.add(name, group);
    }
    std::string text = R"({"collections": {)" + writer.text() + R"(}, "_meta": {"num_workers": )";
    append_json_integer(text, file.num_workers);
    return text += "}}";
}

}  // namespace v1
}  // namespace smdebug
