// How archives are read: how much memory that may take, and the limits beyond which an archive counts as an attack.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace smdebug::inline v1 {

class inflate_observer;

struct archive_options {
    /// Inflated bytes that are cached, shared by all readers of one archive, and half as much again for its small files
    /// (index and collections).  At least two pieces of a few MiB are cached in any case.
    std::uint64_t memory_bytes = std::uint64_t{64} << 20U;
    /// An archive that inflates to more than so many times its size is refused as soon as that is noticed.
    std::uint64_t most_ratio = 1'000;
    /// An archive that inflates to more bytes than these is refused as soon as that is noticed.
    std::uint64_t most_bytes = std::uint64_t{64} << 30U;
    /// An archive with more members is refused.
    std::uint64_t most_members = std::uint64_t{1} << 26U;

    /// Threads that inflate a .tar.gz for its directory, if its gzip members store their size, as bgzip and smdebug
    /// pack write them.  Each takes some MiB.  (Frames of zstd are decoded by one thread: passing them between threads
    /// costs as much.)
    unsigned threads = 1;

    /// If the directory of an archive is damaged, the readable rest is read; else opening the archive by its path
    /// fails.
    bool skip_damaged = false;

    /// A folder of this machine that stores an index of each archive of 1 MiB or more: its directory, and where
    /// inflating can begin, so that the archive is not read through a second time.  An index that is damaged or of
    /// another version of the archive is made anew.  Anyone able to write to the folder can change what is read.
    /// If it is empty, archives that are opened by their paths use storage_options.cache_folder, else
    /// SMDEBUG_CACHE_DIR, else no index is stored.  An index beside the archive, `old.tar.gz.smdx`, is read in any
    /// case: see archive_storage::index().
    std::string index_folder = {};

    /// Reads the files of a compressed .tar while the archive is inflated for its directory, so that the values noted
    /// then need not be inflated again: see reduce_in_passing().  It is null if there is no such reader.
    std::shared_ptr<inflate_observer> in_passing = {};

    /// For archives from untrusted sources: limits on the inflated size and the number of members.
    [[nodiscard]] static archive_options untrusted() {
        archive_options tight;
        tight.most_ratio = 200;
        tight.most_bytes = std::uint64_t{4} << 30U;
        tight.most_members = 1'000'000;
        return tight;
    }

    friend bool operator==(const archive_options&, const archive_options&) = default;
};

namespace archive::detail {

/// How the names of a zip's members are read.
enum class member_names : std::uint8_t {
    paths,  ///< as paths of files: "./a//b" is "a/b", and "../a" is not a file of the archive
    texts,  ///< unchanged, as the names of an .npz's arrays
};

}  // namespace archive::detail
}  // namespace smdebug::inline v1
