// The implementation of a hook: what is due, where it goes, and what happens on failure.
// hook.hpp is its interface, with several ways to pass a tensor; here there is one.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/core/function_ref.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/hook/any_clock.hpp>
#include <smdebug/hook/collection_set.hpp>
#include <smdebug/hook/failure_log.hpp>
#include <smdebug/hook/file_sink.hpp>
#include <smdebug/hook/hook_options.hpp>
#include <smdebug/hook/observer_list.hpp>
#include <smdebug/hook/run_writer.hpp>
#include <smdebug/hook/step_writer.hpp>
#include <smdebug/hook/tensor_adapter.hpp>
#include <smdebug/hook/tensor_record.hpp>
#include <smdebug/hook/written_steps.hpp>
#include <smdebug/reduce/any_kernel.hpp>
#include <smdebug/reduce/concepts.hpp>
#include <smdebug/reduce/name.hpp>
#include <smdebug/storage/any_storage.hpp>
#include <smdebug/storage/open_storage.hpp>
#include <smdebug/tensor/tensor_view.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
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

/// What outlives a hook, shared with those that hold on to it: whether it still exists, and the names of tensors that
/// are saved at every step by one of them.
class hook_link {
public:
    explicit hook_link(hook_base& of) noexcept : hook_(&of) {}

    [[nodiscard]] hook_base* hook() const noexcept { return hook_; }
    void hook_is_gone() noexcept { hook_ = nullptr; }

    /// Claims a name for a tensor.  Returns the tensor that has the name already, or `tensor` if that has one already;
    /// null if it has this one now.
    [[nodiscard]] const void* claim(const std::string& name, const void* tensor);
    void release(const std::string& name) noexcept;

private:
    hook_base* hook_;
    std::unordered_map<std::string, const void*> claimed_;
    std::unordered_set<const void*> tensors_;
};

/// A hook that takes tensor_views; hook_base documents its functions.
class hook_core {
public:
    /// `opener`: see run_writer.
    hook_core(any_storage store, hook_options options, any_kernel kernel, any_clock clock,
              place_opener opener = nullptr);
    hook_core(const hook_core&) = delete;
    hook_core& operator=(const hook_core&) = delete;
    ~hook_core() = default;

    void set_mode(mode which);
    [[nodiscard]] const hook_step& now() const noexcept;
    void set_step(step_number global, std::optional<step_number> in_mode);

    /// Whether take() would take a tensor put into `into`.
    [[nodiscard]] bool should_save(std::string_view name, std::span<const std::string_view> into = {});
    bool take(std::string_view name, const tensor_view& tensor, std::span<const std::string_view> into,
              const given_parts& given = {});
    /// What is due of a tensor whose elements are not; unset if they are due, or nothing is.
    [[nodiscard]] std::optional<due_numbers> numbers_alone(std::string_view name,
                                                           std::span<const std::string_view> into = {});
    /// take() without elements, where numbers_alone() says that they are not needed.
    bool take_numbers(std::string_view name, std::span<const std::size_t> shape, const tensor_numbers& numbers,
                      std::span<const std::string_view> into);

    /// Whether any tensor may be due in the current step.
    [[nodiscard]] bool anything_due();
    /// The tensor's entry, by which due() is a few ns.  Its name counts as offered: call it at a step that is due.
    [[nodiscard]] const collection_set::membership& entry_of(std::string_view name) { return collections_.of(name); }
    /// The name is not reported where no collection holds it: a caller that offers everything means no single tensor.
    void excuse(std::string_view name) { collections_.note_watched(name); }
    [[nodiscard]] bool due(const collection_set::membership& tensor, std::string_view name);
    [[nodiscard]] const any_kernel& kernel() const noexcept { return kernel_; }
    void take_scalar(std::string_view name, const tensor_view& tensor);
    void save_everything_next_step() noexcept;

    void end_step();
    void abandon_step();
    /// Whether the current step is lost: further saves in it are not written.
    [[nodiscard]] bool step_is_lost() const noexcept;
    void flush();
    void close();
    /// Abandons the current step and leaves a run that can be resumed.
    void close_unfinished() noexcept;

    /// The steps that exist.
    [[nodiscard]] const written_steps& written() const noexcept;
    /// The step's files were removed.
    void forget(step_number step);
    /// The last step written.
    [[nodiscard]] std::optional<step_number> last_written() const noexcept;
    [[nodiscard]] const hook_counters& counters() const noexcept;
    [[nodiscard]] const hook_options& options() const noexcept;
    [[nodiscard]] std::vector<std::string> unmatched_collections() const;
    [[nodiscard]] std::vector<std::string> unsaved_tensors() const;
    void add_observer(std::shared_ptr<hook_observer> observer);

private:
    enum class life : std::uint8_t { open, closing, closed };

    void refuse_when_closed() const;
    [[nodiscard]] begun_step* begun() noexcept { return std::get_if<begun_step>(&step_); }
    // The current step, begun now if necessary.
    begun_step& look_at_step();
    // The entry of a tensor that is due in the current step; null if it is not due.
    [[nodiscard]] const collection_set::membership* due(begun_step& step, std::string_view name,
                                                        std::span<const std::string_view> into);
    [[nodiscard]] record_stamp stamp();

    bool write(begun_step& step, std::string_view name, const tensor_view& tensor,
               const collection_set::membership& belongs_to, const given_parts& given);
    bool write_digest(const std::string& name, std::int64_t digest, const record_stamp& now);
    // The current step's loss, if the step still exists: on_drop may have ended it.
    void note_loss(std::exception_ptr why) noexcept {
        if (begun_step* const step = begun()) {
            step->loss = std::move(why);
        }
    }
    void count_written(bool any) noexcept {
        if (begun_step* const step = begun(); step != nullptr && any) {
            ++step->written;
        }
    }
    bool note(added outcome, std::string_view name, const tensor_view& tensor);
    void finish_files();
    void next_step() noexcept;
    void note_lost();
    // Runs an operation on files.  A failure loses only the current step.  end_step() throws it, not the save: a loop
    // that catches what a save throws, and continues with its next iteration, would never end this step.
    void synchronized(function_ref<void()> doing);

    hook_options options_;
    any_kernel kernel_;
    any_clock clock_;
    collection_set collections_;
    run_writer run_;
    step_counter steps_;
    observer_list observers_;
    failure_log losses_;
    std::unordered_map<const collection_set::membership*, reduction_records> reductions_;

    std::variant<untouched_step, begun_step> step_;  // the current step
    life life_ = life::open;
    bool everything_next_ = false;   // whether the next step saves everything
    std::uint64_t undue_steps_ = 0;  // finished steps with tensors offered and nothing due
    std::optional<step_number> last_written_;
};

}  // namespace smdebug::inline v1::detail

#ifndef SMDEBUG_COMPILED
#include <smdebug/hook/impl/hook_core.ipp>
#endif
