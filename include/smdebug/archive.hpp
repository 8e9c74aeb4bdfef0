// Archives: all of the library that needs zlib and libzstd, in one include.
// In a program of which one file includes it (any one; smdebug::archive in CMake), create_trial("old.tar.gz") opens archives,
// and checkpoints in .npz, in all its files; in others it throws `unsupported`.
#pragma once

#include <smdebug/archive/archive_storage.hpp>
#include <smdebug/archive/options.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/storage/open_storage.hpp>

#ifdef SMDEBUG_COMPILED
namespace smdebug {
inline namespace v1 {
namespace archive {
namespace detail {

// A weak reference takes nothing out of a library; this one does.
extern const int opened_by_path;
[[gnu::used]] inline const int* const uses_opened_by_path = &opened_by_path;

}  // namespace detail
}  // namespace archive
}  // namespace v1
}  // namespace smdebug
#else
#include <smdebug/archive/impl/opened.ipp>
#endif
