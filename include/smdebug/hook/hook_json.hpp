// Hook options from the JSON file by which SageMaker, or whoever starts a job, configures the hook.
// Values may be texts ("save_interval": "100"), as SageMaker writes them, or of their own types.
// Source: the file as the Python package's documentation has it, and how the package reads it.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/json_document.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/hook/hook_options.hpp>
#include <smdebug/hook/json_section.hpp>
#include <smdebug/hook/save_config.hpp>
#include <smdebug/index/collection.hpp>

#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace smdebug {
inline namespace v1 {

/// Default places of the file and of a run.
inline constexpr const char* hook_json_variable = "SMDEBUG_CONFIG_FILE_PATH";
inline constexpr const char* default_hook_json = "/opt/ml/input/config/debughookconfig.json";
inline constexpr const char* default_out_dir = "/opt/ml/output/tensors";

/// The options that a configuration file holds: LocalPath, HookParameters and CollectionConfigurations.  A section, or
/// a value, that is null counts as missing.  A key that is not known has no effect, as in the package, but
/// hook_options::notes names it; one that looks like a known key misspelt is an error.  What is for the service
/// (S3OutputPath, RuleConfigurations) is passed over.
///  - HookParameters and CollectionParameters: save_interval, save_steps, start_step, end_step, each also for one mode
///    ("train.save_interval"); reductions, save_raw_tensor, save_shape; include_regex.
///  - HookParameters alone: save_all, include_workers, export_tensorboard, tensorboard_dir.
///  - CollectionParameters alone: save_histogram.  What they do not say, HookParameters do.
/// As in the package:
///  - Collections that are configured are included; an include_regex is added to those that the name stands for, while
///    hook_options::collections replaces them.
///  - save_raw_tensor and save_shape count beside reductions alone, which may be "" for none.  Without reductions a
///    collection saves what the hook does, and the hook the values.
///  - Lists are texts with commas ("1,2,3"), or lists; a regex that has a comma itself needs a list.  In lists of
///    regexes an empty piece ("relu,") is a regex that every name matches; in others it is skipped.
/// Errors: value_error that names `where`, the key and the value, and what a misspelt key may mean; invalid_collection_configuration for a collection
///         that the package does not know by its name and that has no include_regex, so that no tensor can belong to
///         it.
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

/// What to save; nothing where the section has no reductions, whatever else is there.
[[nodiscard]] std::optional<reduction_config> read_what(const json_section& from);

}  // namespace detail

hook_options hook_options_from_json(byte_view text, std::string_view where);

hook_options hook_options_from_json_file(const std::optional<std::string>& path);

}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/hook/impl/hook_json.ipp>
#endif
