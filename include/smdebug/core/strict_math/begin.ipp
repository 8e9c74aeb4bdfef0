// From here to end.ipp arithmetic is that of IEEE 754, however the including file is compiled: -ffast-math, -Ofast and
// -ffinite-math-only let a compiler forget NaN and infinities, and reorder sums.  A function keeps this in every file
// that instantiates or inlines it.  The standard library's functions do not have it: float_kinds.hpp has replacements
// of std::isnan and its like.
#if defined(__clang__) && (defined(__x86_64__) || defined(__aarch64__))
#define SMDEBUG_STRICT_MATH_CLANG
#pragma float_control(push)
#pragma float_control(precise, on)
#elif defined(__FAST_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__) || \
    defined(__ASSOCIATIVE_MATH__) || defined(__RECIPROCAL_MATH__) || defined(__NO_SIGNED_ZEROS__)
#if defined(__clang__)
#error "smdebug: clang has no strict arithmetic for single functions here: compile this file with -fno-fast-math"
#endif
#define SMDEBUG_STRICT_MATH_GCC
#pragma GCC push_options
#pragma GCC optimize("no-fast-math")
#endif
