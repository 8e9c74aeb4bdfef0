// Windows of mode steps: each step below 4, then four windows an octave, so that a run of any length has few.
#pragma once

#include <smdebug/core/step.hpp>

#include <bit>
#include <cstdint>
#include <limits>
#include <optional>

namespace smdebug::inline v1::detail::learn {

/// A window's number: 0, 1, 2, ... begin at mode steps 0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, ...
using window_number = std::uint16_t;

/// The window of a mode step, which is not negative.
[[nodiscard]] constexpr window_number window_of(step_number mode_step) noexcept {
    const auto step = static_cast<std::uint64_t>(mode_step < 0 ? 0 : mode_step);
    if (step < 4) {
        return static_cast<window_number>(step);
    }
    const auto octave = static_cast<unsigned>(std::bit_width(step)) - 1;
    return static_cast<window_number>(4 * (octave - 1) + ((step >> (octave - 2)) & 3U));
}

/// The window of the greatest mode step.
inline constexpr window_number last_window = window_of(std::numeric_limits<step_number>::max());

/// The first mode step of a window, and the last.
[[nodiscard]] constexpr step_number first_step_of(window_number window) noexcept {
    return window < 4 ? step_number{window} : step_number{4 + window % 4} << (window / 4 - 1);
}
[[nodiscard]] constexpr step_number last_step_of(window_number window) noexcept {
    return window < 4 ? step_number{window} : first_step_of(window) + ((step_number{1} << (window / 4 - 1)) - 1);
}

/// The window that begins at a mode step; nothing: none does.
[[nodiscard]] constexpr std::optional<window_number> window_from(step_number first) noexcept {
    return first >= 0 && first_step_of(window_of(first)) == first ? std::optional{window_of(first)} : std::nullopt;
}

}  // namespace smdebug::inline v1::detail::learn
