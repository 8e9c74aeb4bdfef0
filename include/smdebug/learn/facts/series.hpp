// A number over windows of steps, in some healthy runs: its least and greatest values, and the margins that leaving each
// run out in turn asks for.  Numbers are compared and selected, never summed: joining is exact in any order.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/learn/facts/numbers.hpp>
#include <smdebug/learn/facts/packed_list.hpp>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

namespace smdebug::inline v1::detail::learn {

/// The number of a window of mode steps: each step below 4, then four windows an octave, so that a run of any length
/// has few.  0, 1, 2, ... begin at mode steps 0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, ...
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

/// A run's place in a sorted list of names.
using run_place = std::uint32_t;

/// The least or greatest number of a run in a window.
struct extreme {
    double number = 0;
    run_place run = 0;
};

/// The three least of some runs, ascending, or the three greatest, descending: three make leave-one-out exact.
class extremes {
public:
    static constexpr std::size_t most = 3;

    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
    [[nodiscard]] const extreme& operator[](std::size_t place) const noexcept { return kept_[place]; }
    [[nodiscard]] const extreme* begin() const noexcept { return kept_.data(); }
    [[nodiscard]] const extreme* end() const noexcept { return kept_.data() + size_; }
    [[nodiscard]] bool has(run_place run) const noexcept;
    /// Adds one behind the others.
    void push_back(const extreme& one) noexcept { kept_[size_++] = one; }
    /// These without those of a run.
    [[nodiscard]] extremes without(run_place run) const noexcept;
    /// The first that is not this run's, or null.
    [[nodiscard]] const extreme* first_but(run_place run) const noexcept;

private:
    std::array<extreme, most> kept_{};
    std::size_t size_ = 0;
};

/// The first three of both lists, in ascending (low) or descending order (high), then by run.
[[nodiscard]] extremes joined_low(const extremes& a, const extremes& b) noexcept;
[[nodiscard]] extremes joined_high(const extremes& a, const extremes& b) noexcept;

/// What healthy runs had in one window.
struct window_facts {
    window_number window = 0;
    std::uint64_t runs = 0;
    extremes low = {};
    extremes high = {};
};

/// Windows in ascending order.  Memory: 8 bytes a window; an extreme 4 if all numbers of the list are 32-bit floats,
/// else 8, and for its run one more, above 256 runs two, above 65,536 four.
class window_list {
public:
    window_list() = default;
    /// With no room for more.
    explicit window_list(std::span<const window_facts> windows);

    [[nodiscard]] std::size_t size() const noexcept { return heads_.size(); }
    [[nodiscard]] bool empty() const noexcept { return heads_.empty(); }
    [[nodiscard]] window_facts operator[](std::size_t place) const noexcept;
    [[nodiscard]] window_number window_at(std::size_t place) const noexcept { return heads_[place].window; }
    [[nodiscard]] std::uint64_t runs_at(std::size_t place) const noexcept { return heads_[place].runs; }

    /// Adds one behind the others.
    void push_back(const window_facts& one);
    /// Replaces each run's place by that in another list.
    void renumber(std::span<const run_place> places);

private:
    struct head {
        std::uint32_t runs = 0;
        std::uint16_t begin = 0;  // of its extremes in the lists below
        std::uint8_t window = 0;
        std::uint8_t low : 4 = 0;
        std::uint8_t high : 4 = 0;
    };
    static_assert(last_window <= 255 && (last_window + 1) * 2 * extremes::most <= 65'535);

    std::vector<head> heads_;
    packed_numbers numbers_;
    packed_list<std::uint8_t, std::uint16_t, run_place> places_;
};

/// A healthy range at a mode step, and where it comes from.
struct healthy_range {
    number_range range = {};
    std::uint64_t runs = 0;
    step_number first_step = 0;
    step_number last_step = 0;
};

/// A healthy range, and the bounds beyond which a number is out of it; infinite: that side is not judged.
struct healthy_envelope : healthy_range {
    double lower = -std::numeric_limits<double>::infinity();
    double upper = std::numeric_limits<double>::infinity();
};

/// One number of a tensor in a mode.
struct number_series {
    std::uint64_t runs = 0;           ///< with such a number
    std::optional<double> down = {};  ///< the margins; nothing: that side is not judged
    std::optional<double> up = {};
    std::optional<double> widen = {};  ///< written by hand
    window_list windows = {};

    /// The nearest windows with enough runs at or before a mode step, and at or after it; nothing: either is missing.
    /// Cost: a binary search.
    [[nodiscard]] std::optional<healthy_range> healthy_at(step_number mode_step) const noexcept;

    /// The envelope there, of the series as one of numbers `which`; nothing: it is not judged.
    /// `widen`: a factor of the margins.
    [[nodiscard]] std::optional<healthy_envelope> envelope_at(number which, step_number mode_step, double widen) const;
};

[[nodiscard]] number_series joined(const number_series& a, const number_series& b);

/// Finds the margins anew, from the windows.  Adds to `suspects` the runs that would raise an alarm if the series was
/// learned without them.
/// Cost: grows with the windows, times the runs that are an extreme of any.
void find_margins(number_series& of, number which, std::vector<run_place>& suspects);

}  // namespace smdebug::inline v1::detail::learn

#ifndef SMDEBUG_COMPILED
#include <smdebug/learn/facts/impl/series.ipp>
#endif
