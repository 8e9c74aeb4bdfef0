// What <smdebug/src.hpp> is to the library, for S3 and HTTP: included in one source file of a program in the compiled
// form, the same or another.
#pragma once

#include <smdebug/core/form.hpp>

#ifdef SMDEBUG_COMPILED
#include <smdebug/src/s3.ipp>
#endif
