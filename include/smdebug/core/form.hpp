// The two forms of the library: header-only, and compiled (smdebug::compiled in CMake, which defines SMDEBUG_COMPILED).
// Bodies are in impl/*.ipp, those of templates in impl/*.tpp. Header-only, every header includes its own body; in the
// compiled form the library contains them.
#pragma once

#ifdef SMDEBUG_COMPILED
#define SMDEBUG_INLINE
#else
#define SMDEBUG_INLINE inline
#include <smdebug/core/strict_math/needs_nan.ipp>
#endif

namespace smdebug::inline v1::detail {

// A program of files in both forms would contain every function twice, and the linker would take either. It refuses
// instead, since one symbol is a plain variable in header-only files, and thread_local in files that use the compiled
// form and in the library, be it static or shared.
#ifdef SMDEBUG_COMPILED
// The first brings in the library's definition of the second, whatever the linker has resolved by then.
// Where containers of the standard library check their use they have other layouts: another name then.
#ifdef _GLIBCXX_DEBUG
extern const int compiled_form_built_with_GLIBCXX_DEBUG;
[[gnu::used]] inline const int* const needs_compiled_form = &compiled_form_built_with_GLIBCXX_DEBUG;
#else
extern const int compiled_form_built_without_GLIBCXX_DEBUG;
[[gnu::used]] inline const int* const needs_compiled_form = &compiled_form_built_without_GLIBCXX_DEBUG;
#endif
extern constinit thread_local int header_only_files_do_not_link_with_those_that_use_smdebug_compiled;
[[gnu::used]] inline const int* uses_compiled_form() noexcept {
    return &header_only_files_do_not_link_with_those_that_use_smdebug_compiled;
}
#else
[[gnu::used]] inline int header_only_files_do_not_link_with_those_that_use_smdebug_compiled = 0;
#endif

}  // namespace smdebug::inline v1::detail
