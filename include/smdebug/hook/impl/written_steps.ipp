// The bodies of <smdebug/hook/written_steps.hpp>.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/hook/hook_options.hpp>
#include <smdebug/hook/written_steps.hpp>

#include <string>

namespace smdebug::inline v1::detail {

SMDEBUG_INLINE written_steps::row written_steps::row::from(step_number place) const {
    row rest = *this;
    rest.in_mode += place * mode_stride;
    rest.global += place * global_stride;
    rest.count -= place;
    return rest;
}

SMDEBUG_INLINE bool written_steps::row::continues_with(step_number next_in_mode, step_number next_global) const {
    // Compares differences of steps: a sum may overflow.
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
        if (before.continues_with(in_mode, global)) {
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
                break;  // each occurs once
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

SMDEBUG_INLINE step_counter::step_counter(step_number first, const std::map<mode, step_number>& of_modes) {
    for (const auto& [which, next] : of_modes) {
        if (which != mode::global) {
            next_[place_of(which)] = next;
        }
    }
    now_ = {.step = first, .mode = mode::global, .mode_step = first};
}

SMDEBUG_INLINE bool step_counter::set_mode(mode which) noexcept {
    const bool other = which != now_.mode;
    if (other) {
        now_.mode = which;
        now_.mode_step = which == mode::global ? now_.step : next_[place_of(which)];
    }
    return other;
}

SMDEBUG_INLINE void step_counter::set_step(step_number global, std::optional<step_number> in_mode) {
    for (const step_number number : {global, in_mode.value_or(0)}) {
        if (number < 0 || number > largest_step) {
            throw value_error("a step has the number " + std::to_string(number) + ": steps are counted from 0 up to " +
                              std::to_string(largest_step));
        }
    }
    now_.step = global;
    if (now_.mode == mode::global) {
        now_.mode_step = in_mode.value_or(global);
    } else if (in_mode) {
        now_.mode_step = *in_mode;
        next_[place_of(now_.mode)] = *in_mode;
    }
}

SMDEBUG_INLINE void step_counter::advance() noexcept {
    ++now_.step;
    if (now_.mode == mode::global) {
        now_.mode_step = now_.step;
    } else {
        next_[place_of(now_.mode)] = ++now_.mode_step;
    }
}

}  // namespace smdebug::inline v1::detail
