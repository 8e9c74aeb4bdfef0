// The work behind a hook: what is due, where it goes, and what happens when it cannot.
// Apart from basic_hook.hpp, which is its face: there are the ways to hand over a tensor, here there is one.
// Used by: hook (basic_hook).
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/core/json_text.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/hook/collection_set.hpp>
#include <smdebug/hook/hook_counters.hpp>
#include <smdebug/hook/hook_options.hpp>
#include <smdebug/hook/observer.hpp>
#include <smdebug/hook/reduction_plan.hpp>
#include <smdebug/hook/reduction_records.hpp>
#include <smdebug/hook/run_writer.hpp>
#include <smdebug/hook/step_writer.hpp>
#include <smdebug/hook/tensor_record.hpp>
#include <smdebug/hook/tensor_source.hpp>
#include <smdebug/hook/wall_clock.hpp>
#include <smdebug/index/locations.hpp>
#include <smdebug/reduce/concepts.hpp>
#include <smdebug/storage/concepts.hpp>
#include <smdebug/tensor/tensor_view.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace detail {

// A tensor that no record can hold: the caller is told, and the step goes on without it.
class tensor_too_large : public unsupported {
public:
    using unsupported::unsupported;
};

inline void check_tensor_name(std::string_view name) {
    if (name.empty()) {
        throw value_error("a tensor's name is empty");
    }
    if (!is_utf8(name)) {
        throw value_error("the tensor's name \"" + std::string{name} + "\" is no UTF-8");
    }
}

}  // namespace detail

/// A hook that is handed tensor_views; see basic_hook, which says what its methods mean.
template <writable_storage Storage, reduction_kernel Kernel, wall_clock Clock>
class hook_core {
public:
    hook_core(Storage store, hook_options options, Kernel kernel, Clock clock)
        : options_(std::move(options)),
          kernel_(std::move(kernel)),
          clock_(std::move(clock)),
          collections_(options_),
          run_(std::move(store), options_) {
        now_.step = run_.start().step;
        for (const auto& [which, next] : run_.start().mode_steps) {
            if (which != mode::global) {
                mode_steps_[place_of(which)] = next;
            }
        }
        now_.mode_step = now_.step;
    }
    hook_core(const hook_core&) = delete;
    hook_core& operator=(const hook_core&) = delete;
    ~hook_core() = default;

    void set_mode(mode which) {
        if (which != now_.mode) {
            now_.mode = which;
            now_.mode_step = which == mode::global ? now_.step : mode_steps_[place_of(which)];
            looked_ = false;
        }
    }
    [[nodiscard]] const hook_step& now() const noexcept { return now_; }

    void set_step(step_number global, std::optional<step_number> in_mode) {
        if (global < 0 || (in_mode && *in_mode < 0)) {
            throw value_error("a step's number cannot be negative: " + std::to_string(global < 0 ? global : *in_mode));
        }
        if (tensors_ != 0 && global != now_.step) {
            throw value_error("step " + std::to_string(now_.step) + " has begun: end it before another number is set");
        }
        now_.step = global;
        if (now_.mode == mode::global) {
            now_.mode_step = in_mode.value_or(global);
        } else if (in_mode) {
            now_.mode_step = *in_mode;
            mode_steps_[place_of(now_.mode)] = *in_mode;
        }
        looked_ = false;
    }

    [[nodiscard]] bool should_save(std::string_view name) {
        look_at_step();
        return (any_due_ && collections_.due(collections_.of(name))) || (observed_ && an_observer_wants(name));
    }

    /// Whether take() would take a tensor that is to belong to `into`.
    [[nodiscard]] bool wants(std::string_view name, std::span<const std::string_view> into) {
        if (!into.empty()) {
            look_at_step();
            collections_.add(name, into);
            any_due_ = run_.writes() && collections_.any_due();  // a new collection may be
        }
        return should_save(name);
    }

    bool take(std::string_view name, const tensor_view& tensor, std::span<const std::string_view> into) {
        refuse_when_closed();
        if (!wants(name, into)) {
            return false;
        }
        if (any_due_) {
            const collection_set::membership& belongs_to = collections_.of(name);
            if (collections_.due(belongs_to)) {
                write(name, tensor, belongs_to);
            }
        }
        show(name, tensor, into);
        return true;
    }

    void take_scalar(const std::string& name, const tensor_view& tensor) {
        refuse_when_closed();
        look_at_step();
        const record_stamp now = stamp();
        ++tensors_;
        guarded([&] {
            write_record(name, tensor, now);
            run_.show_scalar(now, name, tensor);
        });
        show(name, tensor, {});
    }

    void save_everything_next_step() noexcept { everything_next_ = true; }

    void end_step();

    void flush() {
        run_.drain();
        tell_lost();
    }

