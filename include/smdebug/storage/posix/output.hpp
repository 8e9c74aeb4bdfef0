// Files that appear whole or not at all: written under another name in the same folder, then renamed.
// The pieces go to the system without a copy.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/storage/concepts.hpp>
#include <smdebug/storage/posix/file.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace smdebug::inline v1::detail::posix {

/// Throws the error for `code` (an errno) after an attempt to write `path`.
[[noreturn]] void fail_writing(const std::string& path, int code, const std::string& doing = "cannot write");

/// Which users may read a new file: those that the process's umask permits, or only its owner.
enum class readable_by : std::uint8_t { umask, owner };

/// Throws unavailable if `path` is a pipe, a device or a socket, also through a link, or a link as /dev/stdout: a file
/// would replace it, or block until it is read.
void refuse_special_file(const std::string& path);

/// Makes the missing folders above `path`. Returns the position in `path` where the name of the first new folder ends,
/// or npos if it made none.
std::size_t make_folders_above(const std::string& path, readable_by whom = readable_by::umask);

/// Writes all pieces at the open file's position, without a copy. `path` is for messages.
void write_pieces(int handle, std::span<const byte_view> pieces, const std::string& path);

/// Syncs the folder of `path`, if it exists. Errors: unavailable.
void sync_folder_of(const std::string& path);

/// Syncs all folders above `path`: on its file system, as far up as they may be read.
/// Errors: unavailable. Cost: an open and a sync each.
void sync_all_folders_above(const std::string& path);

/// A file's name of hashed_digits hexadecimal digits, made of a text of any length, and an extension. Two texts may
/// share one: the file must say which it is of.
[[nodiscard]] std::string hashed_name(std::string_view text, std::string_view extension);
inline constexpr std::size_t hashed_digits = 32;

/// Removes a file; returns whether it existed. Errors: access_denied, unavailable.
bool remove_file(const std::string& path);

/// Replaces a file's extension, with two numbers behind it, until the file is whole.
inline constexpr std::string_view temporary_mark = ".tmp.";

/// Syncs an open file or folder, as far as its file system supports that; interrupted calls are repeated.
/// Errors: unavailable.
void sync_to_disk(int handle, const std::string& path);

/// A file being written, which appears under its path when it is whole: until then it lies beside it, with
/// temporary_mark and "<process>.<number>" in place of its extension, which keeps it out of listings by extension.
/// Without a commit it is removed with this object; a forked child's copy removes nothing.
/// Errors: unavailable (disk full, folder removed meanwhile, and any other error of the system), access_denied,
/// not_found (a file where a folder should be, a name that is too long). All name the path.
/// Cost: an open, one writev an append, a close and a rename; on_disk also waits for the disk.
/// A write beyond the process's file size limit raises SIGXFSZ, which ends the process unless it is ignored.
class whole_file_output final : public object_output {
public:
    /// Makes missing folders, which stay. `synced_from`: `on_disk` also syncs the folder whose path has that many
    /// characters and all below it, since others may have made them without a sync.
    explicit whole_file_output(std::string path, readable_by whom = readable_by::umask,
                               std::size_t synced_from = std::string::npos);
    SMDEBUG_INLINE ~whole_file_output() override;

    /// The temporary file.
    [[nodiscard]] const std::string& name() const noexcept { return name_; }
    [[nodiscard]] int handle() const noexcept { return handle_.get(); }

    /// Writes all pieces at the file's end, without a copy.
    void append(std::span<const byte_view> pieces) override { write_pieces(handle_.get(), pieces, path_); }

    /// Syncs what was written so far.
    void sync() const { sync_to_disk(handle_.get(), path_); }

    /// Closes the file, since some systems report errors only then, and renames it to its path. `on_disk` syncs it
    /// before, and its name afterwards: its folder, and those above that had to be made.
    SMDEBUG_INLINE void commit(durability how) override;

    /// The open file, for callers that keep it open under another name.
    [[nodiscard]] descriptor take_handle() noexcept { return std::move(handle_); }

private:
    static constexpr int most_numbers = 1000;

    std::string path_;
    std::string name_;  // empty if nothing is to be removed
    descriptor handle_{-1};
    std::size_t synced_from_;
    long maker_ = process_number();
};

/// Writes a whole file in one piece.
void write_whole(const std::string& path, byte_view bytes);

}  // namespace smdebug::inline v1::detail::posix

#ifndef SMDEBUG_COMPILED
#include <smdebug/storage/posix/impl/output.ipp>
#endif
