// The interface of observers of a hook's steps and tensors, such as rules inside the training process.
#pragma once

#include <smdebug/core/step.hpp>
#include <smdebug/tensor/tensor_view.hpp>

#include <span>
#include <string_view>

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

}  // namespace smdebug::inline v1
