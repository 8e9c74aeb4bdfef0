// Threads that work may be shared with, where somebody counts how many there are in all.
#pragma once

#include <memory>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// A thread that may be used.  Destroying it, on any thread, gives it back.
class thread_lease {
public:
    thread_lease() = default;
    thread_lease(const thread_lease&) = delete;
    thread_lease& operator=(const thread_lease&) = delete;
    virtual ~thread_lease() = default;

    /// Is called on the new thread before it works, which then also destroys the lease.
    virtual void begin() {}
};

/// Who counts threads.
class spare_threads {
public:
    spare_threads() = default;
    spare_threads(const spare_threads&) = delete;
    spare_threads& operator=(const spare_threads&) = delete;
    virtual ~spare_threads() = default;

    /// One thread more than the caller's own; null where none is free.  Threads: calls may run at once.
    [[nodiscard]] virtual std::unique_ptr<thread_lease> take() = 0;
};

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
