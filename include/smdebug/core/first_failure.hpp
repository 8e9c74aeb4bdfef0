// Several operations, each of which is tried even where others fail.
#pragma once

#include <smdebug/core/form.hpp>

#include <exception>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// Remembers what the first of several attempts threw.
class first_failure {
public:
    template <class Doing>
    void attempt(Doing&& doing) noexcept {
        try {
            doing();
        } catch (...) {
            if (!what_) {
                what_ = std::current_exception();
            }
        }
    }

    /// Whether anything was thrown.
    [[nodiscard]] bool happened() const noexcept { return what_ != nullptr; }

    /// Throws it, if anything was thrown.
    void rethrow() const;

private:
    std::exception_ptr what_;
};

}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/core/impl/first_failure.ipp>
#endif
