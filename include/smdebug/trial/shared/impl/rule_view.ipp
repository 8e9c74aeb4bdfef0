// The bodies of <smdebug/trial/shared/rule_view.hpp>.
#pragma once

#include <smdebug/trial/shared/rule_view.hpp>

#include <algorithm>
#include <utility>

namespace smdebug::inline v1::detail {

SMDEBUG_INLINE std::uint64_t mixed(std::uint64_t seed, std::uint64_t with) noexcept {
    seed ^= with + 0x9E3779B97F4A7C15U + (seed << 6U) + (seed >> 2U);
    seed *= 0xBF58476D1CE4E5B9U;
    return seed ^ (seed >> 31U);
}

SMDEBUG_INLINE void read_log::begin(const named_step& step) {
    current_ = step;
    now_.lost.clear();
    now_.first_lost.clear();
    read_here_.clear();
    lost_here_.clear();
}

SMDEBUG_INLINE void read_log::was_read(std::uint64_t tensor, step_number step, mode in,
                                       const std::optional<std::string>& worker) {
    if (!is_current_step(step, in)) {
        return;
    }
    const std::uint64_t of_worker = named(tensor, worker);
    const std::lock_guard lock{guard_};
    if (read_here_.empty() || read_here_.back() != of_worker) {
        read_here_.push_back(of_worker);
    }
}

SMDEBUG_INLINE void read_log::was_looked_up(const lookup_error& failure, const std::string& tensor, step_number step,
                                            mode in, const std::optional<std::string>& worker) {
    if (failure.why == lookup_failure_kind::wrong_dtype) {
        was_read(tensor, step, in, worker);
    } else if (is_lost(failure)) {
        was_lost(tensor, step, in, worker, [&] { return what_of(failure, tensor, step, in); });
    }
}

SMDEBUG_INLINE read_log::entries read_log::end() {
    const auto each_once = [](auto& keys) {
        std::sort(keys.begin(), keys.end());
        keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
    };
    each_once(read_here_);
    each_once(lost_here_);
    each_once(now_.lost);
    now_.read = static_cast<std::size_t>(std::count_if(read_here_.begin(), read_here_.end(), [&](std::uint64_t one) {
        return !std::binary_search(lost_here_.begin(), lost_here_.end(), one);
    }));
    read_here_.clear();
    now_.has_selected = has_selected_.exchange(false, std::memory_order_relaxed);
    return std::exchange(now_, {});
}

SMDEBUG_INLINE record_key read_log::key_of(std::uint64_t of_worker, step_number step, mode in) const noexcept {
    const auto of_step = [&](step_number number, mode counted_in) {
        return mixed(mixed(of_worker, static_cast<std::uint64_t>(number)), static_cast<std::uint64_t>(counted_in));
    };
    if (is_current_step(step, in)) {
        return {of_step(current_.step, mode::global), of_step(current_.mode_step, current_.mode)};
    }
    const std::uint64_t key = of_step(step, in);
    return {key, key};
}

}  // namespace smdebug::inline v1::detail
