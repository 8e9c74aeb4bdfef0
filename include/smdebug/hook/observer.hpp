// The interface of observers of a hook's steps and tensors, such as rules inside the training process.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/tensor/tensor_view.hpp>

#include <deque>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

namespace smdebug::inline v1 {

/// The current step of a hook.
struct hook_step {
    step_number step = 0;
    smdebug::mode mode = smdebug::mode::global;
    step_number mode_step = 0;
};

/// Called with a hook's steps and tensors, on the thread that calls the hook.  Its exceptions propagate out of the
/// hook's call.
class hook_observer {
public:
    hook_observer() = default;
    hook_observer(const hook_observer&) = delete;
    hook_observer& operator=(const hook_observer&) = delete;
    virtual ~hook_observer() = default;

    /// Whether the observer wants any tensor of this step; called once a step, and again when its mode has changed.
    [[nodiscard]] virtual bool wants(const hook_step& step) = 0;
    /// Whether it wants this tensor of the step last passed to the function above.
    [[nodiscard]] virtual bool wants(std::string_view tensor) = 0;
    /// A wanted tensor.  Borrows: the tensor, for the call.
    virtual void see(std::string_view name, const tensor_view& tensor,
                     std::span<const std::string_view> collections) = 0;
    /// The step is over: its files, if any, are written, pending or lost.  Not called for an abandoned step.
    virtual void end_step(const hook_step& step) = 0;
};

namespace detail {

/// A hook's observers, and which of them want tensors of the current step.
class observer_list {
public:
    void add(std::shared_ptr<hook_observer> observer) { all_.push_back({std::move(observer), false, false}); }

    [[nodiscard]] bool empty() const noexcept { return all_.empty(); }

    /// Queries the observers about the current step.
    void begin_step(const hook_step& step);

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

}  // namespace detail
}  // namespace smdebug::inline v1

#ifndef SMDEBUG_COMPILED
#include <smdebug/hook/impl/observer.ipp>
#endif
