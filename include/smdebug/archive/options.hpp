// How archives are read: how much memory that may take, and what is no archive of runs but an attack.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace smdebug {
inline namespace v1 {

class passing_reader;

struct archive_options {
    /// Inflated bytes that are kept in memory, for all readers of one archive together, and half as much again of its small
    /// files: index and collections.  At least two pieces of a few MiB are, whatever it says.
    std::uint64_t memory_bytes = std::uint64_t{64} << 20U;
    /// An archive that inflates to more than so many times its size is refused where that is noticed.
    std::uint64_t most_ratio = 1'000;
    /// An archive that inflates to more bytes than these, too.
    std::uint64_t most_bytes = std::uint64_t{64} << 30U;
    /// An archive with more members, too.
    std::uint64_t most_members = std::uint64_t{1} << 26U;

    /// Threads that inflate a .tar.gz for its directory, where its members tell where they end, as those that bgzip and
    /// smdebug pack write.  Each takes some MiB.  (Frames of zstd are decoded by one: handing them over costs as much.)
    unsigned threads = 1;

    /// Of an archive whose directory is damaged, what can be read around that is read; else opening it by its path fails.
    bool skip_damaged = false;

    /// A folder of this machine in which an index of each archive of 1 MiB or more is kept: its directory, and where inflating
    /// can begin, so that it is not read through a second time.  Of another version of the archive, or damaged, an index is
    /// made anew.  Who can write to the folder can change what is read.  Empty: of archives that are opened by their paths
    /// storage_options.cache_folder, else SMDEBUG_CACHE_DIR, else none is kept.  One that lies beside the archive,
    /// `old.tar.gz.smdx`, is read in any case: see archive_storage::index().
    std::string index_folder = {};

    /// Reads the files of a compressed .tar while it is inflated for its directory, so that what it writes down of them
    /// need not be inflated again: see reduce_in_passing().  Null: nobody.
    std::shared_ptr<passing_reader> in_passing = {};

    /// For archives that come from anybody: what they inflate to, and how many members they may have.
    [[nodiscard]] static archive_options untrusted() {
        archive_options tight;
        tight.most_ratio = 200;
        tight.most_bytes = std::uint64_t{4} << 30U;
        tight.most_members = 1'000'000;
        return tight;
    }

    friend bool operator==(const archive_options&, const archive_options&) = default;
};

namespace archive {
namespace detail {

/// What the names of a zip's members are.
enum class member_names : std::uint8_t {
    paths,  ///< of files: "./a//b" is "a/b", and "../a" is no file of the archive
    texts,  ///< as they are, as the names of an .npz's arrays
};

}  // namespace detail
}  // namespace archive
}  // namespace v1
}  // namespace smdebug
