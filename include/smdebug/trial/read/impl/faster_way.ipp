// The bodies of <smdebug/trial/read/faster_way.hpp>.
#pragma once

#include <smdebug/trial/read/faster_way.hpp>

namespace smdebug {
inline namespace v1 {
namespace detail {

SMDEBUG_INLINE faster_way::way faster_way::next() const noexcept {
    if (begins()) {
        return ways_[other].count < ways_[usual].count ? other : usual;
    }
    return left_ > 0 ? chosen_ : static_cast<way>(1 - chosen_);
}

SMDEBUG_INLINE void faster_way::took(way which, double seconds, std::uint64_t amount) noexcept {
    if (amount == 0) {
        return;
    }
    const double cost = seconds / static_cast<double>(amount);
    if (begins()) {
        for (std::size_t i = 0; i < (amount < telling ? 1 : turns); ++i) {
            ways_[which].add(cost);
        }
        if (!begins()) {
            choose(ways_[other].least() < worth_it * ways_[usual].least() ? other : usual);
        }
    } else if (which == chosen_) {
        ways_[which].add(cost);
        left_ -= left_ > 0 ? 1 : 0;
    } else if (cost < worth_it * ways_[chosen_].least()) {
        ways_[which] = {};
        ways_[which].add(cost);
        ways_[which].add(cost);
        choose(which);
    } else {
        pause_ = std::min(2 * pause_, longest_pause);
        left_ = pause_;
    }
}

SMDEBUG_INLINE void faster_way::choose(way which) noexcept {
    chosen_ = which;
    pause_ = first_pause;
    left_ = pause_;
}

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
