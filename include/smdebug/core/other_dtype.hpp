// Elements asked for as a type that the tensor does not hold.  It lies in core because tensor/ compiles without exceptions.
#pragma once

#include <smdebug/core/dtype.hpp>
#include <smdebug/core/form.hpp>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// Throws type_error: elements of a tensor of `held` were asked for as `wanted`.  In a file that is compiled without
/// exceptions it prints the same sentence and ends the program.
[[noreturn]] void throw_other_dtype(dtype held, dtype wanted);

}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/core/impl/other_dtype.ipp>
#endif
