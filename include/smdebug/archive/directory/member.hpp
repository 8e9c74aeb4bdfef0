// The directory of an archive: its members by name, where each lies, and what is wrong.
#pragma once

#include <smdebug/archive/options.hpp>
#include <smdebug/archive/stream/byte_source.hpp>
#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/status.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace smdebug::inline v1::archive::detail {

/// How a member's bytes are stored in the archive.
enum class packing : std::uint8_t {
    stored,    ///< as they are
    deflated,  ///< zip's method 8
    zstd,      ///< zip's method 93
    refused,   ///< in an unsupported way: `why` names it
    nowhere,   ///< a link whose target does not exist: `why` names it
};

/// A regular file of an archive.
struct member {
    byte_range where = {};   ///< of its packed bytes; in a zip, from its own head on
    std::uint64_t size = 0;  ///< unpacked
    packing how = packing::stored;
    std::uint32_t sum = 0;         ///< zip: CRC-32 of its bytes
    bool behind_own_head = false;  ///< zip: a head, which holds its own length, stands before the bytes
    std::string why = {};
};

/// A damaged place of an archive.
struct damaged_place {
    std::uint64_t offset = 0;  ///< in the archive, inflated
    std::string what = {};
};

struct directory {
    std::map<std::string, member, std::less<>> members = {};
    std::vector<damaged_place> damage = {};  ///< the first few of them
    std::vector<problem> problems = {};      ///< what else is not read; the places begin with "ARCHIVE!/MEMBER"
    std::uint64_t more_problems = 0;         ///< see add_problem()
    /// Members that are not files of a run: links to folders, devices; 0 where a stored index was read.
    std::uint64_t passed_over = 0;
};

/// A path without ".", "x/.." and empty parts; empty where it leaves the archive.
[[nodiscard]] std::string without_dots(std::string_view path);

/// A member's name as the key of an object: without "./" or '/' at its beginning; empty for a name that leaves the
/// archive ("../x").
[[nodiscard]] std::string key_of(std::string_view name);

/// The message for a member without a key.
[[nodiscard]] problem problem_of_name(std::string_view name);

/// Keeps the first 16 damaged places.
void add_damage(directory& to, std::uint64_t offset, std::string what);

/// Keeps the first 16 problems; one more problem gives the number of the others.
void add_problem(directory& to, problem one);

/// Where runs lie: the folders with collections, an index or events, "" for the archive's own root; in order.
[[nodiscard]] std::vector<std::string> runs_in(const directory& of);

/// Whether the source ends like a zip.  Errors: those of the source.
[[nodiscard]] bool has_zip_end(const byte_source& from);

/// Reads the end and the central directory: two or three reads.  Sizes and checksums are taken from the directory, so
/// members that were written with data descriptors need no special case.  If a member occurs twice, the later one
/// counts.
/// Names with '\' and without any '/' are Windows paths, as old programs wrote them.
/// Errors: those of the source; corrupt_data where there is no directory, as when the end is cut off; unsupported for
///         an archive in several files, and for more members than options allow.  A damaged entry ends the directory,
///         and is noted in `damage`.
[[nodiscard]] directory read_zip(const byte_source& from, const archive_options& options,
                                 member_names names = member_names::paths);

/// Where a member's packed bytes begin: after its own head, which is read and must have the same name.
/// Errors: corrupt_data, those of the source.
[[nodiscard]] std::uint64_t zip_content_begin(const byte_source& from, std::string_view key, const member& of);
/// Finds that place in the first bytes of the member's head, usually as many as zip_head_bytes() says.
[[nodiscard]] std::uint64_t zip_content_begin(const byte_source& from, std::string_view key, const member& of,
                                              byte_view head);
[[nodiscard]] std::uint64_t zip_head_bytes(std::string_view key) noexcept;

}  // namespace smdebug::inline v1::archive::detail

#ifndef SMDEBUG_COMPILED
#include <smdebug/archive/directory/impl/member.ipp>
#endif
