// The bodies of <smdebug/hook/hook_json.hpp>.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/hook/hook_json.hpp>
#include <smdebug/hook/known_collections.hpp>
#include <smdebug/storage/posix/file.hpp>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <span>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// The keys of HookParameters and CollectionParameters: `own`, those that both have, and those of single modes.
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

/// Notes the keys of a section that are not `known`; refuses those that are misspelt.
SMDEBUG_INLINE void note_unknown_keys(const json_section& from, std::span<const std::string> known, hook_options& out) {
    for (std::string& note : from.unknown_keys(known)) {
        out.notes.push_back(std::move(note));
    }
}

/// The same of parameters, where those of smd::reduction_config beside "reductions" are refused, too.
SMDEBUG_INLINE void note_unknown_parameters(const json_section& from, std::vector<std::string> own, hook_options& out) {
    for (const std::string_view key : {"abs_reductions", "norms", "abs_norms"}) {
        if (from.find(key)) {
            from.refuse(key, "is not known: in JSON \"reductions\" has them all, as \"min,abs_max,l2,abs_l1\"");
        }
    }
    note_unknown_keys(from, parameter_keys(std::move(own)), out);
}

/// Overwrites what a section says about when to save, under keys that begin with `prefix`.
/// Returns whether it says anything.
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
    note_unknown_parameters(from, {"save_all", "include_workers", "export_tensorboard", "tensorboard_dir"}, out);
    save_config_mode all;
    read_when(from, "", all);
    out.save_config = {.save_interval = all.save_interval,
                       .save_steps = all.save_steps,
                       .start_step = all.start_step,
                       .end_step = all.end_step};
    for (const mode which : all_modes) {
        save_config_mode own = all;
        if (read_when(from, std::string{key_prefix(which)}, own)) {
            out.save_config.modes.emplace(which, std::move(own));
        }
    }
    out.reduction_config = read_what(from);
    out.include_regex = from.all_texts("include_regex").value_or(std::vector<std::string>{});
    out.save_all = from.truth("save_all").value_or(false);
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

// The package finds this out at the first step, when a script may have added names.
SMDEBUG_INLINE void refuse_unmatched(const hook_options& options, const std::string& file) {
    for (const collection& group : options.collections) {
        if (group.include_regex.empty() && !known_collections::is_known(group.name)) {
            throw invalid_collection_configuration(
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
        throw value_error(file + ": the hook's configuration is no JSON", {.where = file});
    }
    if (!root->is_object()) {
        throw value_error(file + ": the hook's configuration is no JSON object", {.where = file});
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
        detail::posix::scratch_buffer bytes;
        return hook_options_from_json(detail::posix::file{there}.read_all(bytes), there);
    } catch (const not_found& thrown) {
        throw not_found("there is no configuration of the hook (" + std::string{thrown.message()} +
                            "): it is looked for where the argument says, else where the environment variable " +
                            hook_json_variable + " says, else in " + default_hook_json,
                        {.where = there});
    }
}

}  // namespace v1
}  // namespace smdebug
