// The bodies of <smdebug/hook/hook_door.hpp>.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/hook/failure_log.hpp>
#include <smdebug/hook/hook_core.hpp>
#include <smdebug/hook/hook_door.hpp>
#include <smdebug/hook/save_arguments.hpp>
#include <smdebug/reduce/any_kernel.hpp>
#include <smdebug/reduce/digest.hpp>

namespace smdebug::inline v1::detail {

SMDEBUG_INLINE hook_base& hook_door::hook() const {
    if (link_->hook() == nullptr) {
        throw value_error("the hook was destroyed before what watches a module for it: destroy the watch first");
    }
    return *link_->hook();
}

SMDEBUG_INLINE bool hook_door::is_open() const noexcept { return link_->hook() != nullptr; }

SMDEBUG_INLINE bool hook_door::anything_due() const {
    hook_base& at = hook();
    const hook_base::one_call call{at};
    return at.core_->anything_due();
}

SMDEBUG_INLINE hook_door::place hook_door::place_of(std::string_view name) const {
    hook_base& at = hook();
    const hook_base::one_call call{at};
    check_tensor_name(name);
    place found;
    found.entry_ = &at.core_->entry_of(name);
    at.core_->excuse(name);
    return found;
}

SMDEBUG_INLINE bool hook_door::due(place tensor, std::string_view name) const {
    hook_base& at = hook();
    const hook_base::one_call call{at};
    return at.core_->due(*static_cast<const collection_set::membership*>(tensor.entry_), name);
}

SMDEBUG_INLINE std::optional<due_numbers> hook_door::numbers_alone(std::string_view name) const {
    return hook().numbers_alone(name, {});
}

SMDEBUG_INLINE tensor_numbers hook_door::compute(const tensor_view& tensor, const due_numbers& due) const {
    hook_base& at = hook();
    const hook_base::one_call call{at};
    const any_kernel& kernel = at.core_->kernel();
    tensor_numbers numbers;
    if (!due.reductions.empty()) {
        if (const auto values = kernel.reduce(tensor, due.reductions)) {
            numbers.reductions = *values;
        }
    }
    if (due.digest && has_digest(tensor.type)) {
        numbers.digest = digest_of(tensor, kernel);
    }
    return numbers;
}

SMDEBUG_INLINE bool hook_door::take(std::string_view name, const tensor_view& tensor) const {
    return hook().take_checked(name, tensor, {});
}

SMDEBUG_INLINE bool hook_door::take_late(std::string_view name, const tensor_view& tensor,
                                         const late_elements& late) const {
    hook_base& at = hook();
    const hook_base::one_call call{at};
    check(tensor, name);
    return at.core_->take(name, tensor, {}, {.numbers = nullptr, .late = &late});
}

SMDEBUG_INLINE bool hook_door::take_numbers(std::string_view name, std::span<const std::size_t> shape,
                                            const tensor_numbers& numbers) const {
    return hook().take_numbers(name, shape, numbers, {});
}

SMDEBUG_INLINE bool hook_door::is_background() const { return hook().options().background.pool_bytes != 0; }

SMDEBUG_INLINE void hook_door::say(const std::string& sentence) const noexcept {
    try {
        if (is_open()) {
            report_note(hook().options(), sentence);
        }
    } catch (...) {  // out of memory: the sentence is lost, the training is not
    }
}

SMDEBUG_INLINE const void* hook_door::claim(const std::string& name, const void* tensor) const {
    return link_->claim(name, tensor);
}

SMDEBUG_INLINE void hook_door::release(const std::string& name) const noexcept { link_->release(name); }

SMDEBUG_INLINE void hook_door::close_unfinished() const noexcept {
    if (is_open()) {
        link_->hook()->core_->close_unfinished();
    }
}

}  // namespace smdebug::inline v1::detail