    void close() {
        if (std::exchange(closed_, true)) {
            return;
        }
        // What fails keeps nothing else from being done.
        std::exception_ptr first;
        const auto attempt = [&](auto&& doing) {
            try {
                doing();
            } catch (...) {
                first = first ? first : std::current_exception();
            }
        };
        if (tensors_ != 0) {
            attempt([&] { finish_files(); });
        }
        attempt([&] { besides("TensorBoard's files are lost: ", [&] { run_.close_tensorboard(); }); });
        attempt([&] { besides("the end of the run is not written: ", [&] { run_.close(collections_); }); });
        attempt([&] { tell_lost(); });
        if (first) {
            std::rethrow_exception(first);
        }
    }

    [[nodiscard]] const hook_counters& counters() const noexcept { return counters_; }
    [[nodiscard]] const hook_options& options() const noexcept { return options_; }
    void add_observer(std::shared_ptr<hook_observer> observer) {
        observers_.push_back(std::move(observer));
        looked_ = false;
    }

private:
    [[nodiscard]] static std::size_t place_of(mode which) noexcept { return static_cast<std::size_t>(which) - 1; }

    void refuse_when_closed() const {
        if (closed_) {
            throw unsupported("the hook is closed: nothing can be saved any more");
        }
    }

    void look_at_step() {
        if (!looked_) {
            look_again();
        }
    }
    void look_again();

    [[nodiscard]] bool an_observer_wants(std::string_view name) {
        for (const auto& [who, interested] : watching_) {
            if (interested && who->wants(name)) {
                return true;
            }
        }
        return false;
    }
    void show(std::string_view name, const tensor_view& tensor, std::span<const std::string_view> into) {
        for (const auto& [who, interested] : watching_) {
            if (interested && who->wants(name)) {
                who->see(name, tensor, into);
            }
        }
    }

    void write(std::string_view name, const tensor_view& tensor, const collection_set::membership& belongs_to);
    void write_record(std::string_view name, const tensor_view& tensor, const record_stamp& now);
    void note(added outcome, std::string_view name, const tensor_view& tensor, const record_stamp& now);
    void finish_files();
    void begin_step();

    [[nodiscard]] record_stamp stamp() {
        return {.wall_time = clock_.now().count(), .step = now_.step, .mode = now_.mode, .mode_step = now_.mode_step};
    }

    template <class Doing>
    void guarded(Doing&& doing);
    template <class Doing>
    void besides(const char* what_is_lost, Doing&& doing);
    void tell_loss(const std::string& why);
    void tell_lost();

    hook_options options_;
    Kernel kernel_;
    Clock clock_;
    collection_set collections_;
    run_writer<Storage> run_;
    hook_counters counters_;

    hook_step now_;
    std::array<step_number, 3> mode_steps_{};  // the next step of TRAIN, EVAL, PREDICT
    bool looked_ = false;                      // whether the next three are those of the step and mode at hand
    bool any_due_ = false;
    bool observed_ = false;
    std::vector<std::pair<hook_observer*, bool>> watching_;  // whether each wants anything of this step
    std::vector<std::shared_ptr<hook_observer>> observers_;

    std::uint64_t tensors_ = 0;  // taken in the step at hand
    bool spoiled_ = false;       // a file of it could not be written
    bool everything_next_ = false;
    bool dumping_ = false;
    bool closed_ = false;
    std::unordered_map<const collection_set::membership*, reduction_records> reductions_;
};

// Bodies ---------------------------------------------------------------------------------------------------------

template <writable_storage Storage, reduction_kernel Kernel, wall_clock Clock>
void hook_core<Storage, Kernel, Clock>::look_again() {
    any_due_ = collections_.begin_step(now_.mode, now_.mode_step) && run_.writes();
    watching_.clear();
    observed_ = false;
    for (const std::shared_ptr<hook_observer>& who : observers_) {
        const bool interested = who->wants(now_);
        watching_.emplace_back(who.get(), interested);
        observed_ = observed_ || interested;
    }
    looked_ = true;
}

template <writable_storage Storage, reduction_kernel Kernel, wall_clock Clock>
void hook_core<Storage, Kernel, Clock>::end_step() {
    refuse_when_closed();
    look_at_step();  // observers are told of steps in which nothing was saved, too
    // Whatever fails, the step is over: counting goes on before anything is thrown.
    std::exception_ptr failure;
    try {
        finish_files();
    } catch (...) {
        failure = std::current_exception();
    }
    const hook_step ended = now_;
    if (now_.mode != mode::global) {
        mode_steps_[place_of(now_.mode)] = now_.mode_step + 1;
    }
    ++now_.step;
    now_.mode_step = now_.mode == mode::global ? now_.step : now_.mode_step + 1;
    begin_step();
    for (const auto& [who, interested] : std::exchange(watching_, {})) {
        who->end_step(ended);
    }
    if (failure) {
        std::rethrow_exception(failure);
    }
    tell_lost();
}

template <writable_storage Storage, reduction_kernel Kernel, wall_clock Clock>
void hook_core<Storage, Kernel, Clock>::begin_step() {
    looked_ = false;
    spoiled_ = false;
    tensors_ = 0;
    if (dumping_ != everything_next_) {
        dumping_ = everything_next_;
        collections_.save_everything(dumping_);
    }
    everything_next_ = false;
}

