// The bodies of <smdebug/hook/observer.hpp>.
#pragma once

#include <smdebug/core/ordered_thread_pool.hpp>
#include <smdebug/hook/observer.hpp>

#include <cstddef>
#include <vector>

namespace smdebug::inline v1::detail {

SMDEBUG_INLINE void observer_list::begin_step(const hook_step& step) {
    interested_ = false;
    for (std::size_t i = 0; i < all_.size(); ++i) {
        entry& one = all_[i];
        one.asked = true;
        one.interested = one.observer->wants(step);
        interested_ = interested_ || one.interested;
    }
}

SMDEBUG_INLINE bool observer_list::want(std::string_view tensor) const {
    if (interested_) {
        for (std::size_t i = 0; i < all_.size(); ++i) {
            if (all_[i].interested && all_[i].observer->wants(tensor)) {
                return true;
            }
        }
    }
    return false;
}

SMDEBUG_INLINE bool observer_list::show(std::string_view name, const tensor_view& tensor,
                                        std::span<const std::string_view> collections) const {
    bool any = false;
    if (interested_) {
        for (std::size_t i = 0; i < all_.size(); ++i) {
            if (all_[i].interested && all_[i].observer->wants(name)) {
                all_[i].observer->see(name, tensor, collections);
                any = true;
            }
        }
    }
    return any;
}

SMDEBUG_INLINE void observer_list::end_step(const hook_step& step) {
    interested_ = false;
    std::vector<std::shared_ptr<hook_observer>> asked;  // a copy: end_step() may begin the next step
    for (entry& one : all_) {
        one.interested = false;
        if (std::exchange(one.asked, false)) {
            asked.push_back(one.observer);
        }
    }
    exception_collector failure;
    for (const auto& observer : asked) {
        failure.attempt([&] { observer->end_step(step); });
    }
    failure.rethrow();
}

SMDEBUG_INLINE void observer_list::abandon_step() noexcept {
    interested_ = false;
    for (entry& one : all_) {
        one.asked = false;
        one.interested = false;
    }
}

}  // namespace smdebug::inline v1::detail
