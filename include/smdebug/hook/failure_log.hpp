// What a hook does about a failure: throw it, or count and report it, and continue.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/hook/collection_set.hpp>
#include <smdebug/hook/file_sink.hpp>
#include <smdebug/hook/hook_options.hpp>
#include <smdebug/hook/step_writer.hpp>

#include <cstdint>
#include <exception>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace smdebug::inline v1::detail {

/// Keeps a hook's counters and applies its failure policy.
/// Borrows: the options.
class failure_log {
public:
    explicit failure_log(const hook_options& options) : options_(&options) {}

    [[nodiscard]] hook_counters& counters() noexcept { return counters_; }
    [[nodiscard]] const hook_counters& counters() const noexcept { return counters_; }

    /// Runs an operation; if it throws, calls on_failure(), which discards what is affected and returns a sentence on
    /// what is lost; then reports or rethrows by policy.
    template <class Doing, class OnFailure>
    void attempt(Doing&& doing, OnFailure&& on_failure) {
        try {
            doing();
        } catch (const std::exception& why) {
            give_up(std::string{on_failure()} + ": " + why.what());
        } catch (...) {  // a user's storage may throw anything
            give_up(std::string{on_failure()} + ": something was thrown that is not a std::exception");
        }
    }

    /// Records files that were lost in the background, or not removed, and the steps that they took.
    /// Errors: the first file's, by policy.
    void note(std::span<const lost_write> lost);

    /// Records a step that the training abandoned; on_drop is not called.
    void note_abandoned(const std::string& sentence);

    /// Records a tensor dropped for lack of room.
    void note_dropped(const std::string& sentence);

private:
    // Must be called while an exception is handled.
    void give_up(const std::string& loss);

    void report(const std::string& loss);

    // Calls on_drop; ignores its exceptions, and does not call it recursively.
    void call(const std::string& sentence);

    const hook_options* options_;
    bool calling_ = false;  // whether on_drop is running
    hook_counters counters_;
};

/// Returns options.notes, then notes on what was saved; empty if nothing is suspicious.  `undue_steps`: the number of
/// finished steps in which tensors were offered and no collection was due; `first`: the first tensor of the last step.
[[nodiscard]] std::vector<std::string> closing_notes(const hook_options& options, const collection_set& all,
                                                     const hook_counters& counters, std::uint64_t undue_steps,
                                                     const first_tensor_repeats& first);

/// Passes a note to options.on_note, or else to standard error.
void report_note(const hook_options& options, const std::string& note);

}  // namespace smdebug::inline v1::detail

#ifndef SMDEBUG_COMPILED
#include <smdebug/hook/impl/failure_log.ipp>
#endif
