// The work behind a hook: what is due, where it goes, and what happens when it cannot.
// hook_base.hpp is its interface, with several ways to pass a tensor; here there is one.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/core/function_ref.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/hook/any_clock.hpp>
#include <smdebug/hook/collection_set.hpp>
#include <smdebug/hook/hook_counters.hpp>
#include <smdebug/hook/hook_options.hpp>
#include <smdebug/hook/loss_book.hpp>
#include <smdebug/hook/observer.hpp>
#include <smdebug/hook/observer_list.hpp>
#include <smdebug/hook/reduction_records.hpp>
#include <smdebug/hook/run_writer.hpp>
#include <smdebug/hook/step_counter.hpp>
#include <smdebug/hook/step_writer.hpp>
#include <smdebug/hook/tensor_record.hpp>
#include <smdebug/hook/written_steps.hpp>
#include <smdebug/reduce/any_kernel.hpp>
#include <smdebug/storage/any_storage.hpp>
#include <smdebug/storage/open_storage.hpp>
#include <smdebug/tensor/tensor_view.hpp>

#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace detail {

enum class step_content : std::uint8_t { unknown, nothing, something };

/// A step for which no call was made yet.
struct untouched_step {
    bool is_after_failure = false;  // whether the end_step() before it threw
};

struct begun_step {
    bool saves_everything = false;
    // What is to be written of it; unknown until it is looked at, and again when its mode, its number or the
    // observers change.
    step_content content = step_content::unknown;
    std::uint64_t tensors = 0;  // taken in it
    std::uint64_t written = 0;  // those of them of which anything was written
    // Of a step of which a file could not be written: what end_step() is to throw, or null.
    std::optional<std::exception_ptr> loss = {};
};

/// A hook that is handed tensor_views; see hook_base, which says what its methods mean.
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

    /// Whether take() would take a tensor that is to belong to `into`.
    [[nodiscard]] bool should_save(std::string_view name, std::span<const std::string_view> into = {});
    bool take(std::string_view name, const tensor_view& tensor, std::span<const std::string_view> into);
    void take_scalar(std::string_view name, const tensor_view& tensor);
    void save_everything_next_step() noexcept;

    void end_step();
    void abandon_step();
    /// Whether the step at hand is lost: what is still saved in it is not written.
    [[nodiscard]] bool step_is_lost() const noexcept;
    void flush();
    void close();
    /// Gives up the step at hand and leaves the run as one that can be resumed.
    void close_unfinished() noexcept;

    /// The steps that are there.
    [[nodiscard]] const written_steps& written() const noexcept;
    /// The step's files were taken away.
    void forget(step_number step);
    /// The step that was written last.
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
    // The step at hand, begun now if it was not.
    begun_step& look_at_step();
    // What is known of a tensor that is due in the step that was looked at; nothing where it is not.
    [[nodiscard]] const collection_set::membership* due(begun_step& step, std::string_view name,
                                                        std::span<const std::string_view> into);
    [[nodiscard]] record_stamp stamp();

    bool write(begun_step& step, std::string_view name, const tensor_view& tensor,
               const collection_set::membership& belongs_to);
    // Of the step at hand, if there still is one: on_drop may have ended it.
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
    // Does something with files.  A failure costs the step at hand, and only that one.  It is end_step() that throws it: a
    // loop that catches what a save throws, and goes on with its next iteration, would never end this step.
    void guarded(function_ref<void()> doing);

    hook_options options_;
    any_kernel kernel_;
    any_clock clock_;
    collection_set collections_;
    run_writer run_;
    step_counter steps_;
    observer_list observers_;
    loss_book losses_;
    std::unordered_map<const collection_set::membership*, reduction_records> reductions_;

    std::variant<untouched_step, begun_step> step_;  // the one at hand
    life life_ = life::open;
    bool everything_next_ = false;   // whether the next step that is begun saves everything
    std::uint64_t undue_steps_ = 0;  // ended, at which tensors were offered and nothing was due
    std::optional<step_number> last_written_;
};

}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/hook/impl/hook_core.ipp>
#endif
