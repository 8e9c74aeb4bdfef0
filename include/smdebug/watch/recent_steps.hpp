// The last steps of a hook, in memory: written as a hook writes them, read as a trial reads them.
// So a rule sees in the training process what it would see of the run on disk.
// Used by: watch/watcher.hpp.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/core/stop_token.hpp>
#include <smdebug/hook/hook_core.hpp>
#include <smdebug/hook/hook_options.hpp>
#include <smdebug/hook/observer.hpp>
#include <smdebug/hook/wall_clock.hpp>
#include <smdebug/index/locations.hpp>
#include <smdebug/reduce/concepts.hpp>
#include <smdebug/reduce/simd_kernel.hpp>
#include <smdebug/tensor/event_decoder.hpp>
#include <smdebug/tensor/tensor_view.hpp>
#include <smdebug/trial/basic_trial.hpp>
#include <smdebug/trial/options.hpp>
#include <smdebug/watch/step_memory.hpp>
#include <smdebug/watch/watch_options.hpp>

#include <chrono>
#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace smdebug {
inline namespace v1 {

/// The trial that rules inside the training process are called with.
template <reduction_kernel Kernel = simd_kernel<>>
using watched_trial = basic_trial<step_memory, event_decoder<>, Kernel>;

/// Takes a hook's tensors, and gives a trial over its last steps.  No call of that trial ever waits: what is not there
/// when a step has ended does not come before the next one has.
/// Not for several threads at once; rules may read the trial on threads of their own.
template <reduction_kernel Kernel>
class recent_steps {
public:
    using trial_type = watched_trial<Kernel>;

    /// Collections, the worker's name, and the run's are those of the hook.
    /// Errors: value_error (options).
    recent_steps(const hook_options& watched, const watch_options& how)
        : keep_(how.keep_steps),
          spare_(how.keep_steps / 4),
          memory_(spare_ + 1),
          writer_(memory_, options_for(watched, how), Kernel{}, system_wall_clock{}) {
        std::stop_source never;
        static_cast<void>(never.request_stop());
        reading_ = {.name = std::string{locations::base_name(watched.out_dir)},
                    .incomplete_step_wait_window = 1000,
                    .missing_event_file_retry_limit = 0,
                    .stop = never.get_token(),
                    .training_end_delay_refresh = std::chrono::milliseconds{0}};
        if (reading_.name.empty()) {
            reading_.name = "watch";
        }
    }

    /// Goes to a step, which may be behind one that is not ended yet.
    void begin(const hook_step& step) {
        const hook_step& now = writer_.now();
        if (begun_ && now.step != step.step) {
            write_out();
        }
        writer_.set_mode(step.mode);
        if (now.step != step.step || now.mode_step != step.mode_step) {
            writer_.set_step(step.step, step.mode_step);
        }
    }

    /// Takes a tensor of the step that was begun.
    void take(std::string_view name, const tensor_view& tensor, std::span<const std::string_view> into) {
        if (name.starts_with("scalar/") && tensor.count() == 1) {
            writer_.take_scalar(std::string{name}, tensor);
            note_first();
        } else if (writer_.take(name, tensor, into)) {
            note_first();
        }
    }

    /// Ends the step of that number.  Returns what it is called in the trial, which has it then; nothing when nothing
    /// was taken.  What was begun under another number before it, and not ended, is forgotten.
    [[nodiscard]] std::optional<hook_step> end(step_number step) {
        if (begun_ && first_.step == step) {
            write_out();
        }
        const auto written = std::exchange(written_, std::nullopt);
        if (written && written->step != step) {
            remove(written->step);
        }
        if (!written || written->step != step) {
            return std::nullopt;
        }
        make_room_for(step);
        kept_.push_back(step);
        look();
        return written;
    }

    /// The steps taken so far, those that are still there.  At the same place for as long as this lives.
    /// Before the first end(): none.
    [[nodiscard]] const trial_type& run() const { return *trial_; }

    [[nodiscard]] const step_memory& memory() const noexcept { return memory_; }

private:
    // When and of which tensors is decided elsewhere; here everything that comes is kept.
    [[nodiscard]] static hook_options options_for(const hook_options& watched, const watch_options& how) {
        hook_options options{.save_config = {.save_interval = 1},
                             .reduction_config = how.reduction_config,
                             .collections = watched.collections,
                             .include_collections = {"all"},
                             .include_regex = watched.include_regex,
                             .save_all = true,
                             .loss_regex = watched.loss_regex,
                             .include_workers = include_workers::all,
                             .worker = watched.worker,
                             .mark_end_of_job = false};
        for (collection& group : options.collections) {
            group.save_config.reset();
            group.reduction_config.reset();
        }
        return options;
    }

    void note_first() {
        if (!std::exchange(begun_, true)) {
            first_ = writer_.now();
        }
    }

    // Writes the step at hand, for which room is made when it ends.
    void write_out() {
        begun_ = false;
        if (const auto forgotten = std::exchange(written_, std::nullopt)) {
            remove(forgotten->step);
        }
        writer_.end_step();
        written_ = first_;
    }

    void remove(step_number step) {
        const std::string& worker = writer_.options().worker;
        memory_.remove(locations::index_key(step, worker));
        memory_.remove(locations::event_key(step, worker));
        writer_.forget(step);
        reopen_ = std::erase(kept_, step) > 0 || reopen_;
    }

    // Removes what is too old, and, when the training went back to an earlier step, what it has left behind.
    void make_room_for(step_number step) {
        reopen_ = std::erase(kept_, step) > 0 || reopen_;  // its files are the new ones already
        while (!kept_.empty() && kept_.back() > step) {
            remove(kept_.back());
        }
        if (kept_.size() >= keep_ + spare_) {
            while (kept_.size() >= keep_) {
                remove(kept_.front());
            }
        }
    }

    // A refresh sees the new step.  What is gone, and what is new in the collections file, only a trial that is opened
    // anew sees: that costs as much as all the kept steps' index files.
    void look() {
        byte_buffer collections = memory_.read(locations::collections_key(writer_.options().worker));
        if (!trial_ || reopen_ || collections.owner() != collections_.owner()) {
            reopen_ = true;  // should the opening fail
            trial_type opened{memory_, reading_};
            if (trial_) {
                *trial_ = std::move(opened);
            } else {
                trial_.emplace(std::move(opened));
            }
            collections_ = std::move(collections);
            reopen_ = false;
        } else {
            trial_->refresh();
        }
    }

    std::size_t keep_;
    std::size_t spare_;  // so many more before old ones go
    step_memory memory_;
    hook_core<step_memory, Kernel, system_wall_clock> writer_;
    bool begun_ = false;                // whether the step at hand has any tensor
    hook_step first_;                   // where that was
    std::optional<hook_step> written_;  // a step that is written, and not ended
    std::deque<step_number> kept_;      // ascending
    trial_options reading_;
    std::optional<trial_type> trial_;
    byte_buffer collections_;  // as the trial knows them
    bool reopen_ = false;
};

}  // namespace v1
}  // namespace smdebug
