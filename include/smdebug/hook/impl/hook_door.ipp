// The bodies of <smdebug/hook/hook_door.hpp>.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/hook/failure_log.hpp>
#include <smdebug/hook/hook_door.hpp>
#include <smdebug/hook/hook_state.hpp>
#include <smdebug/hook/save_arguments.hpp>
#include <smdebug/reduce/digest.hpp>

namespace smdebug::inline v1::detail {

SMDEBUG_INLINE hook_door::hook_door(hook_base& to) : link_(to.state_->link) {}

SMDEBUG_INLINE hook_base& hook_door::hook() const {
    if (!is_open()) {
        throw value_error("the hook was destroyed before what watches a module for it: destroy the watch first");
    }
    return **link_;
}

SMDEBUG_INLINE hook_call hook_door::call() const { return hook_call{*hook().state_}; }

SMDEBUG_INLINE bool hook_door::anything_due() const { return call()->anything_due(); }

SMDEBUG_INLINE hook_door::place hook_door::place_of(std::string_view name) const {
    const hook_call at = call();
    check_tensor_name(name);
    place found;
    found.entry_ = &at->collections.of(name);
    at->collections.note_watched(name);
    return found;
}

SMDEBUG_INLINE bool hook_door::due(place tensor, std::string_view name) const {
    const hook_call at = call();
    const auto& entry = *static_cast<const collection_set::membership*>(tensor.entry_);
    return at->anything_due() && ((at->collections.due(entry) && at->run.writes()) || at->observers_want(name));
}

SMDEBUG_INLINE std::optional<due_numbers> hook_door::numbers_alone(std::string_view name) const {
    return hook().numbers_alone(name, {});
}

SMDEBUG_INLINE tensor_numbers hook_door::compute(const tensor_view& tensor, const due_numbers& due) const {
    const hook_call at = call();
    tensor_numbers numbers;
    if (!due.reductions.empty()) {
        if (const auto values = at->kernel.reduce(tensor, due.reductions)) {
            numbers.reductions = *values;
        }
    }
    if (due.digest && has_digest(tensor.type)) {
        numbers.digest = digest_of(tensor, at->kernel);
    }
    return numbers;
}

SMDEBUG_INLINE bool hook_door::save_numbers(std::string_view name, std::span<const std::size_t> shape,
                                            const tensor_numbers& numbers) const {
    return hook().save_numbers(name, shape, numbers, {});
}

SMDEBUG_INLINE bool hook_door::save(std::string_view name, const tensor_view& tensor,
                                    std::span<const std::string_view> into, const late_elements* late) const {
    const hook_call at = call();
    check(tensor, name);
    return at->take(name, tensor, into, {.numbers = nullptr, .late = late});
}

SMDEBUG_INLINE void hook_door::save_scalar(std::string_view name, const tensor_view& value) const {
    call()->take_scalar(name, value);
}

SMDEBUG_INLINE void hook_door::set_step(step_number global, step_number in_mode) const {
    call()->set_step(global, in_mode);
}

SMDEBUG_INLINE void hook_door::forget(step_number step) const { call()->run.forget(step); }

SMDEBUG_INLINE void hook_door::say(const std::string& sentence) const noexcept {
    try {
        if (is_open()) {
            report_note(hook().options(), sentence);
        }
    } catch (...) {  // out of memory: the sentence is lost, the training is not
    }
}

SMDEBUG_INLINE const void* hook_door::claim(const std::string& name, const void* tensor) const {
    hook_state& at = *hook().state_;
    if (at.claimed_tensors.contains(tensor)) {
        return tensor;
    }
    const auto [owner, is_new] = at.claimed.try_emplace(name, tensor);
    if (!is_new) {
        return owner->second;
    }
    at.claimed_tensors.insert(tensor);
    return nullptr;
}

SMDEBUG_INLINE void hook_door::release(const std::string& name) const noexcept {
    if (!is_open()) {
        return;
    }
    hook_state& at = *(*link_)->state_;
    if (const auto owner = at.claimed.find(name); owner != at.claimed.end()) {
        at.claimed_tensors.erase(owner->second);
        at.claimed.erase(owner);
    }
}

SMDEBUG_INLINE void hook_door::close_unfinished() const noexcept {
    if (is_open()) {
        (*link_)->state_->close_unfinished();
    }
}

}  // namespace smdebug::inline v1::detail
