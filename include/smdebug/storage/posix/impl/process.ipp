// The bodies of <smdebug/storage/posix/process.hpp>.
#pragma once

#include <smdebug/storage/posix/process.hpp>

#include <pthread.h>

namespace smdebug {
inline namespace v1 {
namespace detail {
namespace posix {

SMDEBUG_INLINE home_process::home_process()
    : forks_(forks_to_here().load(std::memory_order_relaxed)), number_(process_number()) {
    // The only way to hear of a fork; one handler for all hooks of the process.
    static const int counts = ::pthread_atfork(nullptr, nullptr, [] { ++forks_to_here(); });
    counts_ = counts == 0;
}

SMDEBUG_INLINE std::atomic<unsigned>& home_process::forks_to_here() noexcept {
    static std::atomic<unsigned> count{0};
    return count;
}

}  // namespace posix
}  // namespace detail
}  // namespace v1
}  // namespace smdebug
