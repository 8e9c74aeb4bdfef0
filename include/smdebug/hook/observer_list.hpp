// A hook's observers, and which of them want tensors of the current step.
#pragma once

#include <smdebug/core/ordered_thread_pool.hpp>
#include <smdebug/hook/observer.hpp>

#include <cstddef>
#include <deque>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace smdebug::inline v1::detail {

/// The observers of one hook, in the order in which they were added.
class observer_list {
public:
    void add(std::shared_ptr<hook_observer> observer) { all_.push_back({std::move(observer), false, false}); }

    [[nodiscard]] bool empty() const noexcept { return all_.empty(); }

    /// Queries the observers about the current step.
    void begin_step(const hook_step& step);

    /// Whether an observer wants any tensor of the current step.
    [[nodiscard]] bool want_any() const noexcept { return interested_; }
    /// Whether an observer wants this tensor of the current step.
    [[nodiscard]] bool want(std::string_view tensor) const;

    /// Passes a tensor to the observers that want it; returns whether there were any.
    bool show(std::string_view name, const tensor_view& tensor, std::span<const std::string_view> collections) const;

    /// Calls end_step() of all observers queried about the step, even after one has thrown; then rethrows the first
    /// exception.
    void end_step(const hook_step& step);

    /// Drops the current step without calling end_step().
    void abandon_step() noexcept;

private:
    struct entry {
        std::shared_ptr<hook_observer> observer;
        bool asked = false;       // about the current step
        bool interested = false;  // in it
    };
    std::deque<entry> all_;  // an observer may add another while it is called
    bool interested_ = false;
};

inline void observer_list::begin_step(const hook_step& step) {
    interested_ = false;
    for (std::size_t i = 0; i < all_.size(); ++i) {
        entry& one = all_[i];
        one.asked = true;
        one.interested = one.observer->wants(step);
        interested_ = interested_ || one.interested;
    }
}

inline bool observer_list::want(std::string_view tensor) const {
    if (interested_) {
        for (std::size_t i = 0; i < all_.size(); ++i) {
            if (all_[i].interested && all_[i].observer->wants(tensor)) {
                return true;
            }
        }
    }
    return false;
}

inline bool observer_list::show(std::string_view name, const tensor_view& tensor,
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

inline void observer_list::end_step(const hook_step& step) {
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

inline void observer_list::abandon_step() noexcept {
    interested_ = false;
    for (entry& one : all_) {
        one.asked = false;
        one.interested = false;
    }
}

}  // namespace smdebug::inline v1::detail
