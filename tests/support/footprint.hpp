// The memory, descriptors and threads of a process, for tests of what must not grow.
#pragma once

#include "support/sanitized.hpp"
#include "support/standard.hpp"

#ifdef SMDEBUG_TEST_SANITIZED
extern "C" std::size_t __sanitizer_get_current_allocated_bytes();
#else
#include <malloc.h>
#endif

namespace smdebug_test {

struct footprint {
    std::size_t heap = 0;  ///< bytes that are allocated and not freed
    std::size_t descriptors = 0;
    std::size_t threads = 0;
};

[[nodiscard]] inline std::size_t entries_of(const char* folder) {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator{folder}, {}));
}

/// What this process holds now.
[[nodiscard]] inline footprint footprint_now() {
    footprint held;
    held.descriptors = entries_of("/proc/self/fd");
    held.threads = entries_of("/proc/self/task");
#ifdef SMDEBUG_TEST_SANITIZED
    held.heap = __sanitizer_get_current_allocated_bytes();
#else
    const auto info = ::mallinfo2();
    held.heap = info.uordblks + info.hblkhd;
#endif
    return held;
}

/// Whether tests run as long as for a release: hours instead of seconds.
[[nodiscard]] inline bool for_a_release() { return std::getenv("SMDEBUG_TEST_ENDURANCE") != nullptr; }

}  // namespace smdebug_test
