// What includes this looks for NaN and infinities.  With -ffinite-math-only a compiler forgets them, also as what
// functions take and return: begin.ipp cannot help there.
#if defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__
#error \
    "smdebug: -ffast-math, -Ofast and -ffinite-math-only hide NaN and infinities: compile this file with \
-fno-finite-math-only, too (the rest of -Ofast may stay), or link smdebug::compiled and include only \
<smdebug/hook/hook.hpp> or <smdebug/trial/trial.hpp> here"
#endif
