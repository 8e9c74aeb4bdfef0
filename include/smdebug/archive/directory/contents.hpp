// An archive of any supported kind: its directory, and the bytes of its members.
#pragma once

#include <smdebug/archive/directory/kept_index.hpp>
#include <smdebug/archive/directory/member.hpp>
#include <smdebug/archive/options.hpp>
#include <smdebug/archive/stream/byte_source.hpp>
#include <smdebug/archive/stream/decoded_source.hpp>
#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/function_ref.hpp>
#include <smdebug/core/lru.hpp>
#include <smdebug/storage/concepts.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace smdebug::inline v1::archive::detail {

/// The format of an archive by its first bytes; its name is not trusted.
enum class format : std::uint8_t { tar, gzip, zstd, zip, unknown };
[[nodiscard]] format format_of(byte_view head) noexcept;

/// The name of an unsupported compression format, by the first bytes; empty for anything else.
[[nodiscard]] std::string_view compression_not_read(byte_view head) noexcept;

/// The message for a file that is not an archive: which formats are supported, and what the file is, if its first bytes
/// show that.
[[nodiscard]] std::string what_is_read(byte_view head);

/// Whether stored indexes are looked for, and new ones are stored.
enum class indexes : std::uint8_t { used, ignored };

/// An opened archive.  Threads: all functions may be called concurrently.
class contents {
public:
    /// Reads the directory: all heads of a .tar, the end of a .zip, all of a compressed .tar, once.  If an index of the
    /// archive is stored, that is read instead; a new one is stored if options say so and it saves enough time.
    /// Errors: unsupported (no archive, or of another format), corrupt_data (nothing of it can be read), and those of
    ///         the source.
    contents(std::shared_ptr<const byte_source> archive, const archive_options& options, indexes how = indexes::used,
             member_names names = member_names::paths);

    [[nodiscard]] const directory& members() const noexcept { return directory_; }
    /// "tar", "tar.gz", "tar.zst" or "zip".
    [[nodiscard]] std::string_view kind() const noexcept { return kind_; }

    /// The bytes of an index; empty where opening costs about as little without one (a zip, a small archive, a single
    /// frame of zstd), and where the index could be wrong: for a damaged archive, and for a source that does not show
    /// whether it has changed.
    /// Errors: those of the source.
    [[nodiscard]] std::vector<std::byte> index() const;
    /// A smaller archive needs no index.
    static constexpr std::uint64_t least_indexed_bytes = std::uint64_t{1} << 20U;

    /// A part of a member, by its key in the directory; a range beyond the member's end is cut there.
    /// Errors: corrupt_data, with archive, member and offset; unsupported (sparse, encrypted, ...), those of the
    ///         source.
    [[nodiscard]] byte_buffer read(std::string_view key, const member& of, byte_range where) const;

    /// Reads from `offset` of a member until `into` is full or the member ends; returns the number of bytes read.
    /// Errors: as read().
    [[nodiscard]] std::size_t read_at(std::string_view key, const member& of, std::uint64_t offset,
                                      std::span<std::byte> into) const;

    /// At most so many bytes of a member, without copying, if they are in memory; see opened_object::part().
    [[nodiscard]] byte_buffer part(std::string_view key, const member& of, std::uint64_t offset,
                                   std::uint64_t most) const;

    /// A member to be read in pieces, with the notes that were made while it was inflated; null for a zip, whose
    /// checksums cover whole members.  Keeps `all` alive.
    [[nodiscard]] static std::unique_ptr<opened_object> open(std::shared_ptr<const contents> all, std::string_view key,
                                                             const member& of);

    struct wanted_part {
        std::string_view key;
        const member* of = nullptr;
        byte_range where;
    };
    /// Reads many parts, in the order of the list.
    void read_many(std::span<const wanted_part> parts, part_sink sink) const;
    /// Where the bytes of a zip's members begin in the archive, so that a part costs a read of that part; nothing for
    /// those that are compressed or not read, and for null.
    /// Errors: corrupt_data, those of the source.  Cost: a small read for each, all together.
    [[nodiscard]] std::vector<std::optional<std::uint64_t>> stored_places(
        std::span<const std::pair<const std::string, member>* const> files) const;
    /// Whether that costs less than reading the parts one by one.
    [[nodiscard]] bool batches_ranges() const { return plain_ == archive_ && archive_->batches_ranges(); }

private:
    static constexpr std::size_t most_open_members = 16;  // of a zip, which are cached with their inflated bytes

    class opened_member;

    [[nodiscard]] bool may_have_index() const;
    [[nodiscard]] bool take_index(const index_places& places, const std::shared_ptr<const codec>& unpacks);
    void read_directory(format outer);
    void keep_index(const index_places& places) const;
    [[nodiscard]] static bool reads_pieces(const member& of) noexcept {
        return of.how == packing::stored && !of.behind_own_head;
    }
    // Looks at a member of a compressed stream while the stream is inflated up to its end for the first time: an event
    // file is shown to options_.in_passing, whose notes are kept; of other small files the bytes are kept.
    void pass(std::string_view key, const member& of);
    [[nodiscard]] std::uint64_t wanted_of(std::string_view key, const member& of, byte_range where) const;
    [[nodiscard]] std::shared_ptr<const byte_source> unpacked_of(std::string_view key, const member& of) const;
    [[nodiscard]] std::shared_ptr<const byte_source> open_member(std::string_view key, const member& of) const;
    void check_whole(std::string_view key, const member& of, byte_range where, const byte_buffer& bytes) const;
    // Calls doing(), which reads bytes of a member; damage is reported as damage of that member.
    template <class Doing>
    [[nodiscard]] auto reading(std::string_view key, const member& of, Doing&& doing) const;
    // Throws unless all requested bytes, from `begin` on, were read.
    void check_length(std::string_view key, std::uint64_t begin, std::uint64_t length, std::uint64_t wanted) const;
    [[noreturn]] void throw_damaged(std::string_view key, std::uint64_t offset, const std::string& why) const;

    std::shared_ptr<const byte_source> archive_;
    std::shared_ptr<const byte_source> plain_;  // the offsets of the directory refer to this
    archive_options options_;
    std::string_view kind_;
    directory directory_;
    std::shared_ptr<const decoded_source> decoded_;  // plain_, of a compressed .tar

    // The members of a compressed stream, by their first byte in the inflated stream.
    std::unordered_map<std::uint64_t, byte_buffer> small_;
    std::uint64_t small_bytes_ = 0;
    std::unordered_map<std::uint64_t, std::shared_ptr<const object_notes>> notes_;

    mutable std::mutex guard_;
    // Members of a zip, by the offsets of their heads: members of one zip do not overlap.
    mutable smdebug::detail::lru<std::uint64_t, std::shared_ptr<const byte_source>> recent_{most_open_members};
};

}  // namespace smdebug::inline v1::archive::detail

#ifndef SMDEBUG_COMPILED
#include <smdebug/archive/directory/impl/contents.ipp>
#endif
