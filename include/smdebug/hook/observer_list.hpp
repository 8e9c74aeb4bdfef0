// The observers of a hook, asked no more often than need be.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/hook/observer.hpp>
#include <smdebug/tensor/tensor_view.hpp>

#include <deque>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// A hook's observers, and which of them want anything of the step at hand.
class observer_list {
public:
    void add(std::shared_ptr<hook_observer> observer) { all_.push_back({std::move(observer), false, false}); }

    [[nodiscard]] bool empty() const noexcept { return all_.empty(); }

    /// Asks them about the step at hand.
    void begin_step(const hook_step& step);

    /// Whether one of them wants this tensor of the step at hand.
    [[nodiscard]] bool want(std::string_view tensor) const;

    /// Shows a tensor to those who want it; returns whether any did.
    bool show(std::string_view name, const tensor_view& tensor, std::span<const std::string_view> collections) const;

    /// Calls end_step() of all that were asked about the step, also after one has thrown; then rethrows what the first
    /// one threw.
    void end_step(const hook_step& step);

    /// Drops the current step: end_step() is called of none.
    void abandon_step() noexcept;

private:
    struct entry {
        std::shared_ptr<hook_observer> who;
        bool asked = false;       // about the current step
        bool interested = false;  // in it
    };
    std::deque<entry> all_;  // one may add another while it is asked
    bool interested_ = false;
};

}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/hook/impl/observer_list.ipp>
#endif
