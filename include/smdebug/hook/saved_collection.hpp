// A collection as a hook works with it: settings filled in, regexes compiled, the names that it has seen.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/hook/known_collections.hpp>
#include <smdebug/hook/reduction_plan.hpp>
#include <smdebug/hook/save_config.hpp>
#include <smdebug/index/collection.hpp>
#include <smdebug/index/regex.hpp>

#include <array>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace detail {

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
    [[nodiscard]] bool takes(std::string_view name) const;

    /// Keeps a name; returns whether it is new.
    bool note(std::string_view name) { return names.emplace(name).second; }

    /// Whether its tensors are saved at a step of a mode.
    [[nodiscard]] bool is_due(mode which, step_number mode_step) const;

    /// What of it goes into a collections file.
    [[nodiscard]] collection exported() const;

private:
    bool of_training_ = false;
};

}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/hook/impl/saved_collection.ipp>
#endif
