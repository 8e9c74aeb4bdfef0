// The bodies of <smdebug/hook/basic_hook.hpp> that are templates.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/hook/basic_hook.hpp>
#include <smdebug/hook/collection_set.hpp>
#include <smdebug/hook/hook_core.hpp>
#include <smdebug/hook/hook_json.hpp>
#include <smdebug/hook/run_writer.hpp>
#include <smdebug/hook/tensor_name.hpp>

#include <utility>

namespace smdebug {
inline namespace v1 {

template <writable_storage Storage, reduction_kernel Kernel, wall_clock Clock>
basic_hook<Storage, Kernel, Clock>::basic_hook(const hook_options& options, Kernel kernel, Clock clock)
    requires detail::named_storage<Storage>
    : core_(std::make_unique<detail::hook_core<Storage, Kernel, Clock>>(opened(options), options, std::move(kernel),
                                                                        std::move(clock))) {}

template <writable_storage Storage, reduction_kernel Kernel, wall_clock Clock>
basic_hook<Storage, Kernel, Clock>::basic_hook(Storage store, hook_options options, Kernel kernel, Clock clock)
    : core_(std::make_unique<detail::hook_core<Storage, Kernel, Clock>>(std::move(store), std::move(options),
                                                                        std::move(kernel), std::move(clock))) {}

template <writable_storage Storage, reduction_kernel Kernel, wall_clock Clock>
basic_hook<Storage, Kernel, Clock> basic_hook<Storage, Kernel, Clock>::from_json_file(std::optional<std::string> path)
    requires detail::named_storage<Storage>
{
    return basic_hook(hook_options_from_json_file(std::move(path)));
}

template <writable_storage Storage, reduction_kernel Kernel, wall_clock Clock>
basic_hook<Storage, Kernel, Clock>::~basic_hook() {
    try {
        if (std::uncaught_exceptions() > exceptions_) {
            core_->close_unfinished();
        } else {
            close();
        }
    } catch (...) {
        // close() reports them.
    }
}

template <writable_storage Storage, reduction_kernel Kernel, wall_clock Clock>
void basic_hook<Storage, Kernel, Clock>::set_mode(mode which) {
    const one_call call{*this};
    core_->set_mode(which);
}

template <writable_storage Storage, reduction_kernel Kernel, wall_clock Clock>
mode basic_hook<Storage, Kernel, Clock>::current_mode() const noexcept {
    return core_->now().mode;
}

template <writable_storage Storage, reduction_kernel Kernel, wall_clock Clock>
step_number basic_hook<Storage, Kernel, Clock>::step() const noexcept {
    return core_->now().step;
}

template <writable_storage Storage, reduction_kernel Kernel, wall_clock Clock>
step_number basic_hook<Storage, Kernel, Clock>::mode_step() const noexcept {
    return core_->now().mode_step;
}

template <writable_storage Storage, reduction_kernel Kernel, wall_clock Clock>
void basic_hook<Storage, Kernel, Clock>::set_step(step_number global, std::optional<step_number> in_mode) {
    const one_call call{*this};
    if (core_->last_written() == global && core_->now().step != global) {
        throw value_error("step " + std::to_string(global) +
                          " has just been written, and would be replaced: modes share the global numbers, so give "
                          "this step the next one, and its number in the mode as the second argument");
    }
    const auto older = in_mode ? core_->written().global_of(current_mode(), *in_mode) : std::nullopt;
    if (older && *older < global) {
        throw value_error(detail::written_already(current_mode(), *in_mode, *older));
    }
    core_->set_step(global, in_mode);
}

template <writable_storage Storage, reduction_kernel Kernel, wall_clock Clock>
void basic_hook<Storage, Kernel, Clock>::end_step() {
    const one_call call{*this};
    core_->end_step();
}

template <writable_storage Storage, reduction_kernel Kernel, wall_clock Clock>
void basic_hook<Storage, Kernel, Clock>::abandon_step() {
    const one_call call{*this};
    core_->abandon_step();
}

template <writable_storage Storage, reduction_kernel Kernel, wall_clock Clock>
bool basic_hook<Storage, Kernel, Clock>::step_is_lost() const noexcept {
    return core_->step_is_lost();
}

template <writable_storage Storage, reduction_kernel Kernel, wall_clock Clock>
bool basic_hook<Storage, Kernel, Clock>::should_save(std::string_view name) {
    const one_call call{*this};
    return core_->should_save(name);
}

template <writable_storage Storage, reduction_kernel Kernel, wall_clock Clock>
bool basic_hook<Storage, Kernel, Clock>::should_save(std::string_view name, const collection_names& into) {
    const one_call call{*this};
    detail::check_tensor_name(name);
    return core_->should_save(name, into.get());
}

template <writable_storage Storage, reduction_kernel Kernel, wall_clock Clock>
bool basic_hook<Storage, Kernel, Clock>::save_tensor(std::string_view name, const tensor_view& tensor,
                                                     const collection_names& into) {
    const one_call call{*this};
    detail::check_tensor_name(name);
    check(tensor, name);
    return core_->take(name, tensor, into.get());
}

template <writable_storage Storage, reduction_kernel Kernel, wall_clock Clock>
void basic_hook<Storage, Kernel, Clock>::save_everything_next_step() {
    const one_call call{*this};
    core_->save_everything_next_step();
}

template <writable_storage Storage, reduction_kernel Kernel, wall_clock Clock>
void basic_hook<Storage, Kernel, Clock>::close() {
    const one_call call{*this};
    core_->close();
}

template <writable_storage Storage, reduction_kernel Kernel, wall_clock Clock>
void basic_hook<Storage, Kernel, Clock>::flush() {
    const one_call call{*this};
    core_->flush();
}

template <writable_storage Storage, reduction_kernel Kernel, wall_clock Clock>
const hook_counters& basic_hook<Storage, Kernel, Clock>::counters() const noexcept {
    return core_->counters();
}

template <writable_storage Storage, reduction_kernel Kernel, wall_clock Clock>
const hook_options& basic_hook<Storage, Kernel, Clock>::options() const noexcept {
    return core_->options();
}

template <writable_storage Storage, reduction_kernel Kernel, wall_clock Clock>
std::vector<std::string> basic_hook<Storage, Kernel, Clock>::unmatched_collections() const {
    const one_call call{*this};
    return core_->unmatched_collections();
}

template <writable_storage Storage, reduction_kernel Kernel, wall_clock Clock>
std::vector<std::string> basic_hook<Storage, Kernel, Clock>::unsaved_tensors() const {
    const one_call call{*this};
    return core_->unsaved_tensors();
}

template <writable_storage Storage, reduction_kernel Kernel, wall_clock Clock>
void basic_hook<Storage, Kernel, Clock>::add_observer(std::shared_ptr<hook_observer> observer) {
    const one_call call{*this};
    core_->add_observer(std::move(observer));
}

template <writable_storage Storage, reduction_kernel Kernel, wall_clock Clock>
void basic_hook<Storage, Kernel, Clock>::check_process() const {
    if (!home_.is_here()) {
        throw unsupported("this hook belongs to the process " + std::to_string(home_.number()) +
                          ", of which this one was forked: only that one can use it; make another hook here, for "
                          "another run or worker");
    }
}

template <writable_storage Storage, reduction_kernel Kernel, wall_clock Clock>
basic_hook<Storage, Kernel, Clock>::one_call::one_call(const basic_hook& called) : held_(&called.caller_) {
    called.check_process();
    const std::thread::id here = std::this_thread::get_id();
    std::thread::id holder{};
    if (held_->compare_exchange_strong(holder, here, std::memory_order_acquire, std::memory_order_relaxed)) {
        return;
    }
    if (holder != here) {
        throw value_error(
            "two threads use this hook at once: this call changed nothing; give each thread a hook of its own, with "
            "another worker's name, or put a lock around the calls");
    }
    held_ = nullptr;
}

template <writable_storage Storage, reduction_kernel Kernel, wall_clock Clock>
basic_hook<Storage, Kernel, Clock>::one_call::~one_call() {
    if (held_ != nullptr) {
        held_->store(std::thread::id{}, std::memory_order_release);
    }
}

template <writable_storage Storage, reduction_kernel Kernel, wall_clock Clock>
void basic_hook<Storage, Kernel, Clock>::check_call(std::string_view name) const {
    check_process();
    detail::check_tensor_name(name);
}

template <writable_storage Storage, reduction_kernel Kernel, wall_clock Clock>
Storage basic_hook<Storage, Kernel, Clock>::opened(const hook_options& options) {
    if (options.out_dir.empty()) {
        throw value_error("out_dir is empty: say where the run is to be written");
    }
    return detail::opened<Storage>(options.out_dir);
}

template <writable_storage Storage, reduction_kernel Kernel, wall_clock Clock>
bool basic_hook<Storage, Kernel, Clock>::should_be_taken(std::string_view name,
                                                         std::span<const std::string_view> into) {
    const one_call call{*this};
    return core_->should_save(name, into);
}

template <writable_storage Storage, reduction_kernel Kernel, wall_clock Clock>
bool basic_hook<Storage, Kernel, Clock>::take(std::string_view name, const tensor_view& tensor,
                                              std::span<const std::string_view> into) {
    const one_call call{*this};
    return core_->take(name, tensor, into);
}

template <writable_storage Storage, reduction_kernel Kernel, wall_clock Clock>
void basic_hook<Storage, Kernel, Clock>::take_scalar(std::string_view name, const tensor_view& value) {
    const one_call call{*this};
    core_->take_scalar(name, value);
}

}  // namespace v1
}  // namespace smdebug
