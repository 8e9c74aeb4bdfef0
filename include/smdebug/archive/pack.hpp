// Runs packed into one archive that is quick to scan: small files first, event files by step, in frames that can each be
// unpacked alone.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/core/stop_token.hpp>
#include <smdebug/storage/any_storage.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>

namespace smdebug {
inline namespace v1 {

/// A run that goes into an archive.
struct packed_run {
    std::string folder = {};  ///< its name in the archive
    any_storage store;        ///< where it lies; it is only read
};

/// How to pack.
struct pack_options {
    /// Of zstd 1 to 19, of gzip 1 to 9; unset: 3 and 6.
    std::optional<int> level = {};
    /// Threads that read and compress.
    unsigned threads = 1;
    /// An output that is there already is replaced; else that is an error.
    bool replace = false;
    /// Called on the calling thread, now and then, with the bytes that are done and all there are: twice, as all of it is
    /// read back.
    std::function<void(std::uint64_t done, std::uint64_t all)> progress = {};
    /// Ends the packing with `stopped`; nothing is left behind.
    std::stop_token stop = {};
};

/// What was packed.
struct pack_result {
    std::size_t files = 0;
    std::uint64_t bytes = 0;         ///< of the files
    std::uint64_t packed_bytes = 0;  ///< of the archive
};

/// Packs runs into the archive `output`, a file of this machine, by its name: .tar.zst, .tar.gz or .tar.  The archive is
/// written beside its place, brought to the disk, read back and compared with what was read, and only then takes its place:
/// it is there whole or not at all.  The runs are only read.  A file of a run is packed as long as it was at the beginning.
/// Errors: not_found (no run there), value_error (an output of another name, a level that there is not, two runs with one
///         folder, one that leaves the archive), run_exists (the output is there), unavailable (a file changed meanwhile; disk
///         full), corrupt_data (what was written is not what is read back), stopped; those of the storages.
/// Memory: 2 * threads + 2 frames of 4 MiB, twice.  Cost: reading each file once, compressing, and inflating twice.
pack_result pack_runs(std::span<const packed_run> runs, const std::string& output, const pack_options& options = {});

}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/archive/impl/pack.ipp>
#endif
