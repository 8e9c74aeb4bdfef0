// What a hook does about a failure: throw it, or count and report it, and go on.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/hook/file_sink.hpp>
#include <smdebug/hook/hook_counters.hpp>
#include <smdebug/hook/hook_options.hpp>

#include <exception>
#include <span>
#include <string>
#include <string_view>

namespace smdebug {
inline namespace v1 {
namespace detail {

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

    /// Notes files that were lost in the background; `uncounted` is the key of one whose step was not counted
    /// as written.      Errors: the first one's, as the policy says.
    void note(std::span<const lost_write> lost, std::string_view uncounted = {});

    /// Notes a step that the training abandoned; on_drop is not called.
    void note_abandoned(const std::string& sentence);

    /// Notes that there was no room for a tensor.
    void note_dropped(const std::string& sentence);

private:
    // While an exception is handled.
    void give_up(const std::string& loss);

    void tell(const std::string& loss);

    // Calls on_drop; ignores what it throws, and does not call it again from within.
    void call(const std::string& sentence);

    const hook_options* options_;
    bool calling_ = false;  // whether on_drop is at work
    hook_counters counters_;
};

}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/hook/impl/loss_book.ipp>
#endif
