// A value together with the mutex that protects it: it is accessible only under the lock.
#pragma once

#include <concepts>
#include <mutex>
#include <utility>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// Threads: everything may be called at once.
template <class T>
class guarded {
public:
    /// Access to the value; others wait while this lives.
    class access {
    public:
        explicit access(guarded& of) : lock_(of.mutex_), value_(&of.value_) {}
        [[nodiscard]] T& operator*() const noexcept { return *value_; }
        [[nodiscard]] T* operator->() const noexcept { return value_; }

    private:
        std::lock_guard<std::mutex> lock_;
        T* value_;
    };

    template <class... Arguments>
        requires(std::constructible_from<T, Arguments...>)
    explicit guarded(Arguments&&... arguments) : value_(std::forward<Arguments>(arguments)...) {}

    /// Hold what it returns only as long as it takes: `value.lock()->method()` until the end of the statement.
    [[nodiscard]] access lock() { return access{*this}; }

private:
    std::mutex mutex_;
    T value_;
};

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
