// The bodies of <smdebug/hook/hook.hpp>.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/hook/collection_set.hpp>
#include <smdebug/hook/hook.hpp>
#include <smdebug/hook/hook_core.hpp>
#include <smdebug/hook/hook_json.hpp>
#include <smdebug/hook/run_writer.hpp>
#include <smdebug/hook/save_arguments.hpp>

#include <utility>

namespace smdebug::inline v1 {
namespace detail {

// The storage that options.out_dir names.  Errors: value_error if it is empty; those of opening the storage.
[[nodiscard]] inline any_storage opened_place(const hook_options& options, place_opener opener) {
    if (options.out_dir.empty()) {
        throw value_error("out_dir is empty: say where the run is to be written");
    }
    return opener(options.out_dir);
}

}  // namespace detail

SMDEBUG_INLINE hook_base::hook_base(any_storage store, hook_options options, detail::any_kernel kernel,
                                    detail::any_clock clock, detail::place_opener opener)
    : core_(std::make_unique<detail::hook_core>(std::move(store), std::move(options), std::move(kernel),
                                                std::move(clock), opener)),
      link_(std::make_shared<detail::hook_link>(*this)) {}

SMDEBUG_INLINE hook_base::hook_base(const hook_options& options, detail::any_kernel kernel, detail::any_clock clock,
                                    detail::place_opener opener)
    : hook_base(detail::opened_place(options, opener), options, std::move(kernel), std::move(clock), opener) {}

SMDEBUG_INLINE hook_base::~hook_base() {
    link_->hook_is_gone();
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

SMDEBUG_INLINE hook_options hook_base::options_of_json_file(std::optional<std::string> path) {
    return hook_options_from_json_file(std::move(path));
}

SMDEBUG_INLINE void hook_base::set_mode(mode which) {
    const one_call call{*this};
    core_->set_mode(which);
}

SMDEBUG_INLINE mode hook_base::current_mode() const noexcept { return core_->now().mode; }

SMDEBUG_INLINE step_number hook_base::step() const noexcept { return core_->now().step; }

SMDEBUG_INLINE step_number hook_base::mode_step() const noexcept { return core_->now().mode_step; }

SMDEBUG_INLINE void hook_base::set_step(step_number global, std::optional<step_number> in_mode) {
    const one_call call{*this};
    if (core_->last_written() == global && core_->now().step != global) {
        throw value_error("step " + std::to_string(global) +
                          " has just been written, and would be replaced: modes share the global numbers, so give "
                          "this step the next one, and its number in the mode as the second argument");
    }
    const auto older = in_mode ? core_->written().global_of(current_mode(), *in_mode) : std::nullopt;
    if (older && *older < global) {
        throw value_error(detail::already_written_message(current_mode(), *in_mode, *older));
    }
    core_->set_step(global, in_mode);
}

SMDEBUG_INLINE void hook_base::end_step() {
    const one_call call{*this};
    core_->end_step();
}

SMDEBUG_INLINE void hook_base::abandon_step() {
    const one_call call{*this};
    core_->abandon_step();
}

SMDEBUG_INLINE bool hook_base::step_is_lost() const noexcept { return core_->step_is_lost(); }

SMDEBUG_INLINE bool hook_base::should_save(std::string_view name) {
    const one_call call{*this};
    return core_->should_save(name);
}

SMDEBUG_INLINE bool hook_base::should_save(std::string_view name, const collection_names& into) {
    const one_call call{*this};
    detail::check_tensor_name(name);
    return core_->should_save(name, into.get());
}

SMDEBUG_INLINE bool hook_base::save_tensor(std::string_view name, const tensor_view& tensor,
                                           const collection_names& into) {
    const one_call call{*this};
    detail::check_tensor_name(name);
    check(tensor, name);
    return core_->take(name, tensor, into.get());
}

SMDEBUG_INLINE void hook_base::save_everything_next_step() {
    const one_call call{*this};
    core_->save_everything_next_step();
}

SMDEBUG_INLINE void hook_base::close() {
    const one_call call{*this};
    core_->close();
}

SMDEBUG_INLINE void hook_base::flush() {
    const one_call call{*this};
    core_->flush();
}

SMDEBUG_INLINE const hook_counters& hook_base::counters() const noexcept { return core_->counters(); }

SMDEBUG_INLINE const hook_options& hook_base::options() const noexcept { return core_->options(); }

SMDEBUG_INLINE std::vector<std::string> hook_base::unmatched_collections() const {
    const one_call call{*this};
    return core_->unmatched_collections();
}

SMDEBUG_INLINE std::vector<std::string> hook_base::unsaved_tensors() const {
    const one_call call{*this};
    return core_->unsaved_tensors();
}

SMDEBUG_INLINE void hook_base::add_observer(std::shared_ptr<hook_observer> observer) {
    const one_call call{*this};
    core_->add_observer(std::move(observer));
}

SMDEBUG_INLINE void hook_base::check_process() const {
    if (!home_.is_here()) {
        throw unsupported("this hook belongs to the process " + std::to_string(home_.number()) +
                          ", of which this one was forked: only that one can use it; make another hook here, for "
                          "another run or worker");
    }
}

SMDEBUG_INLINE hook_base::one_call::one_call(const hook_base& called)
    : held_(&called.caller_), others_wait_(called.core_->options().threads == hook_threads::many) {
    called.check_process();
    const std::thread::id here = std::this_thread::get_id();
    std::thread::id holder{};
    while (!held_->compare_exchange_strong(holder, here, std::memory_order_acquire, std::memory_order_relaxed)) {
        if (holder == here || !others_wait_) {
            break;
        }
        held_->wait(holder, std::memory_order_relaxed);
        holder = {};
    }
    if (holder == std::thread::id{}) {
        return;
    }
    if (holder != here) {
        throw value_error(
            "two threads use this hook at once: this call changed nothing; give each thread a hook of its own, with "
            "another worker's name, or set hook_options::threads to many");
    }
    held_ = nullptr;
}

SMDEBUG_INLINE hook_base::one_call::~one_call() {
    if (held_ != nullptr) {
        held_->store(std::thread::id{}, std::memory_order_release);
        if (others_wait_) {
            held_->notify_one();
        }
    }
}

SMDEBUG_INLINE void hook_base::check_call(std::string_view name) const {
    check_process();
    detail::check_tensor_name(name);
}

SMDEBUG_INLINE bool hook_base::should_be_taken(std::string_view name, std::span<const std::string_view> into) {
    const one_call call{*this};
    return core_->should_save(name, into);
}

SMDEBUG_INLINE bool hook_base::take(std::string_view name, const tensor_view& tensor,
                                    std::span<const std::string_view> into) {
    const one_call call{*this};
    return core_->take(name, tensor, into);
}

SMDEBUG_INLINE bool hook_base::take_checked(std::string_view name, const tensor_view& tensor,
                                            std::span<const std::string_view> into) {
    const one_call call{*this};
    check(tensor, name);
    return core_->take(name, tensor, into);
}

SMDEBUG_INLINE std::optional<due_numbers> hook_base::numbers_alone(std::string_view name,
                                                                   std::span<const std::string_view> into) {
    const one_call call{*this};
    return core_->numbers_alone(name, into);
}

SMDEBUG_INLINE bool hook_base::take_numbers(std::string_view name, std::span<const std::size_t> shape,
                                            const tensor_numbers& numbers, std::span<const std::string_view> into) {
    const one_call call{*this};
    return core_->take_numbers(name, shape, numbers, into);
}

SMDEBUG_INLINE void hook_base::take_scalar(std::string_view name, const tensor_view& value) {
    const one_call call{*this};
    core_->take_scalar(name, value);
}

}  // namespace smdebug::inline v1
