// The bodies of <smdebug/hook/hook_core.hpp> that are templates.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/core/first_failure.hpp>
#include <smdebug/hook/closing_notes.hpp>
#include <smdebug/hook/file_sink.hpp>
#include <smdebug/hook/hook_core.hpp>
#include <smdebug/hook/reduction_plan.hpp>
#include <smdebug/index/locations.hpp>

#include <algorithm>
#include <utility>

namespace smdebug {
inline namespace v1 {
namespace detail {

template <writable_storage Storage, reduction_kernel Kernel, wall_clock Clock>
hook_core<Storage, Kernel, Clock>::hook_core(Storage store, hook_options options, Kernel kernel, Clock clock)
    : options_(std::move(options)),
      kernel_(std::move(kernel)),
      clock_(std::move(clock)),
      collections_(options_),
      run_(std::move(store), options_),
      steps_(run_.start().step, run_.start().mode_steps),
      losses_(options_) {
    if (run_.earlier_collections()) {
        collections_.adopt(*run_.earlier_collections());
    }
    losses_.counters().removed_uploads = run_.removed_uploads();
}

template <writable_storage Storage, reduction_kernel Kernel, wall_clock Clock>
void hook_core<Storage, Kernel, Clock>::set_mode(mode which) {
    looked_ = !steps_.set_mode(which) && looked_;
    over_ = false;
}

template <writable_storage Storage, reduction_kernel Kernel, wall_clock Clock>
const hook_step& hook_core<Storage, Kernel, Clock>::now() const noexcept {
    return steps_.now();
}

template <writable_storage Storage, reduction_kernel Kernel, wall_clock Clock>
void hook_core<Storage, Kernel, Clock>::set_step(step_number global, std::optional<step_number> in_mode) {
    if (tensors_ != 0 && global != now().step) {
        throw value_error("step " + std::to_string(now().step) +
                          " has begun: end or abandon it before another number is set");
    }
    steps_.set_step(global, in_mode);
    looked_ = false;
    over_ = false;
}

template <writable_storage Storage, reduction_kernel Kernel, wall_clock Clock>
bool hook_core<Storage, Kernel, Clock>::should_save(std::string_view name, std::span<const std::string_view> into) {
    if (closed_) {
        return false;
    }
    look_at_step();
    return (due(name, into) != nullptr && !spoiled_) || observers_.want(name);
}

template <writable_storage Storage, reduction_kernel Kernel, wall_clock Clock>
void hook_core<Storage, Kernel, Clock>::save_everything_next_step() noexcept {
    everything_next_ = true;
}

template <writable_storage Storage, reduction_kernel Kernel, wall_clock Clock>
bool hook_core<Storage, Kernel, Clock>::step_is_lost() const noexcept {
    return spoiled_;
}

template <writable_storage Storage, reduction_kernel Kernel, wall_clock Clock>
void hook_core<Storage, Kernel, Clock>::flush() {
    run_.drain();
    note_lost();
}

template <writable_storage Storage, reduction_kernel Kernel, wall_clock Clock>
void hook_core<Storage, Kernel, Clock>::close_unfinished() noexcept {
    if (!std::exchange(closing_, true) && run_.is_own()) {
        closed_ = true;
        run_.close_unfinished();
    }
}

template <writable_storage Storage, reduction_kernel Kernel, wall_clock Clock>
const written_steps& hook_core<Storage, Kernel, Clock>::written() const noexcept {
    return run_.written();
}

template <writable_storage Storage, reduction_kernel Kernel, wall_clock Clock>
void hook_core<Storage, Kernel, Clock>::forget(step_number step) {
    run_.forget(step);
}

template <writable_storage Storage, reduction_kernel Kernel, wall_clock Clock>
std::optional<step_number> hook_core<Storage, Kernel, Clock>::last_written() const noexcept {
    return last_written_;
}

template <writable_storage Storage, reduction_kernel Kernel, wall_clock Clock>
const hook_counters& hook_core<Storage, Kernel, Clock>::counters() const noexcept {
    return losses_.counters();
}

template <writable_storage Storage, reduction_kernel Kernel, wall_clock Clock>
const hook_options& hook_core<Storage, Kernel, Clock>::options() const noexcept {
    return options_;
}

template <writable_storage Storage, reduction_kernel Kernel, wall_clock Clock>
std::vector<std::string> hook_core<Storage, Kernel, Clock>::unmatched_collections() const {
    return collections_.unmatched();
}

template <writable_storage Storage, reduction_kernel Kernel, wall_clock Clock>
std::vector<std::string> hook_core<Storage, Kernel, Clock>::unsaved_tensors() const {
    return collections_.unsaved();
}

template <writable_storage Storage, reduction_kernel Kernel, wall_clock Clock>
void hook_core<Storage, Kernel, Clock>::add_observer(std::shared_ptr<hook_observer> observer) {
    observers_.add(std::move(observer));
    looked_ = false;
}

template <writable_storage Storage, reduction_kernel Kernel, wall_clock Clock>
void hook_core<Storage, Kernel, Clock>::refuse_when_closed() const {
    if (closed_) {
        throw unsupported("the hook is closed: nothing can be saved any more");
    }
}

template <writable_storage Storage, reduction_kernel Kernel, wall_clock Clock>
void hook_core<Storage, Kernel, Clock>::look_at_step() {
    if (!looked_) {
        if (!std::exchange(begun_, true)) {
            everything_ = std::exchange(everything_next_, false);
            collections_.save_everything(everything_);
        }
        any_due_ = collections_.begin_step(now().mode, now().mode_step) && run_.writes();
        observers_.begin_step(now());
        looked_ = true;
    }
}

template <writable_storage Storage, reduction_kernel Kernel, wall_clock Clock>
const collection_set::membership* hook_core<Storage, Kernel, Clock>::due(std::string_view name,
                                                                         std::span<const std::string_view> into) {
    const collection_set::membership* tensor = nullptr;
    if (!into.empty()) {
        tensor = &collections_.add(name, into);
        any_due_ = run_.writes() && collections_.any_due();  // a new collection may be
    } else if (any_due_) {
        tensor = &collections_.of(name);
    }
    return any_due_ && collections_.due(*tensor) ? tensor : nullptr;
}

template <writable_storage Storage, reduction_kernel Kernel, wall_clock Clock>
record_stamp hook_core<Storage, Kernel, Clock>::stamp() {
    return {.wall_time = clock_.now().count(), .step = now().step, .mode = now().mode, .mode_step = now().mode_step};
}

// Bodies ---------------------------------------------------------------------------------------------------------
template <writable_storage Storage, reduction_kernel Kernel, wall_clock Clock>
bool hook_core<Storage, Kernel, Clock>::take(std::string_view name, const tensor_view& tensor,
                                             std::span<const std::string_view> into) {
    refuse_when_closed();
    look_at_step();
    const collection_set::membership* const belongs_to = due(name, into);
    const bool is_written = belongs_to != nullptr && write(name, tensor, *belongs_to);
    const bool is_shown = observers_.show(name, tensor, into);
    if (is_shown && belongs_to == nullptr) {
        collections_.note_watched(name);
    }
    return is_shown || is_written;
}

template <writable_storage Storage, reduction_kernel Kernel, wall_clock Clock>
void hook_core<Storage, Kernel, Clock>::take_scalar(std::string_view name, const tensor_view& tensor) {
    refuse_when_closed();
    look_at_step();
    const record_stamp now = stamp();
    ++tensors_;
    guarded([&] {
        written_ += note(run_.add_tensor(name, tensor, now), name, tensor) ? 1U : 0U;
        run_.show_scalar(now, name, tensor);
    });
    observers_.show(name, tensor, {});
}

template <writable_storage Storage, reduction_kernel Kernel, wall_clock Clock>
bool hook_core<Storage, Kernel, Clock>::write(std::string_view name, const tensor_view& tensor,
                                              const collection_set::membership& belongs_to) {
    const reduction_plan& plan = collections_.due_plan(belongs_to);
    const record_stamp now = stamp();
    ++tensors_;
    bool any = false;
    guarded([&] {
        any = plan.shape;
        if (!plan.wanted.empty()) {
            if (const auto values = kernel_.reduce(tensor, plan.wanted)) {  // texts have none
                reduction_records& records = reductions_[&belongs_to];
                records.update(name, plan.order, *values, now, options_.payload_checksum);
                any = (note(run_.add_records(records, now), name, tensor) && !records.records().empty()) || any;
            }
        }
        if (plan.shape) {
            run_.add_shape(name, tensor.shape, now);
        }
        if (plan.raw || everything_) {
            any = note(run_.add_tensor(name, tensor, now), name, tensor) || any;
        }
        written_ += any ? 1U : 0U;
        run_.show_tensor(now, name, tensor, collections_, belongs_to, kernel_);
    });
    return any && !spoiled_;
}

template <writable_storage Storage, reduction_kernel Kernel, wall_clock Clock>
bool hook_core<Storage, Kernel, Clock>::note(added outcome, std::string_view name, const tensor_view& tensor) {
    switch (outcome) {
        case added::written:
            return true;
        case added::no_room:
            losses_.note_dropped("\"" + std::string{name} + "\" of step " + std::to_string(now().step) +
                                 " is dropped: there is no room for it in the pool of " +
                                 std::to_string(options_.background.pool_bytes) + " bytes");
            return false;
        case added::too_large:
            throw detail::tensor_too_large(name, tensor.bytes.size(), now().step);
    }
    return false;
}

template <writable_storage Storage, reduction_kernel Kernel, wall_clock Clock>
void hook_core<Storage, Kernel, Clock>::end_step() {
    refuse_when_closed();
    // Whatever fails, the step is over: counting goes on, and everybody is told, before anything is thrown.
    first_failure failure;
    const bool asked = begun_;
    failure.attempt([&] { look_at_step(); });  // observers are told of steps in which nothing was saved, too
    failure.attempt([&] { finish_files(); });
    failure.attempt([&] {
        if (failure_) {
            std::rethrow_exception(failure_);
        }
    });
    undue_steps_ += asked && !any_due_ ? 1U : 0U;
    losses_.counters().unsaved_tensors = collections_.unsaved_count();
    const hook_step ended = now();
    next_step();
    failure.attempt([&] { note_lost(); });
    failure.attempt([&] { observers_.end_step(ended); });
    over_ = failure.happened() && !begun_;  // an observer may have begun the next one
    failure.rethrow();
}

template <writable_storage Storage, reduction_kernel Kernel, wall_clock Clock>
void hook_core<Storage, Kernel, Clock>::abandon_step() {
    refuse_when_closed();
    if (std::exchange(over_, false) && !begun_) {
        return;
    }
    if (tensors_ != 0 && !spoiled_) {
        losses_.note_abandoned("step " + std::to_string(now().step) + " is lost: it was abandoned");
    }
    run_.abandon_step();
    observers_.abandon_step();
    everything_next_ = everything_next_ || everything_;  // whoever asked for it has not got it
    next_step();
}

template <writable_storage Storage, reduction_kernel Kernel, wall_clock Clock>
void hook_core<Storage, Kernel, Clock>::next_step() noexcept {
    steps_.advance();
    looked_ = false;
    tensors_ = 0;
    written_ = 0;
    spoiled_ = false;
    failure_ = nullptr;
    begun_ = false;
    everything_ = false;
}

template <writable_storage Storage, reduction_kernel Kernel, wall_clock Clock>
void hook_core<Storage, Kernel, Clock>::finish_files() {
    guarded([&] {
        const std::uint64_t bytes = run_.finish_step(collections_);
        if (bytes != 0) {
            last_written_ = now().step;
            hook_counters& counters = losses_.counters();
            ++counters.steps;
            counters.bytes += bytes;
            counters.tensors += written_;
        }
    });
    losses_.attempt([&] { run_.show_step([&] { return clock_.now().count(); }); },
                    [] { return "TensorBoard's files have to wait"; });
}

template <writable_storage Storage, reduction_kernel Kernel, wall_clock Clock>
void hook_core<Storage, Kernel, Clock>::close() {
    if (std::exchange(closing_, true) || !run_.is_own()) {
        return;
    }
    first_failure failure;  // what fails keeps nothing else from being done
    if (tensors_ != 0) {
        failure.attempt([&] { end_step(); });
    }
    closed_ = true;
    failure.attempt(
        [&] { losses_.attempt([&] { run_.close_tensorboard(); }, [] { return "TensorBoard's files are lost"; }); });
    failure.attempt([&] {
        losses_.attempt([&] { run_.close(collections_); }, [] { return "the end of the run is not written"; });
    });
    failure.attempt([&] { note_lost(); });
    tell_closing_notes(options_, collections_, counters(), observers_.empty() && run_.writes() ? undue_steps_ : 0,
                       run_.first_saved());
    failure.rethrow();
}

// What went wrong behind the training's back.
template <writable_storage Storage, reduction_kernel Kernel, wall_clock Clock>
void hook_core<Storage, Kernel, Clock>::note_lost() {
    const std::vector<lost_write> lost = run_.lost();
    if (lost.empty()) {
        return;
    }
    // The step at hand has not been counted as written, and will not be.
    const std::string at_hand =
        tensors_ != 0 && !spoiled_ ? locations::event_key(now().step, options_.worker) : std::string{};
    if (std::any_of(lost.begin(), lost.end(), [&](const lost_write& file) { return file.key == at_hand; })) {
        spoiled_ = true;
        run_.abandon_step();
    }
    losses_.note(lost, at_hand);
}

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