template <writable_storage Storage, reduction_kernel Kernel, wall_clock Clock>
void hook_core<Storage, Kernel, Clock>::write(std::string_view name, const tensor_view& tensor,
                                              const collection_set::membership& belongs_to) {
    const reduction_plan& plan = collections_.due_plan(belongs_to);
    const record_stamp now = stamp();
    ++tensors_;
    guarded([&] {
        if (!plan.wanted.empty()) {
            if (const auto values = kernel_.reduce(tensor, plan.wanted)) {  // texts have none
                reduction_records& records = reductions_[&belongs_to];
                records.update(name, plan.order, *values, now, options_.payload_checksum);
                note(run_.add_records(records, now), name, tensor, now);
            }
        }
        if (plan.shape) {
            run_.add_shape(name, tensor.shape, now);
        }
        if (plan.raw || dumping_) {
            write_record(name, tensor, now);
        }
        run_.show_tensor(now, name, tensor, collections_, belongs_to, kernel_);
    });
}

template <writable_storage Storage, reduction_kernel Kernel, wall_clock Clock>
void hook_core<Storage, Kernel, Clock>::write_record(std::string_view name, const tensor_view& tensor,
                                                     const record_stamp& now) {
    note(run_.add_tensor(name, tensor, now), name, tensor, now);
}

template <writable_storage Storage, reduction_kernel Kernel, wall_clock Clock>
void hook_core<Storage, Kernel, Clock>::note(added outcome, std::string_view name, const tensor_view& tensor,
                                             const record_stamp& now) {
    switch (outcome) {
        case added::written:
            return;
        case added::no_room:
            ++counters_.dropped_tensors;
            if (options_.on_drop) {
                options_.on_drop("the pool of " + std::to_string(options_.background.pool_bytes) +
                                 " bytes is full: \"" + std::string{name} + "\" of step " + std::to_string(now.step) +
                                 " is dropped");
            }
            return;
        case added::too_large:
            throw detail::tensor_too_large(
                "the tensor \"" + std::string{name} + "\" has " + std::to_string(tensor.bytes.size()) +
                    " bytes; a record holds 2 GiB at most: save its reductions, or save it in parts",
                {.tensor = std::string{name}, .step = now.step});
    }
}

template <writable_storage Storage, reduction_kernel Kernel, wall_clock Clock>
void hook_core<Storage, Kernel, Clock>::finish_files() {
    guarded([&] {
        const std::uint64_t bytes = run_.finish_step(collections_);
        if (bytes != 0) {
            ++counters_.steps;
            counters_.tensors += tensors_;
            counters_.bytes += bytes;
        }
    });
    besides("TensorBoard's files have to wait: ", [&] { run_.show_step(stamp().wall_time); });
}

// Does something with files.  A failure costs the step at hand, and only that one.
template <writable_storage Storage, reduction_kernel Kernel, wall_clock Clock>
template <class Doing>
void hook_core<Storage, Kernel, Clock>::guarded(Doing&& doing) {
    if (spoiled_) {
        return;
    }
    try {
        doing();
    } catch (const detail::tensor_too_large&) {
        throw;  // nothing was begun
    } catch (const std::exception& why) {
        spoiled_ = true;
        run_.abandon_step();
        ++counters_.lost_steps;
        tell_loss("step " + std::to_string(now_.step) + " is lost: " + why.what());
        if (options_.on_failure == failure_policy::raise) {
            throw;
        }
    }
}

// Does something with files that belong to no step.
template <writable_storage Storage, reduction_kernel Kernel, wall_clock Clock>
template <class Doing>
void hook_core<Storage, Kernel, Clock>::besides(const char* what_is_lost, Doing&& doing) {
    try {
        doing();
    } catch (const std::exception& why) {
        tell_loss(std::string{what_is_lost} + why.what());
        if (options_.on_failure == failure_policy::raise) {
            throw;
        }
    }
}

template <writable_storage Storage, reduction_kernel Kernel, wall_clock Clock>
void hook_core<Storage, Kernel, Clock>::tell_loss(const std::string& why) {
    counters_.last_loss = why;
    if (options_.on_failure == failure_policy::drop && options_.on_drop) {
        options_.on_drop(why);
    }
}

// What went wrong behind the training's back.
template <writable_storage Storage, reduction_kernel Kernel, wall_clock Clock>
void hook_core<Storage, Kernel, Clock>::tell_lost() {
    std::exception_ptr first;
    for (const lost_write& lost : run_.lost()) {
        first = first ? first : lost.why;
        // With its events or its index a step is lost; the collections file will be written again.
        counters_.lost_steps += lost.key.starts_with(locations::collections_folder) ? 0U : 1U;
        try {
            std::rethrow_exception(lost.why);
        } catch (const std::exception& why) {
            tell_loss(lost.key + " is lost: " + why.what());
        } catch (...) {
            tell_loss(lost.key + " is lost");
        }
    }
    if (first && options_.on_failure == failure_policy::raise) {
        std::rethrow_exception(first);
    }
}

}  // namespace v1
}  // namespace smdebug
