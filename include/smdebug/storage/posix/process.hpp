// Whether this is still the process that it was, or a forked child of it.  Asking the system costs a system call each
// time; here the system says so once, in the child.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/storage/posix/file.hpp>

#include <atomic>
#include <cstring>

namespace smdebug {
inline namespace v1 {
namespace detail {
namespace posix {

/// The process that made it.      Cost: of is_here(), a look at a number in memory.
/// A child that is made without fork(), by clone() alone, is not told apart.
class home_process {
public:
    home_process();

    /// Whether the caller is in that process.
    [[nodiscard]] bool is_here() const noexcept {
        return counts_ ? forks_ == forks_to_here().load(std::memory_order_relaxed) : number_ == process_number();
    }
    /// The number of that process.
    [[nodiscard]] long number() const noexcept { return number_; }

private:
    // Between the first process and this one.
    [[nodiscard]] static std::atomic<unsigned>& forks_to_here() noexcept;

    unsigned forks_;
    long number_;
    bool counts_ = false;
};

}  // namespace posix
}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/storage/posix/impl/process.ipp>
#endif
