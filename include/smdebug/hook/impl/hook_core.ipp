// The bodies of <smdebug/hook/hook_core.hpp>.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/dtype.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/core/ordered_thread_pool.hpp>
#include <smdebug/hook/failure_log.hpp>
#include <smdebug/hook/file_sink.hpp>
#include <smdebug/hook/hook_core.hpp>
#include <smdebug/hook/tensor_record.hpp>
#include <smdebug/index/locations.hpp>
#include <smdebug/reduce/concepts.hpp>
#include <smdebug/reduce/digest.hpp>
#include <smdebug/reduce/name.hpp>

#include <algorithm>
#include <array>
#include <cstddef>

namespace smdebug::inline v1::detail {

SMDEBUG_INLINE hook_core::hook_core(any_storage store, hook_options options, any_kernel kernel, any_clock clock,
                                    place_opener opener)
    : options_(with_rank(std::move(options))),
      kernel_(std::move(kernel)),
      clock_(std::move(clock)),
      collections_(options_),
      run_(std::move(store), options_, opener),
      steps_(run_.start().step, run_.start().mode_steps),
      losses_(options_) {
    if (run_.earlier_collections()) {
        collections_.adopt(*run_.earlier_collections());
    }
    losses_.counters().removed_uploads = run_.removed_uploads();
}

SMDEBUG_INLINE void hook_core::set_mode(mode which) {
    const bool has_changed = steps_.set_mode(which);
    if (begun_step* const step = begun(); step == nullptr) {
        step_ = untouched_step{};
    } else if (has_changed) {
        step->content = step_content::unknown;
    }
}

SMDEBUG_INLINE const hook_step& hook_core::now() const noexcept { return steps_.now(); }

SMDEBUG_INLINE void hook_core::set_step(step_number global, std::optional<step_number> in_mode) {
    begun_step* const step = begun();
    if (step != nullptr && step->tensors != 0 && global != now().step) {
        throw value_error("step " + std::to_string(now().step) +
                          " has begun: end or abandon it before another number is set");
    }
    steps_.set_step(global, in_mode);
    if (step != nullptr) {
        step->content = step_content::unknown;
    } else {
        step_ = untouched_step{};
    }
}

SMDEBUG_INLINE bool hook_core::should_save(std::string_view name, std::span<const std::string_view> into) {
    if (life_ == life::closed) {
        return false;
    }
    begun_step& step = look_at_step();
    return (due(step, name, into) != nullptr && !step.loss) || observers_.want(name);
}

SMDEBUG_INLINE std::optional<due_numbers> hook_core::numbers_alone(std::string_view name,
                                                                   std::span<const std::string_view> into) {
    begun_step& step = look_at_step();
    const collection_set::membership* const belongs_to = due(step, name, into);
    if (belongs_to == nullptr || step.saves_everything || run_.shows_tensors() || observers_.want(name)) {
        return std::nullopt;
    }
    const reduction_plan& plan = collections_.due_plan(*belongs_to);
    return plan.raw ? std::nullopt : std::optional{due_numbers{.reductions = plan.wanted, .digest = plan.digest}};
}

SMDEBUG_INLINE bool hook_core::take_numbers(std::string_view name, std::span<const std::size_t> shape,
                                            const tensor_numbers& numbers, std::span<const std::string_view> into) {
    return numbers_alone(name, into).has_value() &&
           take(name, {.type = dtype::invalid, .shape = shape, .bytes = {}, .strings = {}}, into,
                {.numbers = &numbers});
}

SMDEBUG_INLINE bool hook_core::anything_due() {
    if (life_ == life::closed) {
        return false;
    }
    const begun_step& step = look_at_step();
    return (step.content == step_content::something && !step.loss) || observers_.want_any();
}

SMDEBUG_INLINE bool hook_core::due(const collection_set::membership& tensor, std::string_view name) {
    return anything_due() && ((collections_.due(tensor) && run_.writes()) || observers_.want(name));
}

SMDEBUG_INLINE const void* hook_link::claim(const std::string& name, const void* tensor) {
    if (tensors_.contains(tensor)) {
        return tensor;
    }
    const auto [place, is_new] = claimed_.try_emplace(name, tensor);
    if (!is_new) {
        return place->second;
    }
    tensors_.insert(tensor);
    return nullptr;
}

SMDEBUG_INLINE void hook_link::release(const std::string& name) noexcept {
    if (const auto place = claimed_.find(name); place != claimed_.end()) {
        tensors_.erase(place->second);
        claimed_.erase(place);
    }
}

SMDEBUG_INLINE void hook_core::save_everything_next_step() noexcept { everything_next_ = true; }

SMDEBUG_INLINE bool hook_core::step_is_lost() const noexcept {
    const begun_step* const step = std::get_if<begun_step>(&step_);
    return step != nullptr && step->loss.has_value();
}

SMDEBUG_INLINE void hook_core::flush() {
    run_.drain();
    note_lost();
}

SMDEBUG_INLINE void hook_core::close_unfinished() noexcept {
    if (std::exchange(life_, std::max(life_, life::closing)) == life::open && run_.is_own()) {
        life_ = life::closed;
        run_.close_unfinished();
    }
}

SMDEBUG_INLINE const written_steps& hook_core::written() const noexcept { return run_.written(); }

SMDEBUG_INLINE void hook_core::forget(step_number step) { run_.forget(step); }

SMDEBUG_INLINE std::optional<step_number> hook_core::last_written() const noexcept { return last_written_; }

SMDEBUG_INLINE const hook_counters& hook_core::counters() const noexcept { return losses_.counters(); }

SMDEBUG_INLINE const hook_options& hook_core::options() const noexcept { return options_; }

SMDEBUG_INLINE std::vector<std::string> hook_core::unmatched_collections() const { return collections_.unmatched(); }

SMDEBUG_INLINE std::vector<std::string> hook_core::unsaved_tensors() const { return collections_.unsaved(); }

SMDEBUG_INLINE void hook_core::add_observer(std::shared_ptr<hook_observer> observer) {
    observers_.add(std::move(observer));
    if (begun_step* const step = begun()) {
        step->content = step_content::unknown;
    }
}

SMDEBUG_INLINE void hook_core::refuse_when_closed() const {
    if (life_ == life::closed) {
        throw unsupported("the hook is closed: nothing can be saved any more");
    }
}

SMDEBUG_INLINE begun_step& hook_core::look_at_step() {
    begun_step* step = begun();
    if (step == nullptr) {
        step = &step_.emplace<begun_step>();
        step->saves_everything = std::exchange(everything_next_, false);
        collections_.save_everything(step->saves_everything);
    }
    if (step->content == step_content::unknown) {
        const bool is_due = collections_.begin_step(now().mode, now().mode_step) && run_.writes();
        observers_.begin_step(now());
        step->content = is_due ? step_content::something : step_content::nothing;
    }
    return *step;
}

SMDEBUG_INLINE const collection_set::membership* hook_core::due(begun_step& step, std::string_view name,
                                                                std::span<const std::string_view> into) {
    const collection_set::membership* tensor = nullptr;
    if (!into.empty()) {
        tensor = &collections_.add(name, into);  // a new collection may be due
        step.content = run_.writes() && collections_.any_due() ? step_content::something : step_content::nothing;
    } else if (step.content == step_content::something) {
        tensor = &collections_.of(name);
    }
    return step.content == step_content::something && collections_.due(*tensor) ? tensor : nullptr;
}

SMDEBUG_INLINE record_stamp hook_core::stamp() {
    return {.wall_time = clock_.now().count(), .step = now().step, .mode = now().mode, .mode_step = now().mode_step};
}

SMDEBUG_INLINE bool hook_core::take(std::string_view name, const tensor_view& tensor,
                                    std::span<const std::string_view> into, const given_parts& given) {
    refuse_when_closed();
    if (!options_.digests.empty() && is_digest(name)) {
        throw value_error("the tensor's name \"" + std::string{name} +
                              "\" is that of a digest, which this hook saves, too: choose another name",
                          {.tensor = std::string{name}});
    }
    begun_step& step = look_at_step();
    const collection_set::membership* const belongs_to = due(step, name, into);
    if (given.late != nullptr && observers_.want(name)) {
        synchronized([&] { given.late->wait(); });
    }
    const bool is_written = belongs_to != nullptr && write(step, name, tensor, *belongs_to, given);
    const bool is_shown = observers_.show(name, tensor, into);
    if (is_shown && belongs_to == nullptr) {
        collections_.note_watched(name);
    }
    return is_shown || is_written;
}

SMDEBUG_INLINE void hook_core::take_scalar(std::string_view name, const tensor_view& tensor) {
    refuse_when_closed();
    begun_step& step = look_at_step();
    const record_stamp now = stamp();
    ++step.tensors;
    synchronized([&] {
        count_written(note(run_.add_tensor(name, tensor, now), name, tensor));
        run_.show_scalar(now, name, tensor);
    });
    observers_.show(name, tensor, {});
}

SMDEBUG_INLINE bool hook_core::write(begun_step& step, std::string_view name, const tensor_view& tensor,
                                     const collection_set::membership& belongs_to, const given_parts& given) {
    const reduction_plan& plan = collections_.due_plan(belongs_to);
    const bool is_raw = plan.raw || step.saves_everything;
    const record_stamp now = stamp();
    ++step.tensors;
    bool any = false;
    synchronized([&] {
        any = plan.shape;
        const bool is_computed = given.numbers != nullptr;
        const late_elements* late = given.late;
        const bool has_own_digest = plan.digest && has_digest(tensor.type);
        if (late != nullptr && ((!plan.wanted.empty() && !is_computed) || has_own_digest || run_.shows_tensors() ||
                                options_.payload_checksum == record::footer_kind::checksum)) {
            std::exchange(late, nullptr)->wait();
        }
        // Reductions and the digest in one pass: the kernel shows each piece of the values while it is in L1.
        reduce::detail::running_digest<any_kernel> digest{kernel_};
        const auto look = [&](byte_view piece) {
            if (piece.data() == tensor.bytes.data() + digest.bytes()) {
                digest.add(piece);
            }
        };
        if (!plan.wanted.empty()) {
            const byte_watch watch{look};
            reduction_values computed;
            if (is_computed || kernel_.reduce_into(tensor, plan.wanted, has_own_digest ? &watch : nullptr, computed) ==
                                   status::ok) {  // texts have none
                reduction_records& records = reductions_[&belongs_to];
                record_stamp marked = now;
                marked.computed_by = is_computed ? given.numbers->computed_by.substr(0, 32) : std::string_view{};
                records.update(name, plan.order, is_computed ? given.numbers->reductions : computed, marked,
                               options_.payload_checksum);
                any = (note(run_.add_records(records, now), name, tensor) && !records.records().empty()) || any;
            }
        }
        if (plan.digest && is_computed && given.numbers->digest) {
            any = write_digest(digest_of_tensor(name), *given.numbers->digest, now) || any;
        } else if (has_own_digest) {
            digest.add(tensor.bytes.subspan(std::size_t{digest.bytes()}));
            any = write_digest(digest_of_tensor(name), digest.value(tensor.type, tensor.shape), now) || any;
        }
        if (plan.shape) {
            run_.add_shape(name, tensor.shape, now);
        }
        if (is_raw) {
            any = note(run_.add_tensor(name, tensor, now, late), name, tensor) || any;
        }
        count_written(any);
        run_.show_tensor(now, name, tensor, collections_, belongs_to, kernel_);
    });
    return any && !step_is_lost();
}

SMDEBUG_INLINE bool hook_core::write_digest(const std::string& name, std::int64_t digest, const record_stamp& now) {
    std::array<std::byte, sizeof(digest)> bytes{};
    store_le(bytes.data(), digest);
    const tensor_view scalar{.type = dtype::int64, .shape = {}, .bytes = bytes, .strings = {}};
    const bool is_written = note(run_.add_tensor(name, scalar, now), name, scalar);
    if (is_written) {
        collections_.note_digest(name);
    }
    return is_written;
}

SMDEBUG_INLINE bool hook_core::note(added outcome, std::string_view name, const tensor_view& tensor) {
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

SMDEBUG_INLINE void hook_core::end_step() {
    refuse_when_closed();
    // Whatever fails, the step is over: the count advances, and all observers are notified, before anything is thrown.
    exception_collector failure;
    const bool was_asked = begun() != nullptr;
    failure.attempt([&] { look_at_step(); });  // observers are also notified of empty steps
    failure.attempt([&] { finish_files(); });
    if (const begun_step* const step = begun()) {
        failure.attempt([&] {
            if (step->loss && *step->loss) {
                std::rethrow_exception(*step->loss);
            }
        });
        undue_steps_ += was_asked && step->content == step_content::nothing ? 1U : 0U;
    }
    losses_.counters().unsaved_tensors = collections_.unsaved_count();
    const hook_step ended = now();
    next_step();
    failure.attempt([&] { note_lost(); });
    failure.attempt([&] { observers_.end_step(ended); });
    if (begun() == nullptr) {  // an observer may have begun the next one
        step_ = untouched_step{.is_after_failure = failure.happened()};
    }
    failure.rethrow();
}

SMDEBUG_INLINE void hook_core::abandon_step() {
    refuse_when_closed();
    const begun_step* const step = begun();
    if (step == nullptr && std::get<untouched_step>(std::exchange(step_, untouched_step{})).is_after_failure) {
        return;
    }
    const bool saved_everything = step != nullptr && step->saves_everything;
    if (step != nullptr && step->tensors != 0 && !step->loss) {
        losses_.note_abandoned("step " + std::to_string(now().step) + " is lost: it was abandoned");
    }
    run_.abandon_step();
    observers_.abandon_step();
    everything_next_ = everything_next_ || saved_everything;  // requested, but not written
    next_step();
}

SMDEBUG_INLINE void hook_core::synchronized(function_ref<void()> doing) {
    if (step_is_lost()) {
        return;
    }
    std::exception_ptr mistake;
    const auto give_up = [&] {
        note_loss(nullptr);
        run_.abandon_step();
        ++losses_.counters().lost_steps;
        return "step " + std::to_string(now().step) + " is lost";
    };
    try {
        losses_.attempt(
            [&] {
                try {
                    doing();
                } catch (const detail::tensor_too_large&) {
                    mistake = std::current_exception();  // nothing was begun
                }
            },
            give_up);
    } catch (...) {
        note_loss(std::current_exception());
    }
    if (mistake) {
        std::rethrow_exception(mistake);
    }
}

SMDEBUG_INLINE void hook_core::next_step() noexcept {
    steps_.advance();
    step_ = untouched_step{};
}

SMDEBUG_INLINE void hook_core::finish_files() {
    const std::uint64_t written = begun() != nullptr ? begun()->written : 0;
    synchronized([&] {
        const std::uint64_t bytes = run_.finish_step(collections_);
        if (bytes != 0) {
            last_written_ = now().step;
            hook_counters& counters = losses_.counters();
            ++counters.steps;
            counters.bytes += bytes;
            counters.tensors += written;
        }
    });
    losses_.attempt([&] { run_.show_step([&] { return clock_.now().count(); }); },
                    [] { return "TensorBoard's files have to wait"; });
}

SMDEBUG_INLINE void hook_core::close() {
    if (std::exchange(life_, std::max(life_, life::closing)) != life::open || !run_.is_own()) {
        return;
    }
    exception_collector failure;  // each of these is tried, even if others fail
    if (const begun_step* const step = begun(); step != nullptr && step->tensors != 0) {
        failure.attempt([&] { end_step(); });
    }
    life_ = life::closed;
    failure.attempt(
        [&] { losses_.attempt([&] { run_.close_tensorboard(); }, [] { return "TensorBoard's files are lost"; }); });
    failure.attempt([&] {
        losses_.attempt([&] { run_.close(collections_); }, [] { return "the end of the run is not written"; });
    });
    failure.attempt([&] { note_lost(); });
    report_closing_notes(options_, collections_, counters(), observers_.empty() && run_.writes() ? undue_steps_ : 0,
                         run_.first_saved());
    failure.rethrow();
}

// What failed in the background.
SMDEBUG_INLINE void hook_core::note_lost() {
    const std::vector<lost_write> lost = run_.lost();
    if (lost.empty()) {
        return;
    }
    // The current step has not been counted as written, and will not be.
    begun_step* const step = begun();
    const bool is_at_stake = step != nullptr && step->tensors != 0 && !step->loss;
    const std::string at_hand = is_at_stake ? locations::event_key(now().step, options_.worker) : std::string{};
    if (is_at_stake &&
        std::any_of(lost.begin(), lost.end(), [&](const lost_write& file) { return file.key == at_hand; })) {
        step->loss.emplace();
        run_.abandon_step();
    }
    losses_.note(lost, at_hand);
}

}  // namespace smdebug::inline v1::detail
