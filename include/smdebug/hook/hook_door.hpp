// What code of the library that saves tensors by itself asks of a hook: whether anything is due before any name is made,
// how to hand over what was reduced on a device or is still on its way from there, steps that are written again.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/hook/file_sink.hpp>
#include <smdebug/hook/hook.hpp>
#include <smdebug/hook/tensor_adapter.hpp>
#include <smdebug/tensor/tensor_view.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace smdebug::inline v1::detail {

class hook_call;

/// A hook, for as long as it exists.  Every function throws what the hook's own calls throw, and value_error if the hook
/// was destroyed; those that are noexcept do nothing then.
class hook_door {
public:
    explicit hook_door(hook_base& to);

    [[nodiscard]] hook_base& hook() const;
    [[nodiscard]] bool is_open() const noexcept { return *link_ != nullptr; }

    /// Whether anything may be due in the current step.  Cost: some nanoseconds.
    [[nodiscard]] bool anything_due() const;

    /// A tensor's place among the hook's names; it is valid as long as the hook.  place_of() alone does not make it one
    /// of hook_base::unsaved_tensors().
    class place {
    public:
        [[nodiscard]] bool known() const noexcept { return entry_ != nullptr; }

    private:
        friend class hook_door;
        const void* entry_ = nullptr;
    };
    [[nodiscard]] place place_of(std::string_view name) const;
    /// should_save(name), without looking it up.
    [[nodiscard]] bool due(place tensor, std::string_view name) const;

    /// What is due of a tensor whose elements are not; unset if they are due, or nothing is.
    [[nodiscard]] std::optional<due_numbers> numbers_alone(std::string_view name) const;
    /// Numbers as the hook computes them, to the bit.
    [[nodiscard]] tensor_numbers compute(const tensor_view& tensor, const due_numbers& due) const;
    bool save_numbers(std::string_view name, std::span<const std::size_t> shape, const tensor_numbers& numbers) const;
    /// save_tensor(), under any name.  `late`: the elements are on their way; name and shape are borrowed for the call.
    bool save(std::string_view name, const tensor_view& tensor, std::span<const std::string_view> into = {},
              const late_elements* late = nullptr) const;
    /// save_scalar(), under any name.
    void save_scalar(std::string_view name, const tensor_view& value) const;

    /// set_step(), for a caller that may write the last step again.
    void set_step(step_number global, step_number in_mode) const;
    /// The step's files were removed.
    void forget(step_number step) const;

    /// Says a sentence once: to on_note, else on standard error.
    void say(const std::string& sentence) const noexcept;

    /// Claims a name for a tensor that is saved at every step.  Returns null if the tensor has it now; else what is in
    /// the way: the tensor that has the name, or `tensor` itself, if it has another name.
    [[nodiscard]] const void* claim(const std::string& name, const void* tensor) const;
    void release(const std::string& name) const noexcept;

    /// Ends the run as an exception that destroys the hook does: it can be resumed, and the begun step is lost.
    void close_unfinished() const noexcept;

private:
    [[nodiscard]] hook_call call() const;

    std::shared_ptr<hook_base*> link_;  // null in it when the hook is gone
};

}  // namespace smdebug::inline v1::detail

#ifndef SMDEBUG_COMPILED
#include <smdebug/hook/impl/hook_door.ipp>
#endif
