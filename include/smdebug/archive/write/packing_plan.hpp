// In which order files come into an archive, and where its frames begin: so that a scan finds what it wants in one pass,
// and a single read unpacks little.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/storage/any_storage.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace smdebug {
inline namespace v1 {

namespace archive {
namespace detail {

/// A file on its way into an archive.
struct packed_file {
    std::size_t run = 0;  ///< its place in the list of runs
    std::string key = {};
    std::uint64_t size = 0;
    std::uint64_t seconds = 0;  ///< when it was written, since 1970; 0 where nobody knows
};

/// A part of a file in a frame.
struct packed_part {
    std::size_t file = 0;  ///< its place in the list of files
    byte_range where = {};
    bool has_head = false;  ///< the file's head stands before it
};

/// All files of the runs: of each first those that say what it has (collections, index, whatever else is small), then its
/// event files, by step.  Errors: not_found for a run that has no files of one; those of its storage.
[[nodiscard]] std::vector<packed_file> files_of(std::span<const any_storage> runs);

/// Cuts files into frames, one after another: small ones share a frame, a large one begins with a frame of its own.
class frame_cutter {
public:
    static constexpr std::uint64_t small_bytes = std::uint64_t{256} << 10U;
    static constexpr std::uint64_t enough_bytes = std::uint64_t{1} << 20U;
    static constexpr std::uint64_t most_bytes = std::uint64_t{4} << 20U;

    /// Borrows the files.
    explicit frame_cutter(std::span<const packed_file> files) noexcept : files_(files) {}

    /// The parts of the next frame; none at the end.  Memory: of its bytes, most_bytes and the small files' heads.
    [[nodiscard]] std::vector<packed_part> next();

private:
    std::span<const packed_file> files_;
    std::size_t file_ = 0;
    std::uint64_t offset_ = 0;  // in it
};

}  // namespace detail
}  // namespace archive
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/archive/write/impl/packing_plan.ipp>
#endif
