// Calls under way at once, never more than so many, whose answers are taken in the order in which they are wanted.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/s3/call/call.hpp>
#include <smdebug/s3/call/call_window.hpp>

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>

namespace smdebug {
inline namespace v1 {
namespace s3 {
namespace detail {

/// The calls of one thread.  Destroying it ends what is under way.
/// Memory: answers that came while another one was waited for.  Borrows: the client, and the bodies of calls.
/// Errors: what the credentials throw.
template <class Client>
class bounded_calls {
public:
    /// `most`: 0 counts as 1.
    bounded_calls(const Client& asked, std::size_t most) : most_(std::max<std::size_t>(most, 1)), window_(asked) {}

    /// Whether no answer is to come, or to be taken.
    [[nodiscard]] bool idle() const noexcept { return window_.idle() && arrived_.empty(); }

    /// Begins a call as soon as there is room for it.  Returns its number: they ascend.
    std::size_t start(call what);

    /// Waits for the end of that call, which was neither taken nor dropped.
    [[nodiscard]] call_result wait(std::size_t number);

    /// Waits for the end of any call: it is not idle.
    [[nodiscard]] std::pair<std::size_t, call_result> next();

    /// Ends a call whose answer nobody wants any more.
    void drop(std::size_t number) noexcept;

private:
    std::size_t most_;
    call_window<Client> window_;
    std::map<std::size_t, call_result> arrived_;
    std::size_t last_ = 0;
};

}  // namespace detail
}  // namespace s3
}  // namespace v1
}  // namespace smdebug

#include <smdebug/s3/call/impl/bounded_calls.tpp>
