// The bodies of the library's headers, for a program in the compiled form that links no library: include it in exactly
// one source file of a program whose files are all compiled with SMDEBUG_COMPILED defined.  Header-only it has no
// effect.  S3 and archives have their own: <smdebug/s3_src.hpp>, <smdebug/archive_src.hpp>.
// Reductions use the instruction set that this file is compiled for; smdebug::compiled, which has the same parts, picks
// one at program start.
#pragma once

#include <smdebug/core/form.hpp>

#ifdef SMDEBUG_COMPILED
#include <smdebug/src/built_in_rules.ipp>
#include <smdebug/src/core.ipp>
#include <smdebug/src/formats.ipp>
#include <smdebug/src/hook.ipp>
#include <smdebug/src/kernel.ipp>
#include <smdebug/src/reports.ipp>
#include <smdebug/src/rules.ipp>
#include <smdebug/src/storage.ipp>
#include <smdebug/src/trial.ipp>
#endif
