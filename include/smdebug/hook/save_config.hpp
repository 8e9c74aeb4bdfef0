// When tensors are saved: settings for all modes with exceptions for some, and whether a step is due.
// Apart from index/collection.hpp, which says the same as a file does: for each mode in full.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/index/collection.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace smdebug {
inline namespace v1 {

inline constexpr std::array<mode, 4> all_modes{mode::train, mode::eval, mode::predict, mode::global};

/// The place of a mode in all_modes, and in arrays that hold something for each.
[[nodiscard]] constexpr std::size_t place_of(mode which) noexcept { return static_cast<std::size_t>(which) - 1; }

/// When tensors are saved.  Steps are those of the mode that the training is in; in GLOBAL, the default, of the job.
struct save_config {
    std::int64_t save_interval = 500;             ///< saves the steps that it divides, 0 among them
    std::vector<step_number> save_steps = {};     ///< saves these, too, wherever they lie
    std::optional<step_number> start_step = {};   ///< the interval saves nothing before this step
    std::optional<step_number> end_step = {};     ///< the interval counts up to, not including, this step; 0: never
    std::map<mode, save_config_mode> modes = {};  ///< a mode's own settings, which replace all of the others

    /// The settings of a mode.
    [[nodiscard]] save_config_mode in(mode which) const;

    /// All four modes in full: so that it can be given where a collection's config is wanted.
    operator std::map<mode, save_config_mode>() const;
};

/// Whether a step is to be saved: save_steps has it, or it lies in [start_step, end_step) and save_interval divides it.
/// Where end_step is not after start_step only save_steps are.  An interval below 1, which check() refuses, divides
/// nothing.
[[nodiscard]] bool is_due(const save_config_mode& when, step_number mode_step);

/// Throws a value_error that begins with `where` unless is_due has a meaning for `when`.
void check(const save_config_mode& when, const std::string& where);

/// The same for the settings of all modes.
void check(const std::map<mode, save_config_mode>& config, const std::string& where);

void check(const save_config& config, const std::string& where);

}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/hook/impl/save_config.ipp>
#endif
