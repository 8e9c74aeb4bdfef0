// The end of what begin.ipp begins.
#ifdef SMDEBUG_STRICT_MATH_CLANG
#undef SMDEBUG_STRICT_MATH_CLANG
#pragma float_control(pop)
#elif defined(SMDEBUG_STRICT_MATH_GCC)
#undef SMDEBUG_STRICT_MATH_GCC
#pragma GCC pop_options
#endif
