// The bodies of <smdebug/hook/hook.hpp>.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/core/ordered_thread_pool.hpp>
#include <smdebug/hook/failure_log.hpp>
#include <smdebug/hook/hook.hpp>
#include <smdebug/hook/hook_json.hpp>
#include <smdebug/hook/hook_state.hpp>
#include <smdebug/hook/run_writer.hpp>
#include <smdebug/hook/save_arguments.hpp>

#include <algorithm>
#include <array>
#include <string>
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
    : state_(std::make_unique<detail::hook_state>(*this, std::move(store), std::move(options), std::move(kernel),
                                                  std::move(clock), opener)) {}

SMDEBUG_INLINE hook_base::hook_base(const hook_options& options, detail::any_kernel kernel, detail::any_clock clock,
                                    detail::place_opener opener)
    : hook_base(detail::opened_place(options, opener), options, std::move(kernel), std::move(clock), opener) {}

SMDEBUG_INLINE hook_base::~hook_base() {
    *state_->link = nullptr;
    try {
        if (std::uncaught_exceptions() > state_->exceptions) {
            state_->close_unfinished();
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
    const detail::hook_call at{*state_};
    const bool has_changed = at->steps.set_mode(which);
    if (detail::begun_step* const step = at->begun(); step == nullptr) {
        at->step = detail::untouched_step{};
    } else if (has_changed) {
        step->content = detail::step_content::unknown;
    }
}

SMDEBUG_INLINE mode hook_base::current_mode() const noexcept { return state_->now().mode; }

SMDEBUG_INLINE step_number hook_base::step() const noexcept { return state_->now().step; }

SMDEBUG_INLINE step_number hook_base::mode_step() const noexcept { return state_->now().mode_step; }

SMDEBUG_INLINE void hook_base::set_step(step_number global, std::optional<step_number> in_mode) {
    const detail::hook_call at{*state_};
    if (at->run.last_step() == global && step() != global) {
        throw value_error("step " + std::to_string(global) +
                          " has just been written, and would be replaced: modes share the global numbers, so give "
                          "this step the next one, and its number in the mode as the second argument");
    }
    const auto older = in_mode ? at->run.written().global_of(current_mode(), *in_mode) : std::nullopt;
    if (older && *older < global) {
        throw value_error(detail::already_written_message(current_mode(), *in_mode, *older));
    }
    at->set_step(global, in_mode);
}

SMDEBUG_INLINE void hook_base::end_step() {
    const detail::hook_call at{*state_};
    at->refuse_when_closed();
    // Whatever fails, the step is over: the count advances, and all observers are notified, before anything is thrown.
    detail::exception_collector failure;
    const bool was_asked = at->begun() != nullptr;
    failure.attempt([&] { at->look_at_step(); });  // observers are also notified of empty steps
    failure.attempt([&] { at->finish_files(); });
    if (const detail::begun_step* const step = at->begun()) {
        failure.attempt([&] {
            if (step->loss && *step->loss) {
                std::rethrow_exception(*step->loss);
            }
        });
        at->undue_steps += was_asked && step->content == detail::step_content::nothing ? 1U : 0U;
    }
    at->losses.counters().unsaved_tensors = at->collections.unsaved_count();
    const hook_step ended = at->now();
    at->next_step();
    failure.attempt([&] { at->note_lost(); });
    for (const auto& observer : at->dismiss_observers()) {
        failure.attempt([&] { observer->end_step(ended); });
    }
    if (at->begun() == nullptr) {  // an observer may have begun the next one
        at->step = detail::untouched_step{.is_after_failure = failure.happened()};
    }
    failure.rethrow();
}

SMDEBUG_INLINE void hook_base::abandon_step() {
    const detail::hook_call at{*state_};
    at->refuse_when_closed();
    const detail::begun_step* const step = at->begun();
    if (step == nullptr &&
        std::get<detail::untouched_step>(std::exchange(at->step, detail::untouched_step{})).is_after_failure) {
        return;
    }
    const bool saved_everything = step != nullptr && step->saves_everything;
    if (step != nullptr && step->tensors != 0 && !step->loss) {
        at->losses.note_abandoned("step " + std::to_string(at->now().step) + " is lost: it was abandoned");
    }
    at->run.abandon_step();
    at->dismiss_observers();
    at->everything_next = at->everything_next || saved_everything;  // requested, but not written
    at->next_step();
}

SMDEBUG_INLINE bool hook_base::step_is_lost() const noexcept { return state_->step_is_lost(); }

SMDEBUG_INLINE bool hook_base::should_save(std::string_view name) {
    const detail::hook_call at{*state_};
    return at->wants(name, {});
}

SMDEBUG_INLINE bool hook_base::should_save(std::string_view name, const collection_names& into) {
    const detail::hook_call at{*state_};
    detail::check_tensor_name(name);
    return at->wants(name, into.get());
}

SMDEBUG_INLINE bool hook_base::save_tensor(std::string_view name, const tensor_view& tensor,
                                           const collection_names& into) {
    const detail::hook_call at{*state_};
    detail::check_tensor_name(name);
    check(tensor, name);
    return at->take(name, tensor, into.get());
}

SMDEBUG_INLINE void hook_base::save_number(std::string_view name, dtype type, byte_view value) {
    const detail::hook_call at{*state_};
    const std::string full = "scalar/" + std::string{name};
    detail::check_tensor_name(full);
    const std::array<std::size_t, 1> shape{1};
    at->take_scalar(full, {.type = type, .shape = shape, .bytes = value, .strings = {}});
}

SMDEBUG_INLINE bool hook_base::is_due(std::string_view name, const collection_names& into) {
    const detail::hook_call at{*state_};
    at->refuse_when_closed();
    return should_save(name, into);
}

SMDEBUG_INLINE std::optional<due_numbers> hook_base::numbers_alone(std::string_view name,
                                                                   const collection_names& into) {
    const detail::hook_call at{*state_};
    detail::begun_step& step = at->look_at_step();
    const detail::collection_set::membership* const belongs_to = at->due(step, name, into.get());
    if (belongs_to == nullptr || step.saves_everything || at->run.shows_tensors() || at->observers_want(name)) {
        return std::nullopt;
    }
    const detail::reduction_plan& plan = at->collections.due_plan(*belongs_to);
    return plan.raw ? std::nullopt : std::optional{due_numbers{.reductions = plan.wanted, .digest = plan.digest}};
}

SMDEBUG_INLINE bool hook_base::save_numbers(std::string_view name, std::span<const std::size_t> shape,
                                            const tensor_numbers& numbers, const collection_names& into) {
    const detail::hook_call at{*state_};
    return numbers_alone(name, into).has_value() &&
           at->take(name, {.type = dtype::invalid, .shape = shape, .bytes = {}, .strings = {}}, into.get(),
                    {.numbers = &numbers});
}

SMDEBUG_INLINE void hook_base::save_everything_next_step() {
    const detail::hook_call at{*state_};
    at->everything_next = true;
}

SMDEBUG_INLINE void hook_base::close() {
    using detail::hook_state;
    const detail::hook_call at{*state_};
    if (std::exchange(at->phase, std::max(at->phase, hook_state::life::closing)) != hook_state::life::open ||
        !at->run.is_own()) {
        return;
    }
    detail::exception_collector failure;  // each of these is tried, even if others fail
    if (const detail::begun_step* const step = at->begun(); step != nullptr && step->tensors != 0) {
        failure.attempt([&] { end_step(); });
    }
    at->phase = hook_state::life::closed;
    detail::failure_log& losses = at->losses;
    failure.attempt(
        [&] { losses.attempt([&] { at->run.close_tensorboard(); }, [] { return "TensorBoard's files are lost"; }); });
    failure.attempt([&] {
        losses.attempt([&] { at->run.close(at->collections); }, [] { return "the end of the run is not written"; });
    });
    failure.attempt([&] { at->note_lost(); });
    const bool tells_undue = at->observers.empty() && at->run.writes();
    for (const std::string& note : detail::closing_notes(at->options, at->collections, losses.counters(),
                                                         tells_undue ? at->undue_steps : 0, at->run.first_saved())) {
        detail::report_note(at->options, note);
    }
    failure.rethrow();
}

SMDEBUG_INLINE void hook_base::flush() {
    const detail::hook_call at{*state_};
    at->run.drain();
    at->note_lost();
}

SMDEBUG_INLINE const hook_counters& hook_base::counters() const noexcept { return state_->losses.counters(); }

SMDEBUG_INLINE const hook_options& hook_base::options() const noexcept { return state_->options; }

SMDEBUG_INLINE std::vector<std::string> hook_base::unmatched_collections() const {
    const detail::hook_call at{*state_};
    return at->collections.unmatched();
}

SMDEBUG_INLINE std::vector<std::string> hook_base::unsaved_tensors() const {
    const detail::hook_call at{*state_};
    return at->collections.unsaved();
}

SMDEBUG_INLINE void hook_base::add_observer(std::shared_ptr<hook_observer> observer) {
    const detail::hook_call at{*state_};
    at->observers.push_back({std::move(observer)});
    if (detail::begun_step* const step = at->begun()) {
        step->content = detail::step_content::unknown;
    }
}

}  // namespace smdebug::inline v1
