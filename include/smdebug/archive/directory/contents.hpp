// An archive of whichever kind: its directory, and its members' bytes.
#pragma once

#include <smdebug/archive/directory/member.hpp>
#include <smdebug/archive/options.hpp>
#include <smdebug/archive/stream/byte_source.hpp>
#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/function_ref.hpp>

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

namespace smdebug {
inline namespace v1 {
namespace archive {
namespace detail {

/// The format of an archive, by its first bytes, as its name may say anything.
enum class format : std::uint8_t { tar, gzip, zstd, zip, unknown };
[[nodiscard]] format format_of(byte_view head) noexcept;

/// An opened archive.  Threads: everything may be called at once.
class contents {
public:
    /// Reads the directory: of a .tar its heads, of a .zip its end, of a compressed .tar all of it, once.
    /// Errors: unsupported (no archive, or of another format), corrupt_data (nothing of it can be read), and those of the
    ///         source.
    contents(std::shared_ptr<const byte_source> archive, const archive_options& options);

    [[nodiscard]] const directory& members() const noexcept { return directory_; }
    /// "tar", "tar.gz", "tar.zst" or "zip".
    [[nodiscard]] std::string_view kind() const noexcept { return kind_; }

    /// A part of a member, by its key in the directory, cut at its end.
    /// Errors: corrupt_data, with archive, member and offset; unsupported (sparse, encrypted, ...), those of the source.
    [[nodiscard]] byte_buffer read(std::string_view key, const member& of, byte_range where) const;

    /// What is read of each: the place in the list, and the bytes.
    struct part {
        std::string_view key;
        const member* of = nullptr;
        byte_range where;
    };
    /// Many parts, in the order of the list.
    void read_many(std::span<const part> parts, function_ref<void(std::size_t, byte_buffer)> sink) const;
    /// Whether that costs less than one by one.
    [[nodiscard]] bool batches_ranges() const { return plain_ == archive_ && archive_->batches_ranges(); }

private:
    struct unpacked {
        std::uint64_t offset = 0;  // of the member's head: members of one zip lie apart
        std::shared_ptr<const byte_source> bytes;
    };

    [[nodiscard]] std::shared_ptr<const byte_source> unpacked_of(std::string_view key, const member& of) const;
    [[nodiscard]] std::shared_ptr<const byte_source> open_member(std::string_view key, const member& of) const;
    void check_whole(std::string_view key, const member& of, byte_range where, const byte_buffer& bytes) const;
    [[noreturn]] void lost(std::string_view key, std::uint64_t offset, const std::string& why) const;

    std::shared_ptr<const byte_source> archive_;
    std::shared_ptr<const byte_source> plain_;  // what the directory's offsets count in
    archive_options options_;
    std::string_view kind_;
    directory directory_;

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
