// The bodies of <smdebug/index/collections_writer.hpp>.
#pragma once

#include <smdebug/core/json_text.hpp>
#include <smdebug/index/collections_writer.hpp>

namespace smdebug {
inline namespace v1 {

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

SMDEBUG_INLINE void collections_text_writer::add(std::string_view name, const collection& group) {
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

SMDEBUG_INLINE void collections_text_writer::add_config(const std::optional<reduction_config>& config) {
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

SMDEBUG_INLINE void collections_text_writer::add_config(const std::optional<std::map<mode, save_config_mode>>& config) {
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

}  // namespace v1
}  // namespace smdebug
