// Opening and reading files by POSIX calls, with errors that name the path and the system's reason.
// POSIX and not <fstream> or <filesystem>: opening ten thousand small files is what opening a run costs.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

namespace smdebug {
inline namespace v1 {
namespace detail {
namespace posix {

/// Whether an errno says that there is no such thing: a name that is too long, or that goes round in links, has none.
[[nodiscard]] inline bool means_missing(int code) noexcept {
    return code == ENOENT || code == ENOTDIR || code == ENAMETOOLONG || code == ELOOP;
}

/// Throws the error that `code` (an errno) stands for.
[[noreturn]] void fail(const std::string& doing, const std::string& path, int code);

/// A path that means the same in whatever folder the process is later.  An empty one stays empty; a relative one stays
/// as it is where the system cannot tell the folder that the process is in: it was removed, and nothing is there.
[[nodiscard]] std::string absolute_path(const std::string& path);

/// The number of this process: another one in a forked child.
[[nodiscard]] inline long process_number() noexcept { return ::getpid(); }

/// openat(), again as long as a signal breaks it off, as it may on file systems that take their time.
[[nodiscard]] inline int open_unbroken(int folder, const char* name, int flags, ::mode_t rights = 0) noexcept {
    int handle = -1;
    do {
        handle = ::openat(folder, name, flags | O_CLOEXEC, rights);
    } while (handle < 0 && errno == EINTR);
    return handle;
}
[[nodiscard]] inline int open_unbroken(const std::string& path, int flags, ::mode_t rights = 0) noexcept {
    return open_unbroken(AT_FDCWD, path.c_str(), flags, rights);
}

/// Owns a file descriptor.
class descriptor {
public:
    explicit descriptor(int number) noexcept : number_(number) {}
    descriptor(descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
    descriptor& operator=(descriptor&& other) noexcept;
    descriptor(const descriptor&) = delete;
    descriptor& operator=(const descriptor&) = delete;
    ~descriptor();
    [[nodiscard]] int get() const noexcept { return number_; }
    [[nodiscard]] int release() noexcept { return std::exchange(number_, -1); }

private:
    int number_;
};

/// An open directory, to open files relative to it.
class directory_handle {
public:
    [[nodiscard]] static std::optional<directory_handle> open(const std::string& path);
    [[nodiscard]] int get() const noexcept { return handle_.get(); }

private:
    explicit directory_handle(descriptor handle) noexcept : handle_(std::move(handle)) {}
    descriptor handle_;
};

/// Memory that is used again from file to file and never filled: whoever takes it overwrites it.
class scratch_buffer {
public:
    /// Room for `size` bytes; what was in it is lost when it has to grow.
    [[nodiscard]] std::span<std::byte> at_least(std::size_t size);

private:
    std::unique_ptr<std::byte[]> bytes_;
    std::size_t size_ = 0;
};

/// A text that is another one whenever the file's bytes are: made of its size, its inode and its times.
/// What was changed a moment ago may change again before the file system's clock ticks: the text is then one that comes
/// never again.
[[nodiscard]] std::string version_of(const struct ::stat& facts);

/// A regular file, open for reading.
class file {
public:
    /// Errors: not_found, access_denied, unavailable; corrupt_data when it is a folder, pipe or device.
    explicit file(std::string path);

    /// The same below `folder`, nothing when there is no such file.  `folder_name` is for messages.
    [[nodiscard]] static std::optional<file> open_if_there(const directory_handle& folder, const std::string& name,
                                                           const std::string& folder_name);

    [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
    /// What version_of() says of it now.
    [[nodiscard]] std::string version() const;
    /// For system calls; this object closes it.
    [[nodiscard]] int handle() const noexcept { return handle_.get(); }

    /// Reads until `into` is full or the file ends; returns how many bytes there were.
    [[nodiscard]] std::size_t read_at(std::uint64_t offset, std::span<std::byte> into) const;

    /// The whole file into `buffer`; what was there when the file was opened is what counts, should it be growing.
    /// The bytes are gone when the buffer is used again.
    [[nodiscard]] byte_view read_all(scratch_buffer& buffer) const;

private:
    file(std::string path, descriptor handle) : path_(std::move(path)), handle_(std::move(handle)) { check_kind(); }

    // O_NONBLOCK, so that a pipe in the place of a file cannot hang the reader.
    [[nodiscard]] static int open_at(int folder, const char* name) noexcept {
        return open_unbroken(folder, name, O_RDONLY | O_NONBLOCK | O_NOCTTY);
    }

    void check_kind();

    std::string path_;
    descriptor handle_;
    std::uint64_t size_ = 0;
};

/// What the system tells of a file, nothing when there is no regular file of that name.
[[nodiscard]] std::optional<struct ::stat> regular_file_facts(const std::string& path);

/// Says that a file was written just now, where the system lets this process say so.
inline void touch(const std::string& path) noexcept {
    static_cast<void>(::utimensat(AT_FDCWD, path.c_str(), nullptr, 0));
}

/// Size and version of a file.
struct file_facts {
    std::uint64_t size = 0;
    std::string version;
};
[[nodiscard]] std::optional<file_facts> facts_of(const std::string& path);
/// The same below `folder`, without the way to it.  `folder_name` is for messages.
[[nodiscard]] std::optional<file_facts> facts_of(const directory_handle& folder, const std::string& name,
                                                 const std::string& folder_name);

/// Its size.
[[nodiscard]] std::optional<std::uint64_t> regular_file_size(const std::string& path);

/// When it was last written, by its file system's clock.
[[nodiscard]] std::optional<std::chrono::system_clock::time_point> regular_file_time(const std::string& path);

}  // namespace posix
}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/storage/posix/impl/file.ipp>
#endif
