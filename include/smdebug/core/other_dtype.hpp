// Reports a read of elements as another type than the tensor holds. It is in core because tensor/ compiles without
// exceptions.
#pragma once

#include <smdebug/core/dtype.hpp>

#include <string>

#ifdef __cpp_exceptions
#include <smdebug/core/error.hpp>
#else
#include <cstdio>
#include <cstdlib>
#endif

namespace smdebug::inline v1::detail {

/// Throws wrong_dtype: elements of a tensor of `held` were read as `wanted`. In a file that is compiled without
/// exceptions it prints the same sentence and ends the program.
[[noreturn]] inline void throw_other_dtype(dtype held, dtype wanted) {
    const std::string asked{name_of(wanted)};
    const std::string message = "the tensor holds " + std::string{name_of(held)} + ", not " + asked +
                                "; converted<T>(tensor) makes a copy of another type";
#ifdef __cpp_exceptions
    throw unsupported(error_code::wrong_dtype, message);
#else
    std::fputs(("smdebug: " + message + "\n").c_str(), stderr);
    std::abort();
#endif
}

}  // namespace smdebug::inline v1::detail
