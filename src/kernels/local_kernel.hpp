// A simd_kernel with internal linkage, and the tables of all kernels.
// A file compiled with -mavx512f must not give the linker a function that is shared with code for any CPU: of two
// copies of an inline function the linker keeps either.  So each of these files has its own instruction set type in an
// unnamed namespace; everything instantiated from it is local.  tests/check_kernel_symbols.sh checks the symbols.
#pragma once

#include <smdebug/core/status.hpp>
#include <smdebug/reduce/concepts.hpp>
#include <smdebug/reduce/dispatched_kernel.hpp>
#include <smdebug/reduce/name.hpp>
#include <smdebug/reduce/simd_batch.hpp>
#include <smdebug/reduce/simd_kernel.hpp>
#include <smdebug/tensor/tensor_view.hpp>

#include <cstddef>

namespace smdebug::inline v1::reduce {

/// xsimd's Base under another name.  Owner is a type from an unnamed namespace.
template <class Base, class Owner>
struct local_arch : Base {};

/// The table for a kernel of Base.
template <class Base, class Owner>
[[nodiscard]] constexpr detail::compiled_kernel local_kernel(const char* instruction_set) noexcept {
    return detail::table_of<simd_kernel<local_arch<Base, Owner>>>(instruction_set);
}

// One file each; the processor decides which are built, see CMakeLists.txt.
extern const detail::compiled_kernel avx512bw_kernel;
extern const detail::compiled_kernel avx2_kernel;
extern const detail::compiled_kernel sse2_kernel;
extern const detail::compiled_kernel neon64_kernel;
extern const detail::compiled_kernel plain_kernel;

}  // namespace smdebug::inline v1::reduce

// Traits that xsimd needs of an instruction set: its registers are those of Base.
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
