// The bodies of <smdebug/hook/hook_json.hpp>.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/core/json_document.hpp>
#include <smdebug/core/printable_text.hpp>
#include <smdebug/core/text_number.hpp>
#include <smdebug/hook/hook_json.hpp>
#include <smdebug/hook/hook_options.hpp>
#include <smdebug/storage/posix/file.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <span>
#include <utility>
#include <vector>

namespace smdebug::inline v1 {
namespace detail {

SMDEBUG_INLINE json_section::json_section(const std::string& file, std::string name, std::optional<json::value> object)
    : file_(file), name_(std::move(name)) {
    if (object && !object->is_null()) {
        if (!object->is_object()) {
            throw value_error(file_ + ": " + name_ + " is not a JSON object", {.where = file_});
        }
        if (const auto twice = repeated_keys(*object)) {
            throw value_error(file_ + ": " + (name_.empty() ? "" : name_ + ": ") + *twice, {.where = file_});
        }
        object_ = object;
    }
}

SMDEBUG_INLINE std::optional<json::value> json_section::find(std::string_view key) const {
    const auto value = object_ ? (*object_)[key] : std::nullopt;
    return value && !value->is_null() ? value : std::nullopt;
}

SMDEBUG_INLINE std::optional<std::string> json_section::text(std::string_view key) const {
    const auto value = find(key);
    if (value && !value->is_string()) {
        refuse(key, "is not a string");
    }
    return value ? std::optional{std::string{*value->string()}} : std::nullopt;
}

SMDEBUG_INLINE std::optional<std::int64_t> json_section::number(std::string_view key) const {
    const auto value = find(key);
    return value ? std::optional{whole(key, *value)} : std::nullopt;
}

SMDEBUG_INLINE std::optional<bool> json_section::truth(std::string_view key) const {
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

SMDEBUG_INLINE std::optional<std::vector<std::int64_t>> json_section::numbers(std::string_view key) const {
    return list<std::int64_t>(
        key, empty_pieces::skip, [&](std::string_view piece) { return whole(key, piece); },
        [&](json::value item) { return whole(key, item); });
}

SMDEBUG_INLINE std::vector<std::string> json_section::unknown_keys(std::span<const std::string> known) const {
    std::vector<std::string> notes;
    if (object_) {
        object_->for_each_field([&](std::string_view key, json::value) {
            if (std::find(known.begin(), known.end(), key) == known.end()) {
                if (const std::string meant = did_you_mean(key, known, 3); !meant.empty()) {
                    refuse(key, "is not known." + meant);
                }
                notes.push_back(file_ + ": " + path_of(key) + " is not known, and has no effect");
            }
            return true;
        });
    }
    return notes;
}

SMDEBUG_INLINE std::int64_t json_section::whole(std::string_view key, std::string_view text) const {
    const auto number = number_of_text<std::int64_t>(without_plus(trimmed(text)));
    if (!number) {
        refuse(key, "holds \"" + std::string{text} + "\", which is not a whole number");
    }
    return *number;
}

SMDEBUG_INLINE std::int64_t json_section::whole(std::string_view key, json::value value) const {
    if (const auto text = value.string()) {
        return whole(key, *text);
    }
    if (const auto truth = value.boolean()) {
        return *truth ? 1 : 0;
    }
    if (const auto number = value.integer()) {
        return *number;
    }
    constexpr double limit = 9223372036854775808.0;  // 2^63: the first that an int64 cannot hold
    const double number = value.number().value_or(limit);
    if (!(number >= -limit && number < limit) || std::trunc(number) != number) {
        refuse(key, "is not a whole number");
    }
    return static_cast<std::int64_t>(number);
}

SMDEBUG_INLINE std::optional<std::vector<std::string>> json_section::text_list(std::string_view key,
                                                                               empty_pieces empty) const {
    return list<std::string>(
        key, empty, [](std::string_view piece) { return std::string{piece}; },
        [&](json::value item) {
            if (!item.is_string()) {
                refuse(key, "holds something that is not a string");
            }
            return std::string{*item.string()};
        });
}

/// The keys of HookParameters and CollectionParameters: `own`, the common ones, and those of single modes.
[[nodiscard]] SMDEBUG_INLINE std::vector<std::string> parameter_keys(std::vector<std::string> own) {
    own.insert(own.end(), {"reductions", "save_raw_tensor", "save_shape", "include_regex"});
    for (const std::string_view when : {"save_interval", "save_steps", "start_step", "end_step"}) {
        own.emplace_back(when);
        for (const mode which : all_modes) {
            own.push_back(std::string{key_prefix(which)}.append(when));
        }
    }
    return own;
}

/// Notes the keys of a section that are not `known`; refuses misspelt ones.
SMDEBUG_INLINE void note_unknown_keys(const json_section& from, std::span<const std::string> known, hook_options& out) {
    for (std::string& note : from.unknown_keys(known)) {
        out.notes.push_back(std::move(note));
    }
}

/// Notes the unknown parameters of a section; also refuses the names of smd::reduction_config other than "reductions".
SMDEBUG_INLINE void note_unknown_parameters(const json_section& from, std::vector<std::string> own, hook_options& out) {
    for (const std::string_view key : {"abs_reductions", "norms", "abs_norms"}) {
        if (from.find(key)) {
            from.refuse(key, "is not known: in JSON \"reductions\" has them all, as \"min,abs_max,l2,abs_l1\"");
        }
    }
    note_unknown_keys(from, parameter_keys(std::move(own)), out);
}

/// Overwrites the settings of when to save that a section has under keys with `prefix`.  Returns whether there are any.
SMDEBUG_INLINE bool read_when(const json_section& from, const std::string& prefix, save_config_mode& out) {
    const auto interval = from.number(prefix + "save_interval");
    auto steps = from.numbers(prefix + "save_steps");
    const auto start = from.number(prefix + "start_step");
    const auto end = from.number(prefix + "end_step");
    const bool says_something = interval || steps || start || end;
    out.save_interval = interval.value_or(out.save_interval);
    if (steps) {
        out.save_steps = std::move(*steps);
    }
    out.start_step = start ? start : out.start_step;
    out.end_step = end ? end : out.end_step;
    return says_something;
}

SMDEBUG_INLINE std::optional<reduction_config> read_what(const json_section& from) {
    reduction_config config{.save_raw_tensor = from.truth("save_raw_tensor").value_or(false),
                            .save_shape = from.truth("save_shape").value_or(false)};
    auto reductions = from.texts("reductions");
    if (!reductions) {
        return std::nullopt;
    }
    config.reductions = std::move(*reductions);
    return config;
}

SMDEBUG_INLINE void read_hook_parameters(const json_section& from, hook_options& out) {
    note_unknown_parameters(from, {"save_all", "digests", "include_workers", "export_tensorboard", "tensorboard_dir"},
                            out);
    save_config_mode all;
    read_when(from, "", all);
    out.save_config = {.save_interval = all.save_interval,
                       .save_steps = all.save_steps,
                       .start_step = all.start_step,
                       .end_step = all.end_step};
    for (const mode which : all_modes) {
        save_config_mode own = all;
        if (read_when(from, std::string{key_prefix(which)}, own)) {
            out.save_config.modes[which] = std::move(own);
        }
    }
    out.reduction_config = read_what(from);
    out.include_regex = from.all_texts("include_regex").value_or(std::vector<std::string>{});
    out.save_all = from.truth("save_all").value_or(false);
    out.digests = from.texts("digests").value_or(std::vector<std::string>{});
    out.export_tensorboard = from.truth("export_tensorboard").value_or(false);
    out.tensorboard_dir = from.text("tensorboard_dir").value_or("");
    if (const auto workers = from.text("include_workers")) {
        if (workers != "one" && workers != "all") {
            from.refuse("include_workers", "is \"" + *workers + "\", neither \"one\" nor \"all\"");
        }
        out.include_workers = workers == "all" ? include_workers::all : include_workers::one;
    }
}

SMDEBUG_INLINE void read_collection(const json_section& from, hook_options& out) {
    note_unknown_keys(from, std::array<std::string, 2>{"CollectionName", "CollectionParameters"}, out);
    const auto name = from.text("CollectionName");
    if (!name) {
        from.refuse("CollectionName", "is missing");
    }
    auto group = std::find_if(out.collections.begin(), out.collections.end(),
                              [&](const collection& other) { return other.name == *name; });
    if (group == out.collections.end()) {
        group = out.collections.insert(group, collection{.name = *name});
        out.include_collections.push_back(*name);
    }
    const json_section parameters = from.section("CollectionParameters");
    note_unknown_parameters(parameters, {"save_histogram"}, out);
    group->save_config.emplace();
    for (const mode which : all_modes) {
        save_config_mode own = out.save_config.in(which);
        read_when(parameters, "", own);
        read_when(parameters, std::string{key_prefix(which)}, own);
        group->save_config->emplace(which, std::move(own));
    }
    if (auto what = read_what(parameters)) {
        group->reduction_config = std::move(what);
    }
    if (const auto patterns = parameters.all_texts("include_regex")) {
        if (group->include_regex.empty()) {  // besides those that the name stands for
            group->include_regex = known_collections::regexes_of(*name);
        }
        group->include_regex.insert(group->include_regex.end(), patterns->begin(), patterns->end());
    }
    group->save_histogram = parameters.truth("save_histogram").value_or(group->save_histogram);
}

// The package detects this at the first step, when a script may have added names.
SMDEBUG_INLINE void refuse_unmatched(const hook_options& options, const std::string& file) {
    for (const collection& group : options.collections) {
        if (group.include_regex.empty() && !known_collections::is_known(group.name)) {
            throw value_error(
                error_code::invalid_collection_configuration,
                file + ": the collection \"" + group.name +
                    "\" is configured, but no tensor can belong to it: give it an \"include_regex\" in its "
                    "CollectionParameters, or take it out",
                {.where = file});
        }
    }
}

}  // namespace detail

SMDEBUG_INLINE hook_options hook_options_from_json(byte_view text, std::string_view where) {
    const std::string file{where};
    detail::json::document parser;
    const auto root = parser.parse(text);
    if (!root) {
        throw value_error(file + ": the hook's configuration is not valid JSON", {.where = file});
    }
    if (!root->is_object()) {
        throw value_error(file + ": the hook's configuration is not a JSON object", {.where = file});
    }
    const detail::json_section top{file, "", root};
    hook_options options;
    options.loss_regex.clear();  // the package has none
    // S3OutputPath and RuleConfigurations are for the service.
    const std::array<std::string, 5> sections{"LocalPath", "HookParameters", "CollectionConfigurations", "S3OutputPath",
                                              "RuleConfigurations"};
    detail::note_unknown_keys(top, sections, options);
    options.out_dir = top.text("LocalPath").value_or(default_out_dir);
    detail::read_hook_parameters(top.section("HookParameters"), options);
    top.for_each_section("CollectionConfigurations",
                         [&](const detail::json_section& group) { detail::read_collection(group, options); });
    detail::refuse_unmatched(options, file);
    try {
        check(options);
    } catch (const value_error& thrown) {
        throw value_error(file + ": " + std::string{thrown.message()}, {.where = file});
    }
    return options;
}

SMDEBUG_INLINE hook_options hook_options_from_json_file(const std::optional<std::string>& path) {
    // Read once, when a hook is made; nothing in this library writes the environment.
    const char* const named = std::getenv(hook_json_variable);  // NOLINT(concurrency-mt-unsafe)
    const std::string there = path ? *path : named != nullptr && *named != '\0' ? named : default_hook_json;
    try {
        return hook_options_from_json(detail::posix::file{there}.read().view(), there);
    } catch (const not_found& thrown) {
        throw not_found("there is no configuration of the hook (" + std::string{thrown.message()} +
                            "): it is looked for where the argument says, else where the environment variable " +
                            hook_json_variable + " says, else in " + default_hook_json,
                        {.where = there});
    }
}

}  // namespace smdebug::inline v1
