// Files that appear whole or not at all: written under another name in the same folder, then renamed.
// The pieces go to the system without a copy.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/function_ref.hpp>
#include <smdebug/storage/concepts.hpp>
#include <smdebug/storage/posix/file.hpp>

#include <sys/stat.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smdebug::inline v1::detail::posix {

/// Throws the error for `code` (an errno) after an attempt to write `path`.
[[noreturn]] void fail_writing(const std::string& path, int code, const std::string& doing = "cannot write");

/// Which users may read a new file: those that the process's umask permits, or only its owner.
enum class readable_by : std::uint8_t { umask, owner };

/// Throws unavailable if `path` is a pipe, a device or a socket, also through a link: a file would replace it, or block
/// until it is read.
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

/// Removes a file; returns whether it existed. Errors: access_denied, unavailable.
bool remove_file(const std::string& path);

/// Replaces a file's extension, with two numbers behind it, until the file is whole.
inline constexpr std::string_view temporary_mark = ".tmp.";

/// `path` without the extension of its last part: "folder/name" for "folder/name.extension".
[[nodiscard]] std::string without_extension(const std::string& path);

/// A new file beside `path`, with temporary_mark and "<process>.<number>" as its extension, which keeps it out of
/// listings by extension. The file is removed with this object unless it was renamed. A forked child's copy removes
/// nothing.
class temporary_file {
public:
    /// Makes missing folders, which stay. Errors: as whole_file_output.
    explicit temporary_file(std::string path, readable_by whom = readable_by::umask);
    temporary_file(temporary_file&& other) noexcept { swap(other); }
    temporary_file& operator=(temporary_file&& other) noexcept;
    temporary_file(const temporary_file&) = delete;
    temporary_file& operator=(const temporary_file&) = delete;
    ~temporary_file();

    [[nodiscard]] const std::string& name() const noexcept { return name_; }
    [[nodiscard]] int handle() const noexcept { return handle_.get(); }

    /// Writes all pieces at the file's end.
    void append(std::span<const byte_view> pieces) { write_pieces(handle_.get(), pieces, path_); }

    /// Syncs the file.
    void sync() const { sync(handle_.get(), path_); }
    /// The same for an open file or folder: as far as its file system supports that; interrupted calls are repeated.
    static void sync(int handle, const std::string& path);

    /// Closes the file, since some systems report errors only then, and renames it to its path.
    void take_its_place();

    /// Syncs the file's name: its folder, and those above that had to be made. With `from` also the folder whose path
    /// has that many characters and all below it, since others may have made them without a sync.
    void sync_folders(std::size_t from = std::string::npos) const;

    /// The open file, for callers that keep it open.
    [[nodiscard]] descriptor take_handle() noexcept { return std::move(handle_); }

private:
    static constexpr int most_numbers = 1000;

    void swap(temporary_file& other) noexcept;

    std::string path_;
    std::string name_;  // empty: nothing to remove
    descriptor handle_{-1};
    std::size_t first_made_ = std::string::npos;
    ::pid_t maker_ = ::getpid();
};

/// A file being written, which appears under its path when it is whole.
/// Errors: unavailable (disk full, folder removed meanwhile, and any other error of the system), access_denied,
/// not_found (a file where a folder should be, a name that is too long). All name the path.
/// Cost: an open, one writev an append, a close and a rename; on_disk also waits for the disk.
/// A write beyond the process's file size limit raises SIGXFSZ, which ends the process unless it is ignored.
class whole_file_output final : public object_output {
public:
    /// `synced_from`: for on_disk, see temporary_file::sync_folders.
    explicit whole_file_output(std::string path, readable_by whom = readable_by::umask,
                               std::size_t synced_from = std::string::npos)
        : file_(std::move(path), whom), synced_from_(synced_from) {}

    /// Writes the pieces without a copy.
    void append(std::span<const byte_view> pieces) override { file_.append(pieces); }

    /// Renames the file to its path. `on_disk` includes the folders that this object made.
    SMDEBUG_INLINE void commit(durability how) override;

private:
    temporary_file file_;
    std::size_t synced_from_;
};

/// Writes a whole file in one piece.
void write_whole(const std::string& path, byte_view bytes);

/// Small pieces are buffered, large ones go to the system without a copy. The file appears under its path when it is
/// whole: see temporary_file.
/// Errors: as whole_file_output.
class buffered_output {
public:
    explicit buffered_output(std::string path) : path_(std::move(path)), file_(path_) {}

    void append(byte_view piece);
    void append(std::string_view text) { append(as_bytes(text)); }
    /// The number of bytes appended.
    [[nodiscard]] std::uint64_t size() const noexcept { return written_ + pending_.size(); }

    /// Overwrites appended bytes.
    void overwrite(std::uint64_t offset, byte_view bytes);
    /// Moves everything from `offset` on towards the end, by so many bytes; the gap counts as appended and is
    /// unspecified.
    /// Cost: reading and writing the moved bytes.
    void make_room(std::uint64_t offset, std::uint64_t distance);

    /// Renames the file to its path.
    void finish(durability how);

private:
    static constexpr std::size_t small = std::size_t{32} << 10U;

    void flush() { put({}); }
    // Writes the pending bytes, and then this.
    void put(byte_view piece);

    std::string path_;
    temporary_file file_;
    std::vector<std::byte> pending_;
    std::uint64_t written_ = 0;
};

// A folder that appears whole or not at all: filled under another name beside its place, then renamed.

/// Whether the path exists: a file, a folder, a dangling link. Errors: access_denied, unavailable.
[[nodiscard]] bool is_there(const std::string& path);
/// Whether it is a folder, or a link to one.
[[nodiscard]] bool is_folder(const std::string& path);
/// The path without links, "." and ".."; unchanged if it does not exist.
[[nodiscard]] std::string real_path(const std::string& path);

/// Removes a folder with everything in it; links are removed, not followed. What cannot be removed stays.
void remove_folder(const std::string& path) noexcept;

/// Checks what an output at that path would replace. A no-op if the path does not exist, or is an empty folder.
/// Errors: run_exists if something is there, unless `replace`; with `replace` if it is not a folder, or contains files
/// for which ours(key) is false: they belong to someone else.
void check_output_folder(const std::string& path, bool replace, function_ref<bool(std::string_view)> ours);

/// The folder under its temporary name, removed with its contents unless it was renamed.
/// Errors: access_denied, unavailable (disk full, a folder above it removed meanwhile), not_found.
class output_folder {
public:
    /// Makes the folders above it, and the one with the temporary name.
    explicit output_folder(std::string path);
    output_folder(const output_folder&) = delete;
    output_folder& operator=(const output_folder&) = delete;
    ~output_folder();

    /// The folder to put files into until it is renamed, without a trailing slash.
    [[nodiscard]] const std::string& place() const noexcept { return place_; }

    /// Syncs the files, and renames the folder to its path. An older folder there is removed if `replace`; one that
    /// appeared meanwhile is an error: run_exists.
    /// Cost: waits for everything that the file system has not written yet, also of other processes.
    void take_its_place(bool replace);

private:
    std::string path_;
    std::string place_;  // empty: nothing to remove
};

}  // namespace smdebug::inline v1::detail::posix

#ifndef SMDEBUG_COMPILED
#include <smdebug/storage/posix/impl/output.ipp>
#endif
