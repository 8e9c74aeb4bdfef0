// What is kept of an archive from one program to the next, so that it is not read through again: its directory, and where
// inflating can begin.  The file `.smdx`:
//   mark with the format's version | size of the front | size of the file | checksum of these and the front | front | points
// Numbers are little-endian; the front tells of which archive it is, the members, and the spans of what it inflates to, each
// with checksums: one of its bytes, one of its access point, which is read alone when it is needed.
#pragma once

#include <smdebug/archive/directory/member.hpp>
#include <smdebug/archive/options.hpp>
#include <smdebug/archive/stream/byte_source.hpp>
#include <smdebug/archive/stream/codec.hpp>
#include <smdebug/archive/stream/decoded_source.hpp>
#include <smdebug/core/form.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace archive {
namespace detail {

/// Of which archive an index is: whatever differs makes it worthless.
struct archive_identity {
    std::uint64_t size = 0;
    std::string version = {};  ///< see byte_source::version()
    std::uint64_t ends = 0;    ///< a hash of the first and the last 64 KiB
    friend bool operator==(const archive_identity&, const archive_identity&) = default;
};

/// Errors: those of the source.  Cost: two reads.
[[nodiscard]] archive_identity identity_of(const byte_source& archive);

struct kept_index {
    archive_identity of = {};
    std::string kind = {};                ///< see contents::kind()
    directory members = {};               ///< without damage
    std::vector<stream_span> spans = {};  ///< of a plain archive: none
};

/// The bytes of the file.  Errors: those of where access points are kept.
[[nodiscard]] std::vector<std::byte> written(const kept_index& index);

/// The index in a file, if it is whole, of this format, of this archive, and says nothing that cannot be.
/// Its access points are read later, from `file`; `unpacks` is null for a plain archive.
/// Errors: none; a file that cannot be read is none.  Memory: as much as the file has, and less than options allow.
[[nodiscard]] std::optional<kept_index> read_index(const std::shared_ptr<const byte_source>& file,
                                                   const archive_identity& of, std::string_view kind,
                                                   const std::shared_ptr<const codec>& unpacks,
                                                   const archive_options& options);

}  // namespace detail
}  // namespace archive
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/archive/directory/impl/kept_index.ipp>
#endif
