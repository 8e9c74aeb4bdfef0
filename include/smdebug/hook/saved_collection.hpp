// A collection as a hook works with it: settings filled in, regexes compiled, the names that it has seen.
// Used by: hook/collection_set.hpp.
#pragma once

#include <smdebug/core/step.hpp>
#include <smdebug/hook/known_collections.hpp>
#include <smdebug/hook/reduction_plan.hpp>
#include <smdebug/hook/save_config.hpp>
#include <smdebug/index/collection.hpp>
#include <smdebug/index/regex.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {

/// A collection in use.
struct saved_collection {
    collection configured;                                ///< with everything filled in
    std::array<save_config_mode, all_modes.size()> when;  ///< configured.save_config, by place_of(mode)
    reduction_plan plan;                                  ///< configured.reduction_config
    std::vector<regex> patterns;                          ///< configured.include_regex
    std::set<std::string, std::less<>> names;             ///< configured.tensor_names, and those noted
    bool included = false;                                ///< saved for whatever it takes
    bool used = false;                                    ///< a tensor was put into it by name
    bool asked_for = false;                               ///< the options name it
    bool has_met = false;                                 ///< a tensor came that belongs to it

    /// Fills in what `from` does not say: the regexes that go with its name, where it has neither regexes nor names;
    /// modes that its save_config lacks; its reduction_config.  Collections of single numbers have no reductions and no
    /// histogram, whatever they say.
    /// Errors: value_error for bad regexes and reductions.
    saved_collection(collection from, const std::map<mode, save_config_mode>& default_when,
                     const reduction_config& default_what);

    /// Whether a tensor belongs to it, by its names or regexes.
    /// Errors: value_error where a regex takes too many steps on this name.
    [[nodiscard]] bool takes(std::string_view name) const {
        return names.contains(name) || std::any_of(patterns.begin(), patterns.end(),
                                                   [&](const regex& pattern) { return pattern.search(name); });
    }

    /// Keeps a name; returns whether it is new.
    bool note(std::string_view name) { return names.emplace(name).second; }

    /// Whether its tensors are saved at a step of a mode.
    [[nodiscard]] bool is_due(mode which, step_number mode_step) const {
        const bool is_training = which != mode::eval && which != mode::predict;
        return (is_training || !of_training_) && smdebug::is_due(when[place_of(which)], mode_step);
    }

    /// What of it goes into a collections file.
    [[nodiscard]] collection exported() const {
        collection out = configured;
        out.tensor_names.assign(names.begin(), names.end());
        return out;
    }

private:
    bool of_training_ = false;
};

inline saved_collection::saved_collection(collection from, const std::map<mode, save_config_mode>& default_when,
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

}  // namespace v1
}  // namespace smdebug
