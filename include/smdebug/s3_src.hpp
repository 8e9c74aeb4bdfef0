// The counterpart of <smdebug/src.hpp> for S3 and HTTP: include it in exactly one source file of a program in the
// compiled form, the same file or another.
#pragma once

#include <smdebug/core/form.hpp>

#ifdef SMDEBUG_COMPILED
#include <smdebug/src/s3.ipp>
#endif
