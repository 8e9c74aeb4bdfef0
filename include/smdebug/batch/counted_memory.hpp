// The program's operator new, which counts what a run of a batch allocates: what makes batch_options::memory and
// `smdebug scan --memory` hold.  For programs, to be included by any of their files; not for libraries, as there is one
// operator new in a program.  Where nobody counts it costs a look at a thread's own variable.  Under AddressSanitizer and
// ThreadSanitizer, which have their own operators, nothing is replaced or counted.
#pragma once

#include <smdebug/batch/run_memory.hpp>

#include <malloc.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <string>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// The bytes of one run.
class memory_count {
public:
    explicit memory_count(std::uint64_t most) noexcept : most_(static_cast<std::int64_t>(most)) {}

    /// Whether so much more may be had.  What is small may exceed the limit a little, so that a failure can be told and
    /// cleaned up after.
    [[nodiscard]] bool has_room(std::size_t size) const noexcept {
        const std::int64_t room = most_ - used_.load(std::memory_order_relaxed);
        return static_cast<std::int64_t>(size) <= room + (size <= small ? spare : 0);
    }
    void add(std::size_t size) noexcept { used_.fetch_add(static_cast<std::int64_t>(size), std::memory_order_relaxed); }
    void remove(std::size_t size) noexcept {
        used_.fetch_sub(static_cast<std::int64_t>(size), std::memory_order_relaxed);
    }
    void refuse() noexcept { refused_.store(true, std::memory_order_relaxed); }
    [[nodiscard]] bool refused() const noexcept { return refused_.load(std::memory_order_relaxed); }
    [[nodiscard]] std::uint64_t most() const noexcept { return static_cast<std::uint64_t>(most_); }
    [[nodiscard]] std::int64_t used() const noexcept { return used_.load(std::memory_order_relaxed); }

private:
    static constexpr std::size_t small = 4096;
    static constexpr std::int64_t spare = std::int64_t{8} << 20U;

    std::int64_t most_;
    std::atomic<std::int64_t> used_ = 0;
    std::atomic<bool> refused_ = false;
};

/// For whom this thread allocates.
inline thread_local memory_count* counted_now = nullptr;

/// As operator new, counted.
[[nodiscard]] inline void* counted_allocation(std::size_t size, std::size_t alignment) noexcept {
    memory_count* const count = counted_now;
    if (count != nullptr && !count->has_room(size)) {
        count->refuse();
        return nullptr;
    }
    void* const made = alignment <= alignof(std::max_align_t)
                           ? std::malloc(size > 0 ? size : 1)
                           : std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
    if (count != nullptr && made != nullptr) {
        count->add(::malloc_usable_size(made));
    }
    return made;
}

inline void counted_free(void* pointer) noexcept {
    if (memory_count* const count = counted_now; count != nullptr && pointer != nullptr) {
        count->remove(::malloc_usable_size(pointer));
    }
    std::free(pointer);
}

class counted_run_memory : public run_memory {
public:
    explicit counted_run_memory(std::uint64_t most) noexcept : count_(most) {}
    void enter() noexcept override { counted_now = &count_; }
    void leave() noexcept override { counted_now = nullptr; }
    [[nodiscard]] bool refused() const noexcept override { return count_.refused(); }
    [[nodiscard]] std::string words() const override {
        return "the " + std::to_string(count_.most() >> 20U) + " MiB that one run may have";
    }

private:
    memory_count count_;
};

}  // namespace detail

}  // namespace v1
}  // namespace smdebug

#ifdef __has_feature
#if !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer)
#include <smdebug/batch/impl/counted_memory.tpp>
#endif
#elif !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#include <smdebug/batch/impl/counted_memory.tpp>
#endif
