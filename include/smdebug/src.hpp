// The bodies of the library's headers, for a program that is in the compiled form without a library to link: included in
// exactly one source file of a program all of whose files are compiled with SMDEBUG_COMPILED defined.  Header-only it
// changes nothing.  S3, archives and databases of results have theirs: <smdebug/s3_src.hpp>, <smdebug/archive_src.hpp>,
// <smdebug/batch_src.hpp>.
// Reductions are computed with the instruction set that this one file is compiled for; smdebug::compiled, which is made of
// the same parts, picks one when a program starts.
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
