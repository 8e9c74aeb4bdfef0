// Subnormal numbers, whatever the caller's thread does with them: a program that g++ links with -ffast-math or -Ofast
// starts with a processor that takes them, and gives them back, as zeros.
#pragma once

#include <cstdint>

namespace smdebug::inline v1::reduce::detail {

/// While it lives, this thread's arithmetic keeps subnormal numbers.  Cost: reading a control register.
/// On other processors than x86-64 and 64-bit ARM it does nothing.
class subnormals_kept {
public:
    subnormals_kept() noexcept : before_(control()) {
        if ((before_ & flushing) != 0) {
            set_control(before_ & ~flushing);
        }
    }
    subnormals_kept(const subnormals_kept&) = delete;
    subnormals_kept& operator=(const subnormals_kept&) = delete;
    ~subnormals_kept() {
        if ((before_ & flushing) != 0) {
            set_control(before_);
        }
    }

private:
#if defined(__x86_64__)
    using control_type = std::uint32_t;
    static constexpr control_type flushing = 0x8040;  // MXCSR: results, and operands, that are subnormal become zeros
    // In assembly, which memory's contents do not pass: nothing that is read from it moves across.
    static control_type control() noexcept {
        control_type value;
        __asm__ volatile("stmxcsr %0" : "=m"(value));
        return value;
    }
    static void set_control(control_type value) noexcept { __asm__ volatile("ldmxcsr %0" : : "m"(value) : "memory"); }
#elif defined(__aarch64__)
    using control_type = std::uint64_t;
    static constexpr control_type flushing = control_type{1} << 24U;  // FPCR.FZ: both
    static control_type control() noexcept {
        control_type value;
        __asm__ volatile("mrs %0, fpcr" : "=r"(value));
        return value;
    }
    static void set_control(control_type value) noexcept { __asm__ volatile("msr fpcr, %0" : : "r"(value) : "memory"); }
#else
    using control_type = std::uint32_t;
    static constexpr control_type flushing = 0;
    static control_type control() noexcept { return 0; }
    static void set_control(control_type /*value*/) noexcept {}
#endif

    control_type before_;
};

}  // namespace smdebug::inline v1::reduce::detail
