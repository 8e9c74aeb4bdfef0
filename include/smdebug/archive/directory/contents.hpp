// An archive of whichever kind: its directory, and its members' bytes.
#pragma once

#include <smdebug/archive/directory/index_places.hpp>
#include <smdebug/archive/directory/member.hpp>
#include <smdebug/archive/options.hpp>
#include <smdebug/archive/stream/byte_source.hpp>
#include <smdebug/archive/stream/codec.hpp>
#include <smdebug/archive/stream/decoded_source.hpp>
#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/function_ref.hpp>
#include <smdebug/storage/opened_object.hpp>
#include <smdebug/storage/passing_reader.hpp>

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace archive {
namespace detail {

/// The format of an archive, by its first bytes, as its name may say anything.
enum class format : std::uint8_t { tar, gzip, zstd, zip, unknown };
[[nodiscard]] format format_of(byte_view head) noexcept;

/// The name of a packing that is not read, by the first bytes; empty for others.
[[nodiscard]] std::string_view compression_not_read(byte_view head) noexcept;

/// What to say of a file that is no archive: what is read, and what it is, where its first bytes tell that.
[[nodiscard]] std::string what_is_read(byte_view head);

/// Whether indexes that are kept somewhere are looked for, and kept.
enum class indexes : std::uint8_t { used, ignored };

/// An opened archive.  Threads: everything may be called at once.
class contents {
public:
    /// Reads the directory: of a .tar its heads, of a .zip its end, of a compressed .tar all of it, once.  Where an
    /// index of it is kept, that is read instead; and one is kept where options say so, and it is worth its while.
    /// Errors: unsupported (no archive, or of another format), corrupt_data (nothing of it can be read), and those of the
    ///         source.
    contents(std::shared_ptr<const byte_source> archive, const archive_options& options, indexes how = indexes::used,
             member_names names = member_names::paths);

    [[nodiscard]] const directory& members() const noexcept { return directory_; }
    /// "tar", "tar.gz", "tar.zst" or "zip".
    [[nodiscard]] std::string_view kind() const noexcept { return kind_; }

    /// The bytes of an index; none where opening costs about as little without: of a zip, of what is small, and of a
    /// single frame of zstd; and where nothing may be kept: of what is damaged, or nothing tells whether it has changed.
    /// Errors: those of the source.
    [[nodiscard]] std::vector<std::byte> index() const;
    /// What is smaller needs none.
    static constexpr std::uint64_t least_indexed_bytes = std::uint64_t{1} << 20U;

    /// A part of a member, by its key in the directory, cut at its end.
    /// Errors: corrupt_data, with archive, member and offset; unsupported (sparse, encrypted, ...), those of the source.
    [[nodiscard]] byte_buffer read(std::string_view key, const member& of, byte_range where) const;

    /// Reads a part of a member from `offset` on until `into` is full or it ends; returns how many bytes there were.
    /// Errors: as read().
    [[nodiscard]] std::size_t read_at(std::string_view key, const member& of, std::uint64_t offset,
                                      std::span<std::byte> into) const;

    /// At most so many bytes of a member, where they are in memory as they are; see opened_object::part().
    [[nodiscard]] byte_buffer part(std::string_view key, const member& of, std::uint64_t offset,
                                   std::uint64_t most) const;

    /// A member to be read in pieces, with what was written down of it in passing; null where that may not be: of a zip,
    /// checksums are of whole members.  `all` is kept alive.
    [[nodiscard]] static std::unique_ptr<smdebug::detail::opened_object> open(std::shared_ptr<const contents> all,
                                                                              std::string_view key, const member& of);

    /// What is read of each: the place in the list, and the bytes.
    struct wanted_part {
        std::string_view key;
        const member* of = nullptr;
        byte_range where;
    };
    /// Many parts, in the order of the list.
    void read_many(std::span<const wanted_part> parts, function_ref<void(std::size_t, byte_buffer)> sink) const;
    /// Whether that costs less than one by one.
    [[nodiscard]] bool batches_ranges() const { return plain_ == archive_ && archive_->batches_ranges(); }

private:
    struct unpacked {
        std::uint64_t offset = 0;  // of the member's head: members of one zip lie apart
        std::shared_ptr<const byte_source> bytes;
    };

    class opened_member;

    [[nodiscard]] bool may_have_index() const;
    [[nodiscard]] bool take_index(const index_places& places, const std::shared_ptr<const codec>& unpacks);
    void read_directory(format outer);
    void keep_index(const index_places& places) const;
    [[nodiscard]] static bool reads_pieces(const member& of) noexcept {
        return of.how == packing::stored && !of.behind_own_head;
    }
    // Looks at a member of a compressed stream whose bytes are about to be inflated.
    void pass(std::string_view key, const member& of);
    [[nodiscard]] std::uint64_t wanted_of(std::string_view key, const member& of, byte_range where) const;
    [[nodiscard]] std::shared_ptr<const byte_source> unpacked_of(std::string_view key, const member& of) const;
    [[nodiscard]] std::shared_ptr<const byte_source> open_member(std::string_view key, const member& of) const;
    void check_whole(std::string_view key, const member& of, byte_range where, const byte_buffer& bytes) const;
    // Calls doing(), which reads bytes of a member; what is damaged is told as the member's.
    template <class Doing>
    [[nodiscard]] auto reading(std::string_view key, const member& of, Doing&& doing) const;
    // That all bytes are there which were asked for, from `begin` on.
    void check_length(std::string_view key, std::uint64_t begin, std::uint64_t length, std::uint64_t wanted) const;
    [[noreturn]] void lost(std::string_view key, std::uint64_t offset, const std::string& why) const;

    std::shared_ptr<const byte_source> archive_;
    std::shared_ptr<const byte_source> plain_;  // what the directory's offsets count in
    archive_options options_;
    std::string_view kind_;
    directory directory_;
    std::shared_ptr<const decoded_source> decoded_;  // plain_, of a compressed .tar

    // Of members of a compressed stream, by where they begin in what it inflates to.
    std::unordered_map<std::uint64_t, byte_buffer> small_;
    std::uint64_t small_bytes_ = 0;
    std::unordered_map<std::uint64_t, std::shared_ptr<const smdebug::detail::object_notes>> notes_;

    mutable std::mutex guard_;
    mutable std::list<unpacked> recent_;  // of a zip; least recently used last
    mutable std::unordered_map<std::uint64_t, std::list<unpacked>::iterator> places_;
};

}  // namespace detail
}  // namespace archive
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/archive/directory/impl/contents.ipp>
#endif
