// The bodies of <smdebug/learn/facts/series.hpp>.
#pragma once

#include <smdebug/learn/facts/series.hpp>

#include <algorithm>
#include <array>
#include <utility>

#include <smdebug/core/strict_math/begin.ipp>
namespace smdebug::inline v1::detail::learn {

// Lists of extremes -----------------------------------------------------------------------------------------------

SMDEBUG_INLINE bool extremes::has(run_place run) const noexcept {
    return std::any_of(begin(), end(), [&](const extreme& each) { return each.run == run; });
}

SMDEBUG_INLINE extremes extremes::without(run_place run) const noexcept {
    extremes left;
    for (const extreme& each : *this) {
        if (each.run != run) {
            left.push_back(each);
        }
    }
    return left;
}

SMDEBUG_INLINE const extreme* extremes::first_but(run_place run) const noexcept {
    const extreme* const found = std::find_if(begin(), end(), [&](const extreme& each) { return each.run != run; });
    return found != end() ? found : nullptr;
}

/// The first three of both.
template <class Precedes>
[[nodiscard]] extremes first_of_both(const extremes& a, const extremes& b, Precedes precedes) noexcept {
    std::array<extreme, 2 * extremes::most> both{};
    std::size_t count = 0;
    for (const extremes* const each : {&a, &b}) {
        for (const extreme& one : *each) {
            std::size_t place = count++;
            for (; place > 0 && precedes(one, both[place - 1]); --place) {
                both[place] = both[place - 1];
            }
            both[place] = one;
        }
    }
    extremes first;
    for (std::size_t i = 0; i < std::min(count, extremes::most); ++i) {
        first.push_back(both[i]);
    }
    return first;
}

SMDEBUG_INLINE extremes joined_low(const extremes& a, const extremes& b) noexcept {
    return first_of_both(a, b, [](const extreme& one, const extreme& other) {
        return one.number < other.number || (one.number == other.number && one.run < other.run);
    });
}
SMDEBUG_INLINE extremes joined_high(const extremes& a, const extremes& b) noexcept {
    return first_of_both(a, b, [](const extreme& one, const extreme& other) {
        return one.number > other.number || (one.number == other.number && one.run < other.run);
    });
}

// Lists of windows ------------------------------------------------------------------------------------------------

SMDEBUG_INLINE window_facts window_list::operator[](std::size_t place) const noexcept {
    const head& of = heads_[place];
    window_facts found{.window = of.window, .runs = of.runs};
    for (std::size_t i = 0; i < of.low; ++i) {
        found.low.push_back({numbers_[of.begin + i], places_[of.begin + i]});
    }
    for (std::size_t i = of.low; i < std::size_t{of.low} + of.high; ++i) {
        found.high.push_back({numbers_[of.begin + i], places_[of.begin + i]});
    }
    return found;
}

SMDEBUG_INLINE window_list::window_list(std::span<const window_facts> windows) {
    std::size_t count = 0;
    unsigned of_numbers = 0;
    unsigned of_places = 0;
    for (const window_facts& one : windows) {
        count += one.low.size() + one.high.size();
        for (const extremes* const each : {&one.low, &one.high}) {
            for (const extreme& entry : *each) {
                of_numbers = std::max(of_numbers, numbers_.level_for(entry.number));
                of_places = std::max(of_places, places_.level_for(entry.run));
            }
        }
    }
    heads_.reserve(windows.size());
    numbers_.reserve(count, of_numbers);
    places_.reserve(count, of_places);
    for (const window_facts& one : windows) {
        push_back(one);
    }
}

SMDEBUG_INLINE void window_list::push_back(const window_facts& one) {
    heads_.push_back({.runs = static_cast<std::uint32_t>(one.runs),
                      .begin = static_cast<std::uint16_t>(numbers_.size()),
                      .window = static_cast<std::uint8_t>(one.window),
                      .low = static_cast<std::uint8_t>(one.low.size() & 15U),
                      .high = static_cast<std::uint8_t>(one.high.size() & 15U)});
    for (const extremes* const each : {&one.low, &one.high}) {
        for (const extreme& entry : *each) {
            numbers_.push_back(entry.number);
            places_.push_back(entry.run);
        }
    }
}

SMDEBUG_INLINE void window_list::renumber(std::span<const run_place> places) {
    for (std::size_t i = 0; i < places_.size(); ++i) {
        places_.set(i, places[places_[i]]);
    }
}

// Series ----------------------------------------------------------------------------------------------------------

/// Whether a window counts: of so many runs, and of half of the series' runs.
[[nodiscard]] constexpr bool has_enough_runs(std::uint64_t runs, std::uint64_t of_series) noexcept {
    return runs >= 2 && 2 * runs >= of_series;
}

SMDEBUG_INLINE std::optional<healthy_range> number_series::healthy_at(step_number mode_step) const noexcept {
    const window_number at = window_of(mode_step);
    std::size_t after = 0;
    for (std::size_t end = windows.size(); after < end;) {  // the first window at or after
        const std::size_t middle = after + (end - after) / 2;
        if (windows.window_at(middle) < at) {
            after = middle + 1;
        } else {
            end = middle;
        }
    }
    std::size_t before = after < windows.size() && windows.window_at(after) == at ? after + 1 : after;
    const auto counts = [&](std::size_t place) { return has_enough_runs(windows.runs_at(place), runs); };
    while (before > 0 && !counts(before - 1)) {
        --before;
    }
    while (after < windows.size() && !counts(after)) {
        ++after;
    }
    if (before == 0 || after == windows.size()) {
        return std::nullopt;
    }
    const window_facts first = windows[before - 1];
    const window_facts last = windows[after];
    return healthy_range{.range = {.least = std::min(first.low[0].number, last.low[0].number),
                                   .greatest = std::max(first.high[0].number, last.high[0].number)},
                         .runs = std::max(first.runs, last.runs),
                         .first_step = first_step_of(first.window),
                         .last_step = last_step_of(last.window)};
}

SMDEBUG_INLINE std::optional<healthy_envelope> number_series::envelope_at(number which, step_number mode_step,
                                                                          double wider) const {
    const std::optional<healthy_range> healthy = healthy_at(mode_step);
    if (!healthy) {
        return std::nullopt;
    }
    healthy_envelope found{*healthy};
    const double factor = widen.value_or(1);
    if (down) {
        found.lower = lower_bound(class_of(which), healthy->range, *down * factor * wider);
    }
    if (up) {
        found.upper = upper_bound(class_of(which), healthy->range, *up * factor * wider);
    }
    return found;
}

SMDEBUG_INLINE number_series joined(const number_series& a, const number_series& b) {
    number_series both{.runs = a.runs + b.runs, .widen = a.widen};
    if (b.widen) {
        both.widen = both.widen ? std::max(*both.widen, *b.widen) : *b.widen;
    }
    std::vector<window_facts> windows;
    windows.reserve(a.windows.size() + b.windows.size());
    std::size_t of_a = 0;
    std::size_t of_b = 0;
    while (of_a < a.windows.size() || of_b < b.windows.size()) {
        const bool is_of_a = of_a < a.windows.size() &&
                             (of_b == b.windows.size() || a.windows.window_at(of_a) <= b.windows.window_at(of_b));
        const bool is_of_b = of_b < b.windows.size() &&
                             (of_a == a.windows.size() || b.windows.window_at(of_b) <= a.windows.window_at(of_a));
        if (is_of_a && is_of_b) {
            const window_facts one = a.windows[of_a++];
            const window_facts other = b.windows[of_b++];
            windows.push_back({.window = one.window,
                               .runs = one.runs + other.runs,
                               .low = joined_low(one.low, other.low),
                               .high = joined_high(one.high, other.high)});
        } else {
            windows.push_back(is_of_a ? a.windows[of_a++] : b.windows[of_b++]);
        }
    }
    both.windows = window_list{windows};
    return both;
}

// Margins ---------------------------------------------------------------------------------------------------------

/// The rungs that a window, or a series, asks for; nothing: it has not two runs.
struct asked_rungs {
    std::optional<unsigned> down = {};
    std::optional<unsigned> up = {};

