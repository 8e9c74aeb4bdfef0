// The operators of <smdebug/batch/counted_memory.hpp>: for programs that include it, never part of the compiled form.
// Not inline, though every file that includes this has them: they are weak, of which the linker keeps one each.
// The standard library's operators for arrays, and those that do not throw, call these.
#pragma once

#include <smdebug/batch/counted_memory.hpp>

[[gnu::weak]] std::unique_ptr<smdebug::run_memory> smdebug::v1::counted_memory(std::uint64_t most) {
    return std::make_unique<smdebug::detail::counted_run_memory>(most);
}

[[gnu::weak]] void* operator new(std::size_t size) {
    if (void* const made = smdebug::detail::counted_allocation(size, 0)) {
        return made;
    }
    throw std::bad_alloc{};
}
[[gnu::weak]] void* operator new(std::size_t size, std::align_val_t alignment) {
    if (void* const made = smdebug::detail::counted_allocation(size, static_cast<std::size_t>(alignment))) {
        return made;
    }
    throw std::bad_alloc{};
}
[[gnu::weak]] void operator delete(void* pointer) noexcept { smdebug::detail::counted_free(pointer); }
[[gnu::weak]] void operator delete(void* pointer, std::size_t) noexcept { smdebug::detail::counted_free(pointer); }
[[gnu::weak]] void operator delete(void* pointer, std::align_val_t) noexcept { smdebug::detail::counted_free(pointer); }
[[gnu::weak]] void operator delete(void* pointer, std::size_t, std::align_val_t) noexcept {
    smdebug::detail::counted_free(pointer);
}
