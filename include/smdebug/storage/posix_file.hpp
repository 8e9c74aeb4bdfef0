// Opening and reading files by POSIX calls, with errors that name the path and the system's reason.
// POSIX and not <fstream> or <filesystem>: opening ten thousand small files is what opening a run costs.
// Used by: storage/local_storage.hpp, storage/posix_*.hpp.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/core/system_time.hpp>

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace posix {

/// Whether an errno says that there is no such thing: a name that is too long, or that goes round in links, has none.
[[nodiscard]] inline bool means_missing(int code) noexcept {
    return code == ENOENT || code == ENOTDIR || code == ENAMETOOLONG || code == ELOOP;
}

/// Throws the error that `code` (an errno) stands for.
[[noreturn]] inline void fail(const std::string& doing, const std::string& path, int code) {
    const std::string why = doing + " " + path + ": " + std::generic_category().message(code);
    if (means_missing(code)) {
        throw not_found(why, {.where = path});
    }
    if (code == EACCES || code == EPERM) {
        throw access_denied(why, {.where = path});
    }
    throw unavailable(why, {.where = path});
}

/// A path that means the same in whatever folder the process is later.  An empty one stays empty; a relative one stays
/// as it is where the system cannot tell the folder that the process is in: it was removed, and nothing is there.
[[nodiscard]] inline std::string absolute_path(const std::string& path) {
    if (path.empty() || path.front() == '/') {
        return path;
    }
    std::array<char, PATH_MAX> here;
    if (::getcwd(here.data(), here.size()) == nullptr || here[0] != '/') {
        return path;
    }
    const std::string folder{here.data()};
    return folder == "/" ? folder + path : folder + "/" + path;
}

/// The number of this process: another one in a forked child.
[[nodiscard]] inline long process_number() noexcept { return ::getpid(); }

/// Owns a file descriptor.
class descriptor {
public:
    explicit descriptor(int number) noexcept : number_(number) {}
    descriptor(descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
    descriptor& operator=(descriptor&& other) noexcept {
        std::swap(number_, other.number_);
        return *this;
    }
    descriptor(const descriptor&) = delete;
    descriptor& operator=(const descriptor&) = delete;
    ~descriptor() {
        if (number_ >= 0) {
            ::close(number_);
        }
    }
    [[nodiscard]] int get() const noexcept { return number_; }
    [[nodiscard]] int release() noexcept { return std::exchange(number_, -1); }

private:
    int number_;
};

/// An open directory, to open files relative to it.
class directory_handle {
public:
    [[nodiscard]] static std::optional<directory_handle> open(const std::string& path) {
        descriptor handle{::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
        if (handle.get() < 0) {
            if (means_missing(errno)) {
                return std::nullopt;
            }
            fail("cannot open the folder", path, errno);
        }
        return directory_handle{std::move(handle)};
    }
    [[nodiscard]] int get() const noexcept { return handle_.get(); }

private:
    explicit directory_handle(descriptor handle) noexcept : handle_(std::move(handle)) {}
    descriptor handle_;
};

/// Memory that is used again from file to file and never filled: whoever takes it overwrites it.
class scratch_buffer {
public:
    /// Room for `size` bytes; what was in it is lost when it has to grow.
    [[nodiscard]] std::span<std::byte> at_least(std::size_t size) {
        if (size > size_) {
            // Small files that grow from one to the next do not each ask for memory.
            size = std::max(size, std::min(2 * size_, std::size_t{1} << 20U));
            bytes_.reset();  // first, so that the two are never there at once
            size_ = 0;
            bytes_ = std::make_unique_for_overwrite<std::byte[]>(size);
            size_ = size;
        }
        return {bytes_.get(), size_};
    }

private:
    std::unique_ptr<std::byte[]> bytes_;
    std::size_t size_ = 0;
};

/// A text that is another one whenever the file's bytes are: made of its size, its inode and its times.
/// What was changed a moment ago may change again before the file system's clock ticks: the text is then one that comes
/// never again.
[[nodiscard]] inline std::string version_of(const struct ::stat& facts) {
    using namespace std::chrono_literals;
    const auto text = [](const ::timespec& at) { return std::to_string(at.tv_sec) + "." + std::to_string(at.tv_nsec); };
    std::string version = std::to_string(facts.st_size) + "-" + std::to_string(facts.st_ino) + "-" +
                          text(facts.st_mtim) + "-" + text(facts.st_ctim);
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    const auto tick = facts.st_ctim.tv_nsec % 1'000'000'000 != 0 ? 50ms : 2100ms;  // some have whole seconds only
    if (now - tick < std::chrono::seconds{facts.st_ctim.tv_sec} + std::chrono::nanoseconds{facts.st_ctim.tv_nsec}) {
        version += "-" + std::to_string(now.count());
    }
    return version;
}

/// A regular file, open for reading.
class file {
public:
    /// Errors: not_found, access_denied, unavailable; corrupt_data when it is a folder, pipe or device.
    explicit file(std::string path) : path_(std::move(path)), handle_(open_at(AT_FDCWD, path_.c_str())) {
        if (handle_.get() < 0) {
            fail("cannot open", path_, errno);
        }
        check_kind();
    }

    /// The same below `folder`, nothing when there is no such file.  `folder_name` is for messages.
    [[nodiscard]] static std::optional<file> open_if_there(const directory_handle& folder, const std::string& name,
                                                           const std::string& folder_name) {
        descriptor handle{open_at(folder.get(), name.c_str())};
        if (handle.get() < 0) {
            if (means_missing(errno)) {
                return std::nullopt;
            }
            fail("cannot open", folder_name + "/" + name, errno);
        }
        return file{folder_name + "/" + name, std::move(handle)};
    }

    [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
    /// What version_of() says of it now.
    [[nodiscard]] std::string version() const {
        struct ::stat info = {};
        if (::fstat(handle_.get(), &info) != 0) {
            fail("cannot look at", path_, errno);
        }
        return version_of(info);
    }
    /// For system calls; this object closes it.
    [[nodiscard]] int handle() const noexcept { return handle_.get(); }

    /// Reads until `into` is full or the file ends; returns how many bytes there were.
    [[nodiscard]] std::size_t read_at(std::uint64_t offset, std::span<std::byte> into) const {
        std::size_t done = 0;
        while (done < into.size()) {
            const ssize_t got =
                ::pread(handle_.get(), into.data() + done, into.size() - done, static_cast<off_t>(offset + done));
            if (got < 0) {
                if (errno == EINTR) {
                    continue;
                }
                fail("cannot read", path_, errno);
            }
            if (got == 0) {
                break;
            }
            done += static_cast<std::size_t>(got);
        }
        return done;
    }

    /// The whole file into `buffer`; what was there when the file was opened is what counts, should it be growing.
    /// The bytes are gone when the buffer is used again.
    [[nodiscard]] byte_view read_all(scratch_buffer& buffer) const {
        const std::span<std::byte> room = buffer.at_least(static_cast<std::size_t>(size_));
        return room.first(read_at(0, room.first(static_cast<std::size_t>(size_))));
    }

private:
    file(std::string path, descriptor handle) : path_(std::move(path)), handle_(std::move(handle)) { check_kind(); }

    // O_NONBLOCK, so that a pipe in the place of a file cannot hang the reader.
    [[nodiscard]] static int open_at(int folder, const char* name) noexcept {
        return ::openat(folder, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    }

    void check_kind() {
        struct ::stat info = {};
        if (::fstat(handle_.get(), &info) != 0) {
            fail("cannot look at", path_, errno);
        }
        if (!S_ISREG(info.st_mode)) {
            throw corrupt_data(path_ + " is not a regular file", {.where = path_});
        }
        size_ = static_cast<std::uint64_t>(info.st_size);
    }

    std::string path_;
    descriptor handle_;
    std::uint64_t size_ = 0;
};

/// What the system tells of a file, nothing when there is no regular file of that name.
[[nodiscard]] inline std::optional<struct ::stat> regular_file_facts(const std::string& path) {
    struct ::stat info = {};
    if (::stat(path.c_str(), &info) != 0) {
        if (means_missing(errno)) {
            return std::nullopt;
        }
        fail("cannot look at", path, errno);
    }
    return S_ISREG(info.st_mode) ? std::optional{info} : std::nullopt;
}

/// Says that a file was written just now, where the system lets this process say so.
inline void touch(const std::string& path) noexcept {
    static_cast<void>(::utimensat(AT_FDCWD, path.c_str(), nullptr, 0));
}

/// Size and version of a file.
struct file_facts {
    std::uint64_t size = 0;
    std::string version;
};
[[nodiscard]] inline std::optional<file_facts> facts_of(const std::string& path) {
    const auto facts = regular_file_facts(path);
    return facts ? std::optional{file_facts{static_cast<std::uint64_t>(facts->st_size), version_of(*facts)}}
                 : std::nullopt;
}

/// Its size.
[[nodiscard]] inline std::optional<std::uint64_t> regular_file_size(const std::string& path) {
    const auto facts = regular_file_facts(path);
    return facts ? std::optional{static_cast<std::uint64_t>(facts->st_size)} : std::nullopt;
}

/// When it was last written, by its file system's clock.
[[nodiscard]] inline std::optional<std::chrono::system_clock::time_point> regular_file_time(const std::string& path) {
    const auto facts = regular_file_facts(path);
    if (!facts) {
        return std::nullopt;
    }
    // A damaged file system can give any number.
    return nearest_system_time(std::chrono::seconds{facts->st_mtim.tv_sec},
                               std::chrono::nanoseconds{facts->st_mtim.tv_nsec});
}

}  // namespace posix
}  // namespace v1
}  // namespace smdebug
