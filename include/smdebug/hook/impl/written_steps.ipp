// The bodies of <smdebug/hook/written_steps.hpp>.
#pragma once

#include <smdebug/hook/written_steps.hpp>

namespace smdebug {
inline namespace v1 {
namespace detail {

SMDEBUG_INLINE written_steps::row written_steps::row::from(step_number place) const {
    row rest = *this;
    rest.in_mode += place * mode_stride;
    rest.global += place * global_stride;
    rest.count -= place;
    return rest;
}

SMDEBUG_INLINE bool written_steps::row::goes_on_with(step_number next_in_mode, step_number next_global) const {
    // Differences of steps: a sum may be beyond what a number holds.
    return next_in_mode - last() == mode_stride &&
           next_global - (global + (count - 1) * global_stride) == global_stride;
}

SMDEBUG_INLINE written_steps::rows::iterator written_steps::split(rows& steps, rows::iterator where,
                                                                  step_number place) {
    const row rest = where->from(place);
    where->count = place;
    return steps.insert(std::next(where), rest);
}

SMDEBUG_INLINE void written_steps::erase(rows& steps, rows::iterator where, step_number place) {
    if (place > 0) {
        where = split(steps, where, place);
    }
    if (where->count == 1) {
        steps.erase(where);
    } else {
        *where = where->from(1);
    }
}

SMDEBUG_INLINE void written_steps::add(mode which, step_number in_mode, step_number global) {
    if (global <= last_) {
        forget(global);
    }
    last_ = std::max(last_, global);
    rows& steps = by_mode_[place_of(which)];
    auto next = row_of(steps, in_mode);
    if (next != steps.end() && next->in_mode <= in_mode) {  // within a row
        const step_number place = (in_mode - next->in_mode) / next->mode_stride;
        if (next->in_mode + place * next->mode_stride == in_mode) {
            erase(steps, next, place);
        } else {
            split(steps, next, place + 1);
        }
        next = row_of(steps, in_mode);
    }
    if (next != steps.begin()) {
        row& before = *std::prev(next);
        if (before.count == 1 && before.global != global) {
            before.mode_stride = in_mode - before.in_mode;
            before.global_stride = global - before.global;
        }
        if (before.goes_on_with(in_mode, global)) {
            ++before.count;
            return;
        }
    }
    steps.insert(next, {.in_mode = in_mode, .global = global});
}

SMDEBUG_INLINE void written_steps::forget(step_number global) {
    for (rows& steps : by_mode_) {
        for (auto one = steps.begin(); one != steps.end(); ++one) {
            const step_number distance = global - one->global;
            const step_number place = distance / one->global_stride;
            if (distance % one->global_stride == 0 && place >= 0 && place < one->count) {
                erase(steps, one, place);
                break;  // each is there once
            }
        }
    }
}

SMDEBUG_INLINE std::optional<step_number> written_steps::global_of(mode which, step_number in_mode) const {
    const rows& steps = by_mode_[place_of(which)];
    const auto found = row_of(steps, in_mode);
    if (found == steps.end() || in_mode < found->in_mode || (in_mode - found->in_mode) % found->mode_stride != 0) {
        return std::nullopt;
    }
    return found->global + (in_mode - found->in_mode) / found->mode_stride * found->global_stride;
}

SMDEBUG_INLINE std::optional<step_number> written_steps::last(mode which) const {
    const rows& steps = by_mode_[place_of(which)];
    return steps.empty() ? std::nullopt : std::optional{steps.back().last()};
}

SMDEBUG_INLINE std::size_t written_steps::row_count() const {
    std::size_t count = 0;
    for (const rows& steps : by_mode_) {
        count += steps.size();
    }
    return count;
}

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
