// What <smdebug/src.hpp> is to the library, for databases of results: included in one source file of a program in the compiled
// form, the same or another.
#pragma once

#include <smdebug/core/form.hpp>

#ifdef SMDEBUG_COMPILED
#include <smdebug/src/batch.ipp>
#endif
