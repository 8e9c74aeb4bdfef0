// Steps, modes and the states a step can be in.
// A global step counts over the whole job; a mode step counts within one mode.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace smdebug::inline v1 {

/// A step's number, global or within a mode.  Never negative in a run; -1 stands for "none yet".
using step_number = std::int64_t;

/// What the training was doing.  Values and names are the Python package's ModeKeys.
enum class mode : std::uint8_t { train = 1, eval = 2, predict = 3, global = 4 };

/// "TRAIN", "EVAL", "PREDICT" or "GLOBAL".
[[nodiscard]] constexpr std::string_view name_of(mode which) noexcept {
    switch (which) {
        case mode::train:
            return "TRAIN";
        case mode::eval:
            return "EVAL";
        case mode::predict:
            return "PREDICT";
        case mode::global:
            return "GLOBAL";
    }
    return "?";
}

/// The mode of that name, exactly as name_of writes it.
[[nodiscard]] constexpr std::optional<mode> mode_named(std::string_view name) noexcept {
    for (const mode which : {mode::train, mode::eval, mode::predict, mode::global}) {
        if (name == name_of(which)) {
            return which;
        }
    }
    return std::nullopt;
}

/// Whether a step can be read.  `unavailable`: it was not saved and will not be.
enum class step_state : std::uint8_t { unavailable, available, not_yet_available };

/// "UNAVAILABLE", "AVAILABLE" or "NOT_YET_AVAILABLE".
[[nodiscard]] constexpr std::string_view name_of(step_state state) noexcept {
    switch (state) {
        case step_state::unavailable:
            return "UNAVAILABLE";
        case step_state::available:
            return "AVAILABLE";
        case step_state::not_yet_available:
            return "NOT_YET_AVAILABLE";
    }
    return "?";
}

/// Global steps from `begin` up to, not including, `end`; an empty bound is open.
struct step_range {
    std::optional<step_number> begin = {};
    std::optional<step_number> end = {};

    [[nodiscard]] constexpr bool contains(step_number step) const noexcept {
        return (!begin || *begin <= step) && (!end || step < *end);
    }
    /// Bounds are not negative and begin < end.
    [[nodiscard]] constexpr bool valid() const noexcept {
        return (!begin || *begin >= 0) && (!end || *end >= 0) && (!begin || !end || *begin < *end);
    }
};

}  // namespace smdebug::inline v1
