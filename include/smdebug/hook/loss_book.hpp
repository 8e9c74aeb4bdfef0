// What a hook does about a failure: throw it, or count it, tell it, and go on.
// Used by: hook (hook_core).
#pragma once

#include <smdebug/core/first_failure.hpp>
#include <smdebug/core/printable_text.hpp>
#include <smdebug/hook/file_sink.hpp>
#include <smdebug/hook/hook_counters.hpp>
#include <smdebug/hook/hook_options.hpp>
#include <smdebug/index/locations.hpp>

#include <exception>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace smdebug {
inline namespace v1 {

/// Keeps a hook's counters, and its policy of losses.
/// Borrows: the options.
class loss_book {
public:
    explicit loss_book(const hook_options& options) : options_(&options) {}

    [[nodiscard]] hook_counters& counters() noexcept { return counters_; }
    [[nodiscard]] const hook_counters& counters() const noexcept { return counters_; }

    /// Does something that may fail.  Where it does, calls on_failure() for what has to be given up, which returns what
    /// is lost, as a sentence; then tells or throws it, as the policy says.
    template <class Doing, class OnFailure>
    void attempt(Doing&& doing, OnFailure&& on_failure) {
        try {
            doing();
        } catch (const std::exception& why) {
            give_up(std::string{on_failure()} + ": " + why.what());
        } catch (...) {  // a storage of the user's may throw anything
            give_up(std::string{on_failure()} + ": something was thrown that is no std::exception");
        }
    }

    /// Notes files that were lost behind the training's back; `uncounted` is the key of one whose step was not counted
    /// as written.      Errors: the first one's, as the policy says.
    void note(std::span<const lost_write> lost, std::string_view uncounted = {}) {
        first_failure failure;
        for (const lost_write& file : lost) {
            // With its events or its index a step is lost, with another file none.
            if (file.key.starts_with(locations::events_folder) || file.key.starts_with(locations::index_folder)) {
                counters_.steps -= file.key == uncounted ? 0U : 1U;
                ++counters_.lost_steps;
            }
            failure.attempt(
                [&] { attempt([&] { std::rethrow_exception(file.why); }, [&] { return file.key + " is lost"; }); });
        }
        failure.rethrow();
    }

    /// Notes a step that the training gave up, who need not be told.
    void note_abandoned(const std::string& sentence) {
        ++counters_.lost_steps;
        counters_.last_loss = sentence;
    }

    /// Notes that there was no room for a tensor.
    void note_dropped(const std::string& sentence) {
        ++counters_.dropped_tensors;
        call(printable(sentence));
    }

private:
    // While an exception is handled.
    void give_up(const std::string& loss) {
        tell(printable(loss));
        if (options_->on_failure == failure_policy::raise) {
            throw;
        }
    }

    void tell(const std::string& loss) {
        counters_.last_loss = loss;
        if (options_->on_failure == failure_policy::drop) {
            call(loss);
        }
    }

    // A log that fails, or that saves something itself, must not cost more than the loss that it is told of.
    void call(const std::string& sentence) {
        if (options_->on_drop && !std::exchange(calling_, true)) {
            try {
                options_->on_drop(sentence);
            } catch (...) {
            }
            calling_ = false;
        }
    }

    const hook_options* options_;
    bool calling_ = false;  // whether on_drop is at work
    hook_counters counters_;
};

}  // namespace v1
}  // namespace smdebug
