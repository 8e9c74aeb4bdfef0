// The end of what begin.ipp begins.
#if defined(__clang__) && (defined(__x86_64__) || defined(__aarch64__))
#pragma float_control(pop)
#elif defined(__FAST_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__) || \
    defined(__ASSOCIATIVE_MATH__) || defined(__RECIPROCAL_MATH__) || defined(__NO_SIGNED_ZEROS__)
#pragma GCC pop_options
#endif
