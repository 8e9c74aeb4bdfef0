// What a hook knows of its run and of the current step, and what several calls of hook_base do with it.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/core/function_ref.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/hook/any_clock.hpp>
#include <smdebug/hook/collection_set.hpp>
#include <smdebug/hook/failure_log.hpp>
#include <smdebug/hook/file_sink.hpp>
#include <smdebug/hook/home_process.hpp>
#include <smdebug/hook/hook_options.hpp>
#include <smdebug/hook/observer.hpp>
#include <smdebug/hook/run_writer.hpp>
#include <smdebug/hook/step_writer.hpp>
#include <smdebug/hook/tensor_adapter.hpp>
#include <smdebug/hook/tensor_record.hpp>
#include <smdebug/hook/written_steps.hpp>
#include <smdebug/reduce/any_kernel.hpp>
#include <smdebug/storage/any_storage.hpp>
#include <smdebug/storage/open_storage.hpp>
#include <smdebug/tensor/tensor_view.hpp>

#include <atomic>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

namespace smdebug::inline v1 {

class hook_base;

}  // namespace smdebug::inline v1

namespace smdebug::inline v1::detail {

/// Whether something is due to be written in a step; unknown until that is determined.
enum class step_content : std::uint8_t { unknown, nothing, something };

/// The current step before any tensor was offered.
struct untouched_step {
    bool is_after_failure = false;  // whether the end_step() before it threw
};

/// The current step from then on.
struct begun_step {
    bool saves_everything = false;
    // What is to be written in this step; computed lazily, and again when its mode, its number or the observers change.
    step_content content = step_content::unknown;
    std::uint64_t tensors = 0;  // taken in this step
    std::uint64_t written = 0;  // tensors with something written
    // Unset if the step is not lost.  Null if it is lost, and that has been reported.  Else it is lost, and end_step()
    // throws this.
    std::optional<std::exception_ptr> loss = {};
};

/// What is known of a tensor that is not in memory yet.
struct given_parts {
    const tensor_numbers* numbers = nullptr;  ///< computed where the tensor lies
    const late_elements* late = nullptr;      ///< its elements are on their way
};

/// The data of a hook, for hook_base and hook_door alone; they reach it through a hook_call.
struct hook_state {
    /// `opener`: see run_writer.
    hook_state(hook_base& of, any_storage store, hook_options given, any_kernel by, any_clock from,
               place_opener opener);
    hook_state(const hook_state&) = delete;
    hook_state& operator=(const hook_state&) = delete;
    ~hook_state() = default;

    // --- the step ----------------------------------------------------------------------------------------------

    void refuse_when_closed() const;
    [[nodiscard]] const hook_step& now() const noexcept { return steps.now(); }
    [[nodiscard]] begun_step* begun() noexcept { return std::get_if<begun_step>(&step); }
    /// The current step, begun now if necessary: observers are queried about it, and which collections are due.
    begun_step& look_at_step();
    void set_step(step_number global, std::optional<step_number> in_mode);
    void next_step() noexcept;
    [[nodiscard]] bool step_is_lost() const noexcept;

    // --- a tensor ----------------------------------------------------------------------------------------------

    /// Whether any tensor may be due in the current step.
    [[nodiscard]] bool anything_due();
    /// The entry of a tensor that is due in the current step; null if it is not due.
    [[nodiscard]] const collection_set::membership* due(begun_step& at, std::string_view name,
                                                        std::span<const std::string_view> into);
    /// Whether take() would take a tensor.
    [[nodiscard]] bool wants(std::string_view name, std::span<const std::string_view> into);
    /// A tensor that was checked: decides, writes, and shows it to observers, in the order that hook_base states.
    bool take(std::string_view name, const tensor_view& tensor, std::span<const std::string_view> into,
              const given_parts& given = {});
    void take_scalar(std::string_view name, const tensor_view& tensor);
    bool write(begun_step& at, std::string_view name, const tensor_view& tensor,
               const collection_set::membership& belongs_to, const given_parts& given);
    bool write_digest(const std::string& name, std::int64_t digest, const record_stamp& time);
    [[nodiscard]] record_stamp stamp();
    bool note(added outcome, std::string_view name, const tensor_view& tensor);
    void count_written(bool any) noexcept;

    // --- files and failures ------------------------------------------------------------------------------------

    /// Runs an operation on files.  A failure loses only the current step.  end_step() throws it, not the save: a loop
    /// that catches what a save throws, and continues with its next iteration, would never end this step.
    void synchronized(function_ref<void()> doing);
    /// The current step's loss, if the step still exists: on_drop may have ended it.
    void note_loss(std::exception_ptr why) noexcept;
    /// Reports what failed in the background.
    void note_lost();
    void finish_files();
    /// Abandons the current step and leaves a run that can be resumed.
    void close_unfinished() noexcept;

    // --- observers ---------------------------------------------------------------------------------------------

    struct observing {
        std::shared_ptr<hook_observer> observer;
        bool asked = false;       // about the current step
        bool interested = false;  // in it
    };

    void ask_observers();
    [[nodiscard]] bool observers_want(std::string_view tensor) const;
    /// Passes a tensor to the observers that want it; returns whether there were any.
    bool show(std::string_view name, const tensor_view& tensor, std::span<const std::string_view> into) const;
    /// Drops the current step, and returns the observers that were queried about it.
    std::vector<std::shared_ptr<hook_observer>> dismiss_observers();

    // --- data --------------------------------------------------------------------------------------------------

    enum class life : std::uint8_t { open, closing, closed };

    hook_options options;
    any_kernel kernel;
    any_clock clock;
    collection_set collections;
    run_writer run;
    step_counter steps;
    failure_log losses;
    std::unordered_map<const collection_set::membership*, reduction_records> reductions = {};
    std::deque<observing> observers = {};  // in the order of addition; one may add another while it is called
    bool any_interested = false;           // an observer in the current step

    std::variant<untouched_step, begun_step> step = {};  // the current step
    life phase = life::open;
    bool everything_next = false;   // whether the next step saves everything
    std::uint64_t undue_steps = 0;  // finished steps with tensors offered and nothing due

    home_process home = {};
    std::atomic<std::thread::id> caller = {};     // the thread that is in a call
    int exceptions = std::uncaught_exceptions();  // in flight when the hook was made
    std::shared_ptr<hook_base*> link;             // what holds on to this hook finds null in it when the hook is gone
    std::unordered_map<std::string, const void*> claimed = {};  // see hook_door::claim
    std::unordered_set<const void*> claimed_tensors = {};
};

/// A call of a hook, which has access to its state.  The outermost call of a thread holds the hook; calls within it, by
/// observers, pass.
class hook_call {
public:
    /// Waits for another thread that holds the hook, if the options allow many.
    /// Errors: unsupported in a forked child, which has a copy of the hook, but neither its thread nor the right to
    /// write its run; value_error where another thread holds the hook.
    explicit hook_call(hook_state& of);
    hook_call(const hook_call&) = delete;
    hook_call& operator=(const hook_call&) = delete;
    ~hook_call();

    [[nodiscard]] hook_state* operator->() const noexcept { return state_; }

private:
    hook_state* state_;
    bool holds_ = true;  // false within another call
};

}  // namespace smdebug::inline v1::detail

#ifndef SMDEBUG_COMPILED
#include <smdebug/hook/impl/hook_state.ipp>
#endif
