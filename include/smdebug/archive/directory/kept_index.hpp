// An index that is stored for the next program, so that the archive need not be read through again: its directory, and
// the places where inflating can begin.  The file `.smdx`:
//   mark with the format's version | size of the front | size of the file | checksum of these and the front | front |
//   points
// Numbers are little-endian.  The front identifies the archive, and lists its members and the spans of the inflated
// stream, each with two checksums: one of its bytes, one of its access point, which is read separately when it is
// needed.
#pragma once

#include <smdebug/archive/directory/member.hpp>
#include <smdebug/archive/options.hpp>
#include <smdebug/archive/stream/byte_source.hpp>
#include <smdebug/archive/stream/decoded_source.hpp>
#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace smdebug::inline v1::archive::detail {

/// Identifies the archive that an index belongs to: any difference makes the index worthless.
struct archive_identity {
    std::uint64_t size = 0;
    std::string version = {};        ///< see byte_source::version()
    std::uint64_t hash_of_ends = 0;  ///< of the first and the last 64 KiB
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

/// The index in a file, if the file is whole, of this format and of this archive, and every value in it is possible.
/// Access points are read later, from `file`; `unpacks` is null for a plain archive.
/// Errors: none; a file that cannot be read counts as no index.  Memory: the size of the file, which options limit.
[[nodiscard]] std::optional<kept_index> read_index(const std::shared_ptr<const byte_source>& file,
                                                   const archive_identity& of, std::string_view kind,
                                                   const std::shared_ptr<const codec>& unpacks,
                                                   const archive_options& options);

/// Errors: none, for all functions: an index only saves time, and a failure counts as "there is no index".
/// Trust: anyone able to write to one of these places can change what is read.  Threads: all functions may be called
///        concurrently.
class index_places {
public:
    /// `folder` is on this machine; there is none if it is empty.
    index_places(std::shared_ptr<const byte_source> archive, const std::string& folder);

    static constexpr std::size_t count = 2;
    /// The stored index, the local folder first; null if there is none.
    [[nodiscard]] std::shared_ptr<const byte_source> find(std::size_t place) const;

    /// Whether keep() stores anything.
    [[nodiscard]] bool keeps() const noexcept { return !path_.empty(); }
    /// Stores an index in the folder, whole or not at all, readable by its owner alone.
    void keep(byte_view index) const noexcept;

    /// Removes an index that turned out to be wrong, if it is in the folder; returns what the user can do, as the end
    /// of a sentence.
    [[nodiscard]] std::string drop(std::size_t place) const;

private:
    std::shared_ptr<const byte_source> archive_;
    std::string path_;  // of the file in the folder
};

}  // namespace smdebug::inline v1::archive::detail

#ifndef SMDEBUG_COMPILED
#include <smdebug/archive/directory/impl/kept_index.ipp>
#endif