    void take(const asked_rungs& other) noexcept {
        down = std::max(down, other.down);
        up = std::max(up, other.up);
    }
};

[[nodiscard]] inline asked_rungs rungs_of(number_class of, const extremes& low, const extremes& high) noexcept {
    asked_rungs asked;
    if (low.size() < 2 || high.size() < 2) {
        return asked;
    }
    if (const extreme* const greatest = high.first_but(low[0].run)) {
        asked.down = rung_below(of, {low[1].number, greatest->number}, low[0].number);
    }
    if (const extreme* const least = low.first_but(high[0].run)) {
        asked.up = rung_above(of, {least->number, high[1].number}, high[0].number);
    }
    return asked;
}

/// A side's margin.
[[nodiscard]] inline std::optional<double> margin_of(const std::optional<unsigned>& rung, std::uint64_t runs) noexcept {
    return rung && runs >= 2 ? margin_for(*rung, runs) : std::nullopt;
}

/// Whether a run raises an alarm if the series is learned without it.  `rungs`: those of each window.
[[nodiscard]] inline bool is_suspect(const number_series& of, number_class what, const std::vector<asked_rungs>& rungs,
                                     run_place run) noexcept {
    asked_rungs asked;
    for (std::size_t i = 0; i < of.windows.size(); ++i) {
        const window_facts window = of.windows[i];
        asked.take(window.low.has(run) || window.high.has(run)
                       ? rungs_of(what, window.low.without(run), window.high.without(run))
                       : rungs[i]);
    }
    const std::uint64_t runs = of.runs - 1;
    const std::optional<double> down = margin_of(asked.down, runs);
    const std::optional<double> up = margin_of(asked.up, runs);
    for (std::size_t i = 0; i < of.windows.size(); ++i) {
        const window_facts window = of.windows[i];
        const bool was_least = !window.low.empty() && window.low[0].run == run;
        const bool was_greatest = !window.high.empty() && window.high[0].run == run;
        if ((!was_least && !was_greatest) || window.runs == 0 || !has_enough_runs(window.runs - 1, runs)) {
            continue;
        }
        const extremes low = window.low.without(run);
        const extremes high = window.high.without(run);
        if (low.empty() || high.empty()) {
            continue;
        }
        const number_range healthy{low[0].number, high[0].number};
        if ((was_least && down && window.low[0].number < lower_bound(what, healthy, *down)) ||
            (was_greatest && up && window.high[0].number > upper_bound(what, healthy, *up))) {
            return true;
        }
    }
    return false;
}

SMDEBUG_INLINE void find_margins(number_series& of, number which, std::vector<run_place>& suspects) {
    const number_class what = class_of(which);
    std::vector<asked_rungs> rungs;
    rungs.reserve(of.windows.size());
    asked_rungs asked;
    std::vector<run_place> extreme_runs;
    for (std::size_t i = 0; i < of.windows.size(); ++i) {
        const window_facts window = of.windows[i];
        rungs.push_back(rungs_of(what, window.low, window.high));
        asked.take(rungs.back());
        if (!window.low.empty()) {
            extreme_runs.push_back(window.low[0].run);
        }
        if (!window.high.empty()) {
            extreme_runs.push_back(window.high[0].run);
        }
    }
    of.down = margin_of(asked.down, of.runs);
    of.up = margin_of(asked.up, of.runs);
    if (of.runs < 2) {
        return;
    }
    std::sort(extreme_runs.begin(), extreme_runs.end());
    extreme_runs.erase(std::unique(extreme_runs.begin(), extreme_runs.end()), extreme_runs.end());
    for (const run_place run : extreme_runs) {
        if (is_suspect(of, what, rungs, run)) {
            suspects.push_back(run);
        }
    }
}

}  // namespace smdebug::inline v1::detail::learn
#include <smdebug/core/strict_math/end.ipp>
