// The bodies of <smdebug/index/collections_file.hpp>.
#pragma once

#include <smdebug/core/json_text.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/index/collections_file.hpp>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <string_view>
#include <utility>

namespace smdebug::inline v1 {
namespace detail {

/// Reads a collections file piece by piece; stops at the first error with a sentence.
class collections_parser {
public:
    [[nodiscard]] bool read(json::value root, collections_file& out) {
        if (!root.is_object()) {
            return wrong("the file holds no JSON object");
        }
        std::optional<json::value> meta;
        std::optional<json::value> groups;
        const bool well_formed = root.for_each_field([&](std::string_view key, json::value section) {
            if (key == "_meta") {
                meta = section;
            } else if (key == "collections") {
                groups = section;
            } else {
                return wrong("unknown key \"" + std::string{key} + "\"");
            }
            return true;
        });
        return well_formed && read_meta(meta, out) && read_groups(groups, out);
    }

    [[nodiscard]] const std::string& what() const noexcept { return what_; }

private:
    bool wrong(std::string what) {
        what_ = std::move(what);
        return false;
    }

    bool read_meta(const std::optional<json::value>& meta, collections_file& out) {
        if (!meta || !meta->is_object()) {
            return wrong("the _meta section is missing");
        }
        if (const auto workers = (*meta)["num_workers"]) {
            const auto number = workers->integer();
            if (!number || *number < 1) {
                return wrong("_meta.num_workers is not a positive whole number");
            }
            out.num_workers = *number;
        }
        return true;
    }

    bool read_groups(const std::optional<json::value>& groups, collections_file& out) {
        if (!groups || !groups->is_object()) {
            return wrong("the collections section is missing");
        }
        return groups->for_each_field([&](std::string_view key, json::value entry) {
            collection group;
            group.name = key;
            where_ = "collection \"" + std::string{key} + "\": ";
            if (!read_group(entry, group)) {
                return false;
            }
            // Its own name counts, and the last of that name: as the Python package files them.
            std::string name = group.name;
            out.collections.insert_or_assign(std::move(name), std::move(group));
            return true;
        });
    }

    bool read_group(json::value object, collection& group) {
        if (!object.is_object()) {
            return wrong(where_ + "no object");
        }
        if (const auto name = object["name"]; name && !name->is_null()) {
            const auto text = name->string();
            if (!text) {
                return wrong(where_ + "name is not a string");
            }
            group.name = *text;
        }
        if (const auto truth = object["save_histogram"];
            truth && !truth->is_null() && !read_flag(object, "save_histogram", group.save_histogram)) {
            return false;
        }
        if (!read_texts(object["include_regex"], "include_regex", group.include_regex) ||
            !read_texts(object["tensor_names"], "tensor_names", group.tensor_names)) {
            return false;
        }
        std::sort(group.tensor_names.begin(), group.tensor_names.end());
        group.tensor_names.erase(std::unique(group.tensor_names.begin(), group.tensor_names.end()),
                                 group.tensor_names.end());
        return read_reduction_config(object["reduction_config"], group) &&
               read_save_config(object["save_config"], group);
    }

    bool read_texts(const std::optional<json::value>& list, std::string_view key, std::vector<std::string>& out) {
        if (!list || list->is_null() || list->boolean() == false) {  // the package writes false for "no regex"
            return true;
        }
        return list->for_each_element([&](json::value item) {
            const auto text = item.string();
            out.emplace_back(text.value_or(std::string_view{}));
            return text.has_value();
        }) || wrong(where_ + std::string{key} + " is not a list of strings");
    }

    bool read_flag(json::value object, std::string_view key, bool& out) {
        const auto flag = object[key];
        if (flag && !flag->boolean()) {
            return wrong(where_ + std::string{key} + " is neither true nor false");
        }
        out = flag ? *flag->boolean() : out;
        return true;
    }

