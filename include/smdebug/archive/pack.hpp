// Packs runs into one archive that is fast to scan: small files first, event files by step, in frames that can each be
// unpacked alone.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/stop_token.hpp>
#include <smdebug/storage/any_storage.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace smdebug::inline v1 {

/// A run that goes into an archive.
struct packed_run {
    std::string folder = {};  ///< its name in the archive
    any_storage store;        ///< its storage, which is only read
};

/// How to pack.
struct pack_options {
    /// For zstd 1 to 19, for gzip 1 to 9; if unset, 3 and 6.
    std::optional<int> level = {};
    /// Threads that read and compress.
    unsigned threads = 1;
    /// Replaces an existing output, which is an error otherwise.
    bool replace = false;
    /// Called now and then on the calling thread with the number of bytes done and the total, which counts all bytes
    /// twice, as the archive is read back.
    std::function<void(std::uint64_t done, std::uint64_t all)> progress = {};
    /// Ends the packing with `stopped_error`; no file is left.
    std::stop_token stop = {};
};

/// What was packed.
struct pack_result {
    std::size_t files = 0;
    std::uint64_t bytes = 0;         ///< of the files
    std::uint64_t packed_bytes = 0;  ///< of the archive
};

/// Packs runs into the archive `output`, a file of this machine, whose name selects the format: .tar.zst, .tar.gz or
/// .tar.  The archive is written to a temporary file beside its place, synced to disk, read back and compared with the
/// source before it is renamed: it appears whole or not at all.  The runs are only read.  A file that grows meanwhile
/// is packed at its initial length.
/// Errors: not_found (no run there), value_error (another ending of the output's name, an invalid level, two runs with
///         the same folder, a folder outside the archive), run_exists (the output exists), unavailable (a file changed
///         meanwhile; disk full), corrupt_data (the archive reads back differently), stopped_error; those of the storages.
/// Memory: 2 * threads + 2 frames of 4 MiB, twice.  Cost: reading each file once, compressing, and inflating twice.
pack_result pack_runs(std::span<const packed_run> runs, const std::string& output, const pack_options& options = {});

// The order of files in an archive, and where its frames begin: a scan finds everything it needs in one pass, and a
// single read unpacks little.

namespace archive::detail {

/// A file that is to be packed.
struct packed_file {
    std::size_t run = 0;  ///< its place in the list of runs
    std::string key = {};
    std::uint64_t size = 0;
    std::uint64_t seconds = 0;  ///< time of writing, since 1970; 0 where it is unknown
};

/// A part of a file in a frame.
struct packed_part {
    std::size_t file = 0;  ///< its place in the list of files
    byte_range where = {};
    bool has_head = false;  ///< the file's head stands before it
};

/// All files of the runs.  For each run first the small ones (collections, index, others), then its event files by
/// step.
/// Errors: not_found for a run without files of a run; those of its storage.
[[nodiscard]] std::vector<packed_file> files_of(std::span<const any_storage> runs);

/// Cuts files into frames, one after another: small ones share a frame, a large one begins with a frame of its own.
class frame_cutter {
public:
    static constexpr std::uint64_t small_bytes = std::uint64_t{256} << 10U;
    static constexpr std::uint64_t enough_bytes = std::uint64_t{1} << 20U;
    static constexpr std::uint64_t most_bytes = std::uint64_t{4} << 20U;

    /// Borrows the files.
    explicit frame_cutter(std::span<const packed_file> files) noexcept : files_(files) {}

    /// The parts of the next frame; none at the end.  Memory: the frame's bytes, at most most_bytes and the heads of
    /// small files.
    [[nodiscard]] std::vector<packed_part> next();

private:
    std::span<const packed_file> files_;
    std::size_t file_ = 0;
    std::uint64_t offset_ = 0;  // in it
};

}  // namespace archive::detail
}  // namespace smdebug::inline v1

#ifndef SMDEBUG_COMPILED
#include <smdebug/archive/impl/pack.ipp>
#endif
