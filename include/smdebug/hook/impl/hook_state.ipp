// The bodies of <smdebug/hook/hook_state.hpp>.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/dtype.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/core/ordered_thread_pool.hpp>
#include <smdebug/hook/hook_state.hpp>
#include <smdebug/reduce/concepts.hpp>
#include <smdebug/reduce/digest.hpp>
#include <smdebug/reduce/name.hpp>

#include <algorithm>
#include <array>
#include <cstddef>

namespace smdebug::inline v1::detail {

SMDEBUG_INLINE hook_state::hook_state(hook_base& of, any_storage store, hook_options given, any_kernel by,
                                      any_clock from, place_opener opener)
    : options(with_rank(std::move(given))),
      kernel(std::move(by)),
      clock(std::move(from)),
      collections(options),
      run(std::move(store), options, opener),
      steps(run.start().step, run.start().mode_steps),
      losses(options),
      link(std::make_shared<hook_base*>(&of)) {
    if (run.earlier_collections()) {
        collections.adopt(*run.earlier_collections());
    }
    losses.counters().removed_uploads = run.removed_uploads();
}

SMDEBUG_INLINE void hook_state::refuse_when_closed() const {
    if (phase == life::closed) {
        throw unsupported("the hook is closed: nothing can be saved any more");
    }
}

SMDEBUG_INLINE begun_step& hook_state::look_at_step() {
    begun_step* at = begun();
    if (at == nullptr) {
        at = &step.emplace<begun_step>();
        at->saves_everything = std::exchange(everything_next, false);
        collections.save_everything(at->saves_everything);
    }
    if (at->content == step_content::unknown) {
        const bool is_due = collections.begin_step(now().mode, now().mode_step) && run.writes();
        ask_observers();
        at->content = is_due ? step_content::something : step_content::nothing;
    }
    return *at;
}

SMDEBUG_INLINE void hook_state::set_step(step_number global, std::optional<step_number> in_mode) {
    begun_step* const at = begun();
    if (at != nullptr && at->tensors != 0 && global != now().step) {
        throw value_error("step " + std::to_string(now().step) +
                          " has begun: end or abandon it before another number is set");
    }
    steps.set_step(global, in_mode);
    if (at != nullptr) {
        at->content = step_content::unknown;
    } else {
        step = untouched_step{};
    }
}

SMDEBUG_INLINE void hook_state::next_step() noexcept {
    steps.advance();
    step = untouched_step{};
}

SMDEBUG_INLINE bool hook_state::step_is_lost() const noexcept {
    const begun_step* const at = std::get_if<begun_step>(&step);
    return at != nullptr && at->loss.has_value();
}

SMDEBUG_INLINE bool hook_state::anything_due() {
    if (phase == life::closed) {
        return false;
    }
    const begun_step& at = look_at_step();
    return (at.content == step_content::something && !at.loss) || any_interested;
}

SMDEBUG_INLINE const collection_set::membership* hook_state::due(begun_step& at, std::string_view name,
                                                                 std::span<const std::string_view> into) {
    const collection_set::membership* tensor = nullptr;
    if (!into.empty()) {
        tensor = &collections.add(name, into);  // a new collection may be due
        at.content = run.writes() && collections.any_due() ? step_content::something : step_content::nothing;
    } else if (at.content == step_content::something) {
        tensor = &collections.of(name);
    }
    return at.content == step_content::something && collections.due(*tensor) ? tensor : nullptr;
}

SMDEBUG_INLINE bool hook_state::wants(std::string_view name, std::span<const std::string_view> into) {
    if (phase == life::closed) {
        return false;
    }
    begun_step& at = look_at_step();
    return (due(at, name, into) != nullptr && !at.loss) || observers_want(name);
}

SMDEBUG_INLINE bool hook_state::take(std::string_view name, const tensor_view& tensor,
                                     std::span<const std::string_view> into, const given_parts& given) {
    refuse_when_closed();
    if (!options.digests.empty() && is_digest(name)) {
        throw value_error("the tensor's name \"" + std::string{name} +
                              "\" is that of a digest, which this hook saves, too: choose another name",
                          {.tensor = std::string{name}});
    }
    begun_step& at = look_at_step();
    const collection_set::membership* const belongs_to = due(at, name, into);
    bool has_arrived = given.late == nullptr;
    if (!has_arrived && observers_want(name)) {
        const auto wait = [&] {
            given.late->wait();
            has_arrived = true;
        };
        exception_collector ignored;
        step_is_lost() ? ignored.attempt(wait) : synchronized(wait);
    }
    const bool is_written = belongs_to != nullptr && write(at, name, tensor, *belongs_to, given);
    const bool is_shown = has_arrived && show(name, tensor, into);
    if (is_shown && belongs_to == nullptr) {
        collections.note_watched(name);
    }
    return is_shown || is_written;
}

SMDEBUG_INLINE void hook_state::take_scalar(std::string_view name, const tensor_view& tensor) {
    refuse_when_closed();
    ++look_at_step().tensors;
    if (run.writes()) {
        const record_stamp time = stamp();
        synchronized([&] {
            count_written(note(run.entry().add_tensor(name, tensor, time), name, tensor));
            run.show_scalar(time, name, tensor);
        });
    }
    show(name, tensor, {});
}

SMDEBUG_INLINE bool hook_state::write(begun_step& at, std::string_view name, const tensor_view& tensor,
                                      const collection_set::membership& belongs_to, const given_parts& given) {
    const reduction_plan& plan = collections.due_plan(belongs_to);
    const bool is_raw = plan.raw || at.saves_everything;
    const record_stamp time = stamp();
    ++at.tensors;
    bool any = false;
    synchronized([&] {
        any = plan.shape;
        const bool is_computed = given.numbers != nullptr;
        const late_elements* late = given.late;
        const bool has_own_digest = plan.digest && has_digest(tensor.type);
        if (late != nullptr && ((!plan.wanted.empty() && !is_computed) || has_own_digest || run.shows_tensors() ||
                                options.payload_checksum == record::footer_kind::checksum)) {
            std::exchange(late, nullptr)->wait();
        }
        // Reductions and the digest in one pass: the kernel shows each piece of the values while it is in L1.
        reduce::detail::running_digest<any_kernel> digest{kernel};
        const auto look = [&](byte_view piece) {
            if (piece.data() == tensor.bytes.data() + digest.bytes()) {
                digest.add(piece);
            }
        };
        if (!plan.wanted.empty()) {
            const byte_watch watch{look};
            reduction_values computed;
            if (is_computed || kernel.reduce_into(tensor, plan.wanted, has_own_digest ? &watch : nullptr, computed) ==
                                   status::ok) {  // texts have none
                reduction_records& records = reductions[&belongs_to];
                record_stamp marked = time;
                marked.computed_by = is_computed ? given.numbers->computed_by.substr(0, 32) : std::string_view{};
                records.update(name, plan.order, is_computed ? given.numbers->reductions : computed, marked,
                               options.payload_checksum);
                any = (note(run.entry().add_records(records.bytes(), records.records(), time), name, tensor) &&
                       !records.records().empty()) ||
                      any;
            }
        }
        if (plan.digest && is_computed && given.numbers->digest) {
            any = write_digest(digest_of_tensor(name), *given.numbers->digest, time) || any;
        } else if (has_own_digest) {
            digest.add(tensor.bytes.subspan(std::size_t{digest.bytes()}));
            any = write_digest(digest_of_tensor(name), digest.value(tensor.type, tensor.shape), time) || any;
        }
        if (plan.shape) {
            run.entry().add_shape(name, tensor.shape, time);
        }
        if (is_raw) {
            any = note(run.entry().add_tensor(name, tensor, time, late), name, tensor) || any;
        }
        count_written(any);
        run.show_tensor(time, name, tensor, collections, belongs_to, kernel);
    });
    return any && !step_is_lost();
}

SMDEBUG_INLINE bool hook_state::write_digest(const std::string& name, std::int64_t digest, const record_stamp& time) {
    std::array<std::byte, sizeof(digest)> bytes{};
    store_le(bytes.data(), digest);
    const tensor_view scalar{.type = dtype::int64, .shape = {}, .bytes = bytes, .strings = {}};
    const bool is_written = note(run.entry().add_tensor(name, scalar, time), name, scalar);
    if (is_written) {
        collections.note_digest(name);
    }
    return is_written;
}

SMDEBUG_INLINE record_stamp hook_state::stamp() {
    return {.wall_time = clock.now().count(), .step = now().step, .mode = now().mode, .mode_step = now().mode_step};
}

SMDEBUG_INLINE bool hook_state::note(added outcome, std::string_view name, const tensor_view& tensor) {
    switch (outcome) {
        case added::written:
            return true;
        case added::no_room:
            losses.note_dropped("\"" + std::string{name} + "\" of step " + std::to_string(now().step) +
                                " is dropped: there is no room for it in the pool of " +
                                std::to_string(options.background.pool_bytes) + " bytes");
            return false;
        case added::too_large:
            throw tensor_too_large(name, tensor.bytes.size(), now().step);
    }
    return false;
}

SMDEBUG_INLINE void hook_state::count_written(bool any) noexcept {
    if (begun_step* const at = begun(); at != nullptr && any) {  // on_drop may have ended the step
        ++at->written;
    }
}

SMDEBUG_INLINE void hook_state::synchronized(function_ref<void()> doing) {
    if (step_is_lost()) {
        return;
    }
    std::exception_ptr mistake;
    const auto give_up = [&] {
        note_loss(nullptr);
        run.abandon_step();
        ++losses.counters().lost_steps;
        return "step " + std::to_string(now().step) + " is lost";
    };
    try {
        losses.attempt(
            [&] {
                try {
                    doing();
                } catch (const tensor_too_large&) {
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

SMDEBUG_INLINE void hook_state::note_loss(std::exception_ptr why) noexcept {
    if (begun_step* const at = begun()) {
        at->loss = std::move(why);
    }
}

SMDEBUG_INLINE void hook_state::note_lost() {
    const std::vector<lost_write> lost = run.lost();
    if (lost.empty()) {
        return;
    }
    // The current step has not been counted as written, and will not be.
    begun_step* const at = begun();
    const bool is_at_stake = at != nullptr && at->tensors != 0 && !at->loss;
    if (is_at_stake && std::ranges::find(lost, run.current_order(), &lost_write::step) != lost.end()) {
        at->loss.emplace();
        run.abandon_step();
        ++losses.counters().lost_steps;
    }
    losses.note(lost);
}

SMDEBUG_INLINE void hook_state::finish_files() {
    const std::uint64_t written = begun() != nullptr ? begun()->written : 0;
    synchronized([&] {
        const std::uint64_t bytes = run.finish_step(collections);
        if (bytes != 0) {
            hook_counters& counters = losses.counters();
            ++counters.steps;
            counters.bytes += bytes;
            counters.tensors += written;
        }
    });
    losses.attempt([&] { run.show_step([&] { return clock.now().count(); }); },
                   [] { return "TensorBoard's files have to wait"; });
}

SMDEBUG_INLINE void hook_state::close_unfinished() noexcept {
    if (std::exchange(phase, std::max(phase, life::closing)) == life::open && run.is_own()) {
        phase = life::closed;
        run.close_unfinished();
    }
}

SMDEBUG_INLINE void hook_state::ask_observers() {
    any_interested = false;
    for (std::size_t i = 0; i < observers.size(); ++i) {
        observing& one = observers[i];
        one.asked = true;
        one.interested = one.observer->wants(now());
        any_interested = any_interested || one.interested;
    }
}

SMDEBUG_INLINE bool hook_state::observers_want(std::string_view tensor) const {
    for (std::size_t i = 0; any_interested && i < observers.size(); ++i) {
        if (observers[i].interested && observers[i].observer->wants(tensor)) {
            return true;
        }
    }
    return false;
}

SMDEBUG_INLINE bool hook_state::show(std::string_view name, const tensor_view& tensor,
                                     std::span<const std::string_view> into) const {
    bool any = false;
    for (std::size_t i = 0; any_interested && i < observers.size(); ++i) {
        if (observers[i].interested && observers[i].observer->wants(name)) {
            observers[i].observer->see(name, tensor, into);
            any = true;
        }
    }
    return any;
}

SMDEBUG_INLINE std::vector<std::shared_ptr<hook_observer>> hook_state::dismiss_observers() {
    any_interested = false;
    std::vector<std::shared_ptr<hook_observer>> asked;
    for (observing& one : observers) {
        one.interested = false;
        if (std::exchange(one.asked, false)) {
            asked.push_back(one.observer);
        }
    }
    return asked;
}

SMDEBUG_INLINE hook_call::hook_call(hook_state& of) : state_(&of) {
    if (!of.home.is_here()) {
        throw unsupported("this hook belongs to the process " + std::to_string(of.home.number()) +
                          ", of which this one was forked: only that one can use it; make another hook here, for "
                          "another run or worker");
    }
    const std::thread::id here = std::this_thread::get_id();
    std::thread::id holder{};
    while (!of.caller.compare_exchange_strong(holder, here, std::memory_order_acquire, std::memory_order_relaxed)) {
        if (holder == here || of.options.threads != hook_threads::many) {
            break;
        }
        of.caller.wait(holder, std::memory_order_relaxed);
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
    holds_ = false;
}

SMDEBUG_INLINE hook_call::~hook_call() {
    if (holds_) {
        state_->caller.store(std::thread::id{}, std::memory_order_release);
        if (state_->options.threads == hook_threads::many) {
            state_->caller.notify_one();
        }
    }
}

}  // namespace smdebug::inline v1::detail
