// A simd_kernel that no other file can see, and the tables of all of them.
// A file compiled with -mavx512f must not give the linker a function that code for any CPU shares: of two copies of an
// inline function it keeps either.  So each of these files has an instruction set of its own, in an unnamed namespace:
// what is made from it has no name outside.  tests/check_kernel_symbols.sh looks at what the compiler made of it.
#pragma once

#include <smdebug/core/status.hpp>
#include <smdebug/reduce/concepts.hpp>
#include <smdebug/reduce/dispatched_kernel.hpp>
#include <smdebug/reduce/name.hpp>
#include <smdebug/reduce/simd_kernel.hpp>
#include <smdebug/reduce/xsimd_adapter.hpp>
#include <smdebug/tensor/tensor_view.hpp>

#include <cstddef>

namespace smdebug {
inline namespace v1 {
namespace reduce {

/// xsimd's Base under another name.  Owner is a type from an unnamed namespace.
template <class Base, class Owner>
struct local_arch : Base {};

/// The table for a kernel of Base.
template <class Base, class Owner>
[[nodiscard]] constexpr detail::compiled_kernel local_kernel(const char* instruction_set) noexcept {
    return detail::table_of<simd_kernel<local_arch<Base, Owner>>>(instruction_set);
}

// A file each; which of them are built depends on the processor, see CMakeLists.txt.
extern const detail::compiled_kernel avx512bw_kernel;
extern const detail::compiled_kernel avx2_kernel;
extern const detail::compiled_kernel sse2_kernel;
extern const detail::compiled_kernel neon64_kernel;
extern const detail::compiled_kernel plain_kernel;

}  // namespace reduce
}  // namespace v1
}  // namespace smdebug

// What xsimd wants to know of an instruction set: that its registers are those of Base.
namespace xsimd::types {

template <class T, class Base, class Owner>
struct simd_register<T, smdebug::reduce::local_arch<Base, Owner>> : simd_register<T, Base> {
    using register_type = typename simd_register<T, Base>::register_type;
    simd_register() = default;
    simd_register(register_type value) noexcept : simd_register<T, Base>{value} {}  // NOLINT: implicit, as xsimd's are
};

template <class T, class Base, class Owner>
struct has_simd_register<T, smdebug::reduce::local_arch<Base, Owner>> : has_simd_register<T, Base> {};

template <class T, class Base, class Owner>
struct get_bool_simd_register<T, smdebug::reduce::local_arch<Base, Owner>> : get_bool_simd_register<T, Base> {};

}  // namespace xsimd::types
