// The bodies of <smdebug/rules/built_in/nan_origin.hpp>.
#pragma once

#include <smdebug/rules/built_in/nan_origin.hpp>

#include <algorithm>
#include <utility>

#include <smdebug/core/strict_math/begin.ipp>
namespace smdebug::inline v1::rules {

SMDEBUG_INLINE void nan_origin::check() const { detail::check_range(name(), "rearm_after", rearm_after); }

SMDEBUG_INLINE bool nan_origin::is_bad(double extremum) const noexcept {
    return is_nan(extremum) || (!only_nan && is_infinite(extremum));
}

SMDEBUG_INLINE std::optional<nan_origin::bad_save> nan_origin::by_counts(const reduction_values& counts) const {
    const std::uint64_t bad = counts.nan + (only_nan ? 0 : counts.pos_inf + counts.neg_inf);
    if (bad == 0) {
        return std::nullopt;
    }
    return bad_save{.share = static_cast<double>(bad) / static_cast<double>(counts.count),
                    .what = std::to_string(counts.nan) + " NaN, " + std::to_string(counts.pos_inf) + " +Inf, " +
                            std::to_string(counts.neg_inf) + " -Inf of " + std::to_string(counts.count) + " values"};
}

SMDEBUG_INLINE nan_origin::bad_save nan_origin::bad_extremum(reduction_key key, double extremum) {
    return {.share = std::numeric_limits<double>::quiet_NaN(),
            .what = "the saved " + key.name() + " is " + short_text(extremum)};
}

SMDEBUG_INLINE std::string nan_origin::text_of_largest(const lookup<double>& largest) {
    if (!largest) {
        return "not known";
    }
    return is_finite(*largest) ? short_text(*largest) : "not finite";
}

SMDEBUG_INLINE const nan_origin::bad_save* nan_origin::judge(const std::string& worker, const seen_saves& saves) {
    history::state& state = so_far.by_worker_[worker];
    if (saves.bad.empty()) {
        ++state.clean;
        state.armed = state.armed || (rearm_after > 0 && state.clean >= rearm_after);
        return nullptr;
    }
    state.clean = 0;
    if (!std::exchange(state.armed, false)) {
        return nullptr;
    }
    const bool has_places =
        std::all_of(saves.bad.begin(), saves.bad.end(), [](const bad_save& each) { return each.place.has_value(); });
    // Saves are in the order of their names.
    return &*std::min_element(saves.bad.begin(), saves.bad.end(), [&](const bad_save& a, const bad_save& b) {
        return a.worker != b.worker ? a.worker < b.worker : has_places && *a.place < *b.place;
    });
}

}  // namespace smdebug::inline v1::rules
#include <smdebug/core/strict_math/end.ipp>
