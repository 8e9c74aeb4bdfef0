// The bodies of <smdebug/storage/posix/file.hpp>.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/core/system_time.hpp>
#include <smdebug/storage/posix/file.hpp>

#include <limits.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/vfs.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <csignal>
#include <string_view>
#include <system_error>

namespace smdebug::inline v1::detail::posix {

SMDEBUG_INLINE void fail(const std::string& doing, const std::string& path, int code) {
    const std::string why = doing + " " + path + ": " + std::generic_category().message(code);
    if (means_missing(code)) {
        throw not_found(why, {.where = path});
    }
    if (code == EACCES || code == EPERM) {
        throw access_denied(why, {.where = path});
    }
    throw unavailable(why, {.where = path});
}

SMDEBUG_INLINE std::string absolute_path(const std::string& path) {
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

SMDEBUG_INLINE descriptor& descriptor::operator=(descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
}

SMDEBUG_INLINE descriptor::~descriptor() {
    if (number_ >= 0) {
        ::close(number_);
    }
}

SMDEBUG_INLINE std::optional<descriptor> open_folder(const std::string& path) {
    descriptor handle{open_unbroken(path, O_RDONLY | O_DIRECTORY)};
    if (handle.get() >= 0) {
        return handle;
    }
    if (!means_missing(errno)) {
        fail("cannot open the folder", path, errno);
    }
    return std::nullopt;
}

SMDEBUG_INLINE std::span<std::byte> scratch_buffer::at_least(std::size_t size) {
    if (size > size_) {
        // Avoids an allocation for each small file that is larger than the last.
        size = std::max(size, std::min(2 * size_, std::size_t{1} << 20U));
        bytes_.reset();  // first, so that both never exist at once
        size_ = 0;
        bytes_ = std::make_unique_for_overwrite<std::byte[]>(size);
        size_ = size;
    }
    return {bytes_.get(), size_};
}

SMDEBUG_INLINE std::chrono::system_clock::time_point file_facts::modified() const noexcept {
    // A damaged file system may report any number.
    return nearest_system_time(std::chrono::seconds{said_.st_mtim.tv_sec},
                               std::chrono::nanoseconds{said_.st_mtim.tv_nsec});
}

SMDEBUG_INLINE std::string file_facts::version() const {
    std::string version;
    version.reserve(112);
    const auto add = [&](auto number, std::string_view before) {
        std::array<char, 24> digits{};
        const char* const end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
        version.append(before).append(digits.data(), static_cast<std::size_t>(end - digits.data()));
    };
    add(said_.st_size, "");
    add(said_.st_ino, "-");
    add(said_.st_mtim.tv_sec, "-");
    add(said_.st_mtim.tv_nsec, ".");
    add(said_.st_ctim.tv_sec, "-");
    add(said_.st_ctim.tv_nsec, ".");
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    const std::chrono::nanoseconds changed =
        std::chrono::seconds{said_.st_ctim.tv_sec} + std::chrono::nanoseconds{said_.st_ctim.tv_nsec};
    if (now - guard_of(changed) < changed) {
        add(now.count(), "-");
    }
    return version;
}

// The facts of a name below an open folder, whose name is for messages, or of a path.
inline std::optional<file_facts> facts_at(int folder, const std::string& name, const std::string* folder_name) {
    struct ::stat said = {};
    if (::fstatat(folder, name.c_str(), &said, 0) == 0) {
        return S_ISREG(said.st_mode) ? std::optional{file_facts{said}} : std::nullopt;
    }
    // Denied below a folder that may only be listed: reading the file fails.
    if (!means_missing(errno) && (errno != EACCES || folder_name == nullptr)) {
        fail("cannot look at", folder_name == nullptr ? name : *folder_name + "/" + name, errno);
    }
    return std::nullopt;
}

SMDEBUG_INLINE std::optional<file_facts> facts_of(const std::string& path) { return facts_at(AT_FDCWD, path, nullptr); }

SMDEBUG_INLINE std::optional<file_facts> facts_of(const descriptor& folder, const std::string& name,
                                                  const std::string& folder_name) {
    return facts_at(folder.get(), name, &folder_name);
}

// O_NONBLOCK, so that a pipe in the place of a file cannot hang the reader.
inline descriptor open_to_read(int folder, const std::string& name) noexcept {
    return descriptor{open_unbroken(folder, name.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY)};
}

SMDEBUG_INLINE file::file(std::string path)
    : path_(std::move(path)), handle_(open_to_read(AT_FDCWD, path_)), facts_(facts()) {}

SMDEBUG_INLINE file::file(std::string path, descriptor handle)
    : path_(std::move(path)), handle_(std::move(handle)), facts_(facts()) {}

SMDEBUG_INLINE std::optional<file> file::open_if_there(const descriptor& folder, const std::string& name,
                                                       const std::string& folder_name) {
    descriptor handle = open_to_read(folder.get(), name);
    if (handle.get() < 0 && means_missing(errno)) {
        return std::nullopt;
    }
    return file{folder_name + "/" + name, std::move(handle)};
}

SMDEBUG_INLINE file_facts file::facts() const {
    struct ::stat said = {};
    if (handle_.get() < 0 || ::fstat(handle_.get(), &said) != 0) {
        fail(handle_.get() < 0 ? "cannot open" : "cannot look at", path_, errno);
    }
    if (!S_ISREG(said.st_mode)) {
        throw corrupt_data(path_ + " is not a regular file", {.where = path_});
    }
    return file_facts{said};
}

SMDEBUG_INLINE std::size_t file::read_at(std::uint64_t offset, std::span<std::byte> into) const {
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

SMDEBUG_INLINE byte_buffer file::read(byte_range where) const {
    const std::uint64_t begin = std::min(where.offset, size());
    const auto count = static_cast<std::size_t>(std::min(where.length, size() - begin));
    // Uninitialised on purpose: every byte is overwritten or the read throws.
    const std::shared_ptr<std::byte[]> block = std::make_shared_for_overwrite<std::byte[]>(count);
    const std::size_t got = read_at(begin, {block.get(), count});
    return byte_buffer{block, byte_view{block.get(), got}};
}

SMDEBUG_INLINE byte_view file::read_all(scratch_buffer& buffer) const {
    const std::span<std::byte> room = buffer.at_least(std::size_t{size()}).first(std::size_t{size()});
    return room.first(read_at(0, room));
}

SMDEBUG_INLINE std::optional<leased_map> leased_map::open(const file& of) noexcept {
    const int handle = of.handle();
    struct ::statfs system = {};
    if (of.size() == 0 || ::fstatfs(handle, &system) != 0 || !leases_bind(static_cast<std::uint32_t>(system.f_type))) {
        return std::nullopt;
    }
    // Breaking the lease sends a signal: SIGURG, which is ignored by default, and then to no process.
    if (::fcntl(handle, F_SETSIG, SIGURG) != 0 || ::fcntl(handle, F_SETLEASE, F_RDLCK) != 0) {
        return std::nullopt;
    }
    static_cast<void>(::fcntl(handle, F_SETOWN, 0));
    leased_map made{handle};
    // It may have been truncated before the lease.
    struct ::stat now = {};
    if (::fstat(handle, &now) != 0 || file_facts{now}.size() != of.size()) {
        return std::nullopt;
    }
    void* const at = ::mmap(nullptr, std::size_t{of.size()}, PROT_READ, MAP_SHARED, handle, 0);
    if (at == MAP_FAILED) {
        return std::nullopt;
    }
    made.bytes_ = {static_cast<const std::byte*>(at), std::size_t{of.size()}};
    // Loads what is not in the page cache yet and reports bad disks as an error; touching the pages would raise a
    // signal.
    constexpr int populate_read = 22;  // MADV_POPULATE_READ, Linux 5.14
    return ::madvise(at, made.bytes_.size(), populate_read) == 0 ? std::optional{std::move(made)} : std::nullopt;
}

SMDEBUG_INLINE leased_map::~leased_map() {
    if (!bytes_.empty()) {
        ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
    }
    if (handle_ >= 0) {
        static_cast<void>(::fcntl(handle_, F_SETLEASE, F_UNLCK));
    }
}

SMDEBUG_INLINE bool read_ahead(const file& soon) noexcept {
    // Usually one cached byte means that the file is cached; checking a whole cached file would visit every page.
    std::byte first{};
    struct ::iovec into = {.iov_base = &first, .iov_len = 1};
    if (::preadv2(soon.handle(), &into, 1, 0, RWF_NOWAIT) >= 0) {
        return true;
    }
    constexpr std::uint64_t most = std::uint64_t{64} << 20U;
    const auto length = static_cast<off_t>(std::min(soon.size(), most));
    static_cast<void>(::posix_fadvise(soon.handle(), 0, length, POSIX_FADV_WILLNEED));
    return false;
}

}  // namespace smdebug::inline v1::detail::posix
