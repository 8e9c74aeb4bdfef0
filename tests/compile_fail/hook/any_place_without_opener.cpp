// A hook whose place is chosen at run time, where nobody knows how: hook/hook.hpp does.
// expect: place_opener<
#undef SMDEBUG_COMPILED  // that form has this hook ready, opener and all
#ifdef CONTROL
#include <smdebug/hook/hook.hpp>
#else
#include <smdebug/hook/basic_hook.hpp>
#endif

void use(const smdebug::hook_options& options) { smdebug::basic_hook<smdebug::any_place> training{options}; }