    bool read_reduction_config(const std::optional<json::value>& object, collection& group) {
        if (!object || object->is_null()) {
            return true;
        }
        smdebug::reduction_config config;
        if (!object->is_object()) {
            return wrong(where_ + "reduction_config is not an object");
        }
        if (const auto list = (*object)["reductions"]; list && !list->is_null()) {
            if (const auto text = list->string()) {
                for (std::size_t begin = 0; begin < text->size();) {
                    const std::size_t end = std::min(text->find(',', begin), text->size());
                    config.reductions.emplace_back(text->substr(begin, end - begin));
                    begin = end + 1;
                }
            } else if (!read_texts(list, "reductions", config.reductions)) {
                return false;
            }
        }
        for (const std::string& name : config.reductions) {
            if (!is_reduction(name)) {
                return wrong(where_ + "\"" + name + "\" is not a reduction");
            }
        }
        if (!read_flag(*object, "save_raw_tensor", config.save_raw_tensor) ||
            !read_flag(*object, "save_shape", config.save_shape)) {
            return false;
        }
        group.reduction_config = std::move(config);
        return true;
    }

    // Configs name norms "l1_norm", "l2_norm"; the plain names are accepted, too.
    [[nodiscard]] static bool is_reduction(std::string_view name) noexcept {
        name.remove_prefix(name.starts_with("abs_") ? 4 : 0);
        constexpr std::string_view valid[] = {"min",  "max",     "mean",    "std", "variance", "sum",
                                              "prod", "l1_norm", "l2_norm", "l1",  "l2"};
        return std::find(std::begin(valid), std::end(valid), name) != std::end(valid);
    }

    bool read_save_config(const std::optional<json::value>& object, collection& group) {
        if (!object || object->is_null()) {
            return true;
        }
        group.save_config.emplace();
        if (!object->is_object()) {
            return wrong(where_ + "save_config is not an object");
        }
        return object->for_each_field([&](std::string_view key, json::value modes) {
            const auto which = mode_named(key);
            if (!which || !modes.is_object()) {
                return wrong(where_ + "save_config names \"" + std::string{key} +
                             "\", which is not a mode with a config");
            }
            return read_save_config_mode(modes, (*group.save_config)[*which]);
        });
    }

    bool read_save_config_mode(json::value object, save_config_mode& out) {
        if (const auto interval = object["save_interval"]) {
            if (!interval->integer()) {
                return wrong(where_ + "save_interval is not a whole number");
            }
            out.save_interval = *interval->integer();
        }
        if (const auto steps = object["save_steps"]; steps && !steps->is_null()) {
            if (!steps->for_each_element([&](json::value item) {
                    out.save_steps.push_back(item.integer().value_or(0));
                    return item.integer().has_value();
                })) {
                return wrong(where_ + "save_steps is not a list of whole numbers");
            }
        }
        return read_step(object["start_step"], "start_step", out.start_step) &&
               read_step(object["end_step"], "end_step", out.end_step);
    }

    bool read_step(const std::optional<json::value>& number, std::string_view key, std::optional<step_number>& out) {
        if (!number || number->is_null()) {
            return true;
        }
        out = number->integer();
        return out.has_value() || wrong(where_ + std::string{key} + " is not a whole number");
    }

    std::string what_;
    std::string where_;
};

}  // namespace detail

SMDEBUG_INLINE std::optional<std::string> parse_collections_file(byte_view bytes, detail::json::document& parser,
                                                                 detail::collections_file& out) {
    const auto root = parser.parse(bytes);
    if (!root) {
        return bytes.empty() ? "the file is empty" : "the file is not JSON, or is cut off";
    }
    detail::collections_parser reader;
    return reader.read(*root, out) ? std::nullopt : std::optional{reader.what()};
}

SMDEBUG_INLINE std::vector<std::string> file_names(const reduction_config& config) {
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

SMDEBUG_INLINE std::string collections_text(const detail::collections_file& file) {
    detail::collections_text_writer writer;
    for (const auto& [name, group] : file.collections) {
        writer.add(name, group);
    }
    std::string text = R"({"collections": {)" + writer.text() + R"(}, "_meta": {"num_workers": )";
    append_json_integer(text, file.num_workers);
    return text += "}}";
}

}  // namespace smdebug::inline v1
