// Counts the heap allocations of the calling thread.
// One source file of a test program defines SMDEBUG_TEST_COUNT_ALLOCATIONS before it includes this, no more: that file
// then holds what counts, for the whole program.  Allocations of over-aligned types do not count.
#pragma once

#include <cstddef>

namespace smdebug_test {

/// Allocations that this thread has made.
[[nodiscard]] std::size_t allocations() noexcept;
/// Their bytes.
[[nodiscard]] std::size_t allocated_bytes() noexcept;

/// Those that it makes while work() runs.
template <class Work>
[[nodiscard]] std::size_t allocations_of(Work&& work) {
    const std::size_t before = allocations();
    work();
    return allocations() - before;
}

}  // namespace smdebug_test

#ifdef SMDEBUG_TEST_COUNT_ALLOCATIONS

#include <cstdlib>
#include <new>

#include <support/sanitized.hpp>

namespace smdebug_test {
namespace {
thread_local std::size_t allocations_made = 0;
thread_local std::size_t bytes_made = 0;
}  // namespace
}  // namespace smdebug_test

#ifdef SMDEBUG_TEST_SANITIZED

// A sanitizer's own operators check that new and delete belong together: they stay, and the sanitizer counts.
extern "C" int __sanitizer_install_malloc_and_free_hooks(void (*allocated)(const volatile void*, std::size_t),
                                                         void (*freed)(const volatile void*));

namespace smdebug_test {
namespace {
void begin_to_count() noexcept {
    static const int hooks = __sanitizer_install_malloc_and_free_hooks(
        [](const volatile void*, std::size_t size) {
            ++allocations_made;
            bytes_made += size;
        },
        [](const volatile void*) {});
    static_cast<void>(hooks);
}
}  // namespace
}  // namespace smdebug_test

std::size_t smdebug_test::allocations() noexcept {
    begin_to_count();
    return allocations_made;
}
std::size_t smdebug_test::allocated_bytes() noexcept {
    begin_to_count();
    return bytes_made;
}

#else

std::size_t smdebug_test::allocations() noexcept { return allocations_made; }
std::size_t smdebug_test::allocated_bytes() noexcept { return bytes_made; }

// The standard library's operators for arrays and nothrow call these.  Not inline: g++ would see free meet operator
// new.
[[gnu::noinline]] void* operator new(std::size_t size) {
    ++smdebug_test::allocations_made;
    smdebug_test::bytes_made += size;
    if (void* const made = std::malloc(size > 0 ? size : 1)) {
        return made;
    }
    throw std::bad_alloc{};
}
[[gnu::noinline]] void operator delete(void* held) noexcept { std::free(held); }
[[gnu::noinline]] void operator delete(void* held, std::size_t) noexcept { std::free(held); }

#endif  // SMDEBUG_TEST_SANITIZED
#endif  // SMDEBUG_TEST_COUNT_ALLOCATIONS
