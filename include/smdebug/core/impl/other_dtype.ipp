// The bodies of <smdebug/core/other_dtype.hpp>.
#pragma once

#include <smdebug/core/other_dtype.hpp>

#ifdef __cpp_exceptions
#include <smdebug/core/error.hpp>
#else
#include <cstdio>
#include <cstdlib>
#endif

#include <string>

namespace smdebug {
inline namespace v1 {

SMDEBUG_INLINE void detail::throw_other_dtype(dtype held, dtype wanted) {
    const std::string asked{name_of(wanted)};
    const std::string message = "the tensor holds " + std::string{name_of(held)} + ", not " + asked +
                                "; converted<T>(tensor) makes a copy of another type";
#ifdef __cpp_exceptions
    throw type_error(message);
#else
    std::fputs(("smdebug: " + message + "\n").c_str(), stderr);
    std::abort();
#endif
}

}  // namespace v1
}  // namespace smdebug
