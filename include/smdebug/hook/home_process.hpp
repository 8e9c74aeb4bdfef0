// Tells a process from its forked children, at the cost of one read of memory.
#pragma once

#include <smdebug/storage/posix/file.hpp>

#include <pthread.h>

#include <atomic>

namespace smdebug::inline v1::detail {

/// The process that made this object. Cost of is_here(): one read of memory.
/// A child made by clone() alone, without fork(), is not detected.
class home_process {
public:
    home_process() {
        // The only way to notice a fork; one handler for all hooks of the process.
        static const int counts = ::pthread_atfork(nullptr, nullptr, [] { ++forks_to_here(); });
        counts_ = counts == 0;
    }

    /// Whether the caller is in that process.
    [[nodiscard]] bool is_here() const noexcept {
        return counts_ ? forks_ == forks_to_here().load(std::memory_order_relaxed) : number_ == posix::process_number();
    }
    /// The number of that process.
    [[nodiscard]] long number() const noexcept { return number_; }

private:
    // Counts forks between the first process and this one.
    [[nodiscard]] static std::atomic<unsigned>& forks_to_here() noexcept {
        static std::atomic<unsigned> count{0};
        return count;
    }

    unsigned forks_ = forks_to_here().load(std::memory_order_relaxed);
    long number_ = posix::process_number();
    bool counts_ = false;
};

}  // namespace smdebug::inline v1::detail
