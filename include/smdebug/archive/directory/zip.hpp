// The directory of a zip archive, which stands at its end: zip64, too.
#pragma once

#include <smdebug/archive/directory/member.hpp>
#include <smdebug/archive/options.hpp>
#include <smdebug/archive/stream/byte_source.hpp>
#include <smdebug/core/form.hpp>

#include <cstdint>
#include <string_view>

namespace smdebug {
inline namespace v1 {
namespace archive {
namespace detail {

/// Whether it ends as a zip does.  Errors: those of the source.
[[nodiscard]] bool has_zip_end(const byte_source& from);

/// Reads the end and the central directory: two or three reads.  Sizes and checksums are the directory's, so that members
/// which were written with data descriptors are like others.  A member that comes twice is the later one.
/// Names without any '/' that have '\' are paths of Windows, as old programs wrote them.
/// Errors: those of the source; corrupt_data where there is no directory, as when the end is cut off; unsupported for an
///         archive in several files, and for more members than options allow.  A damaged entry ends it: told in `damage`.
[[nodiscard]] directory read_zip(const byte_source& from, const archive_options& options,
                                 member_names names = member_names::paths);

/// Where a member's packed bytes begin: behind its own head, which is read and must have the same name.
/// Errors: corrupt_data, those of the source.
[[nodiscard]] std::uint64_t zip_content_begin(const byte_source& from, std::string_view key, const member& of);

}  // namespace detail
}  // namespace archive
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/archive/directory/impl/zip.ipp>
#endif
