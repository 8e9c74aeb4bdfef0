// Files that appear whole or not at all: written under another name in the same folder, then renamed.
// The pieces go to the system as they lie, without a copy.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/storage/posix/file.hpp>
#include <smdebug/storage/writable.hpp>

#include <sys/stat.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace smdebug {
inline namespace v1 {
namespace detail {
namespace posix {

/// Throws the error that `code` (an errno) stands for where `path` was to be written.
[[noreturn]] void fail_writing(const std::string& path, int code, const std::string& doing = "cannot write");

/// Who may read what is made: as the process's umask says, or its owner alone, whatever that says.
enum class readable_by : std::uint8_t { umask, owner };

/// Throws unavailable where `path` is a pipe, a device or a socket, also by a link: a file would take its place, or wait for
/// a reader.
void refuse_special_file(const std::string& path);

/// Makes the folders above `path` that are missing.  Returns where in `path` the name of the first one ends that it
/// made, npos when it made none.
std::size_t make_folders_above(const std::string& path, readable_by whom = readable_by::umask);

/// Writes all pieces where the open file stands, as they lie.  `path` is for messages.
void write_pieces(int handle, std::span<const byte_view> pieces, const std::string& path);

/// Brings the names in the folder of `path` to the disk, where there is such a folder.  Errors: unavailable.
void sync_folder_of(const std::string& path);

/// Brings the names of all folders on the way to `path` to the disk: on its file system, as far up as they may be read.
/// Errors: unavailable.      Cost: an open and a sync each.
void sync_all_folders_above(const std::string& path);

/// Takes a file away; returns whether it was there.  Errors: access_denied, unavailable.
bool remove_file(const std::string& path);

/// What stands, with two numbers behind it, in the place of a file's extension until the file is whole.
inline constexpr std::string_view temporary_mark = ".tmp.";

/// `path` without the extension of its last part: "folder/name" for "folder/name.extension".
[[nodiscard]] std::string without_extension(const std::string& path);

/// A new file beside `path`, with temporary_mark and "<process>.<number>" for its extension, which is removed with this
/// object unless it was renamed: who looks for files of the kind that is being made by their extension does not find
/// it.  A forked child's copy removes nothing.
class temporary_file {
public:
    /// Makes the folders on the way; they stay.  Errors: as whole_file_output.
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

    /// Brings the file to the disk.
    void sync() const { sync(handle_.get(), path_); }
    /// The same of a file or folder that is open: as far as its file system can do that, and whatever signals come.
    static void sync(int handle, const std::string& path);

    /// Closes the file, as some systems tell only then what went wrong, and gives it the path that it was made for.
    void take_its_place();

    /// Brings the file's name to the disk: its folder, and those above that had to be made; `from`: and those below the
    /// folder whose path has that many characters, and this one, as others may have made them and not synced them yet.
    void sync_folders(std::size_t from = std::string::npos) const;

    /// The open file, for whoever wants it to stay open.
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

/// A file being written, which is under its path when it is whole; models object_output.
/// Errors: unavailable (disk full, folder removed meanwhile, and whatever else the system says), access_denied,
/// not_found (a file where a folder should be, a name that is too long).  All name the path.
/// Cost: an open, one writev an append, a close and a rename; on_disk waits for the disk as well.
/// A write beyond the process's limit of file sizes raises SIGXFSZ, which ends the process unless that is ignored.
class whole_file_output {
public:
    /// `synced_from`: for on_disk, see temporary_file::sync_folders.
    explicit whole_file_output(std::string path, readable_by whom = readable_by::umask,
                               std::size_t synced_from = std::string::npos)
        : file_(std::move(path), whom), synced_from_(synced_from) {}

    /// Writes the pieces as they lie: no copy.
    void append(std::span<const byte_view> pieces) { file_.append(pieces); }

    /// Renames the file to its path.  `on_disk` holds for the folders on the way that this object made, too.
    void commit(durability how);

private:
    temporary_file file_;
    std::size_t synced_from_;
};

static_assert(object_output<whole_file_output>);

/// Writes a whole file of one piece.
void write_whole(const std::string& path, byte_view bytes);

}  // namespace posix
}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/storage/posix/impl/output.ipp>
#endif
