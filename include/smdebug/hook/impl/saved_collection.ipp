// The bodies of <smdebug/hook/saved_collection.hpp>.
#pragma once

#include <smdebug/hook/saved_collection.hpp>

#include <algorithm>
#include <utility>

namespace smdebug {
inline namespace v1 {
namespace detail {

SMDEBUG_INLINE bool saved_collection::takes(std::string_view name) const {
    return names.contains(name) ||
           std::any_of(patterns.begin(), patterns.end(), [&](const regex& pattern) { return pattern.search(name); });
}

SMDEBUG_INLINE bool saved_collection::is_due(mode which, step_number mode_step) const {
    const bool is_training = which != mode::eval && which != mode::predict;
    return (is_training || !of_training_) && smdebug::is_due(when[place_of(which)], mode_step);
}

SMDEBUG_INLINE collection saved_collection::exported() const {
    collection out = configured;
    out.tensor_names.assign(names.begin(), names.end());
    return out;
}

SMDEBUG_INLINE saved_collection::saved_collection(collection from, const std::map<mode, save_config_mode>& default_when,
                                                  const reduction_config& default_what)
    : configured(std::move(from)), of_training_(known_collections::is_of_training(configured.name)) {
    if (configured.include_regex.empty() && configured.tensor_names.empty()) {
        configured.include_regex = known_collections::regexes_of(configured.name);
    }
    if (!configured.save_config) {
        configured.save_config.emplace();
    }
    configured.save_config->insert(default_when.begin(), default_when.end());
    if (!configured.reduction_config) {
        configured.reduction_config = default_what;
    }
    if (known_collections::holds_scalars(configured.name)) {
        configured.reduction_config = reduction_config{.save_raw_tensor = true};
        configured.save_histogram = false;
    }
    for (const mode which : all_modes) {
        when[place_of(which)] = configured.save_config->at(which);
    }
    plan = make_reduction_plan(*configured.reduction_config);
    for (const std::string& pattern : configured.include_regex) {
        patterns.emplace_back(pattern);
    }
    names.insert(configured.tensor_names.begin(), configured.tensor_names.end());
}

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
