// The bodies of <smdebug/storage/posix/file.hpp>.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/core/system_time.hpp>
#include <smdebug/storage/posix/file.hpp>

#include <limits.h>
#include <pthread.h>
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

SMDEBUG_INLINE std::optional<directory_handle> directory_handle::open(const std::string& path) {
    descriptor handle{open_unbroken(path, O_RDONLY | O_DIRECTORY)};
    if (handle.get() < 0) {
        if (means_missing(errno)) {
            return std::nullopt;
        }
        fail("cannot open the folder", path, errno);
    }
    return directory_handle{std::move(handle)};
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

// When it was last written.  A damaged file system may report any number.
[[nodiscard]] inline std::chrono::system_clock::time_point time_of(const struct ::stat& facts) noexcept {
    return nearest_system_time(std::chrono::seconds{facts.st_mtim.tv_sec},
                               std::chrono::nanoseconds{facts.st_mtim.tv_nsec});
}

SMDEBUG_INLINE std::string version_of(const struct ::stat& facts) {
    using namespace std::chrono_literals;
    std::string version;
    version.reserve(112);
    const auto add = [&](auto number, std::string_view before) {
        std::array<char, 24> digits{};
        const char* const end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
        version.append(before).append(digits.data(), static_cast<std::size_t>(end - digits.data()));
    };
    add(facts.st_size, "");
    add(facts.st_ino, "-");
    add(facts.st_mtim.tv_sec, "-");
    add(facts.st_mtim.tv_nsec, ".");
    add(facts.st_ctim.tv_sec, "-");
    add(facts.st_ctim.tv_nsec, ".");
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    const auto tick = facts.st_ctim.tv_nsec % 1'000'000'000 != 0 ? 50ms : 2100ms;  // some have whole seconds only
    if (now - tick < std::chrono::seconds{facts.st_ctim.tv_sec} + std::chrono::nanoseconds{facts.st_ctim.tv_nsec}) {
        add(now.count(), "-");
    }
    return version;
}

SMDEBUG_INLINE file::file(std::string path) : path_(std::move(path)), handle_(open_at(AT_FDCWD, path_.c_str())) {
    if (handle_.get() < 0) {
        fail("cannot open", path_, errno);
    }
    check_kind();
}

SMDEBUG_INLINE std::optional<file> file::open_if_there(const directory_handle& folder, const std::string& name,
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

SMDEBUG_INLINE std::string file::version() const {
    struct ::stat info = {};
    if (::fstat(handle_.get(), &info) != 0) {
        fail("cannot look at", path_, errno);
    }
    return version_of(info);
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

SMDEBUG_INLINE byte_view file::read_all(scratch_buffer& buffer) const {
    const std::span<std::byte> room = buffer.at_least(static_cast<std::size_t>(size_));
    return room.first(read_at(0, room.first(static_cast<std::size_t>(size_))));
}

SMDEBUG_INLINE void file::check_kind() {
    struct ::stat info = {};
    if (::fstat(handle_.get(), &info) != 0) {
        fail("cannot look at", path_, errno);
    }
    if (!S_ISREG(info.st_mode)) {
        throw corrupt_data(path_ + " is not a regular file", {.where = path_});
    }
    size_ = static_cast<std::uint64_t>(info.st_size);
    modified_ = time_of(info);
}

SMDEBUG_INLINE std::optional<struct ::stat> regular_file_facts(const std::string& path) {
    struct ::stat info = {};
    if (::stat(path.c_str(), &info) != 0) {
        if (means_missing(errno)) {
            return std::nullopt;
        }
        fail("cannot look at", path, errno);
    }
    return S_ISREG(info.st_mode) ? std::optional{info} : std::nullopt;
}

SMDEBUG_INLINE std::optional<file_facts> facts_of(const std::string& path) {
    const auto facts = regular_file_facts(path);
    return facts ? std::optional{file_facts{static_cast<std::uint64_t>(facts->st_size), version_of(*facts)}}
                 : std::nullopt;
}

SMDEBUG_INLINE std::optional<file_facts> facts_of(const directory_handle& folder, const std::string& name,
                                                  const std::string& folder_name) {
    struct ::stat info = {};
    if (::fstatat(folder.get(), name.c_str(), &info, 0) != 0) {
        if (means_missing(errno) || errno == EACCES) {  // in a folder that may only be listed: reading it fails
            return std::nullopt;
        }
        fail("cannot look at", folder_name + "/" + name, errno);
    }
    return S_ISREG(info.st_mode) ? std::optional{file_facts{static_cast<std::uint64_t>(info.st_size), version_of(info)}}
                                 : std::nullopt;
}

SMDEBUG_INLINE std::optional<std::uint64_t> regular_file_size(const std::string& path) {
    const auto facts = regular_file_facts(path);
    return facts ? std::optional{static_cast<std::uint64_t>(facts->st_size)} : std::nullopt;
}

SMDEBUG_INLINE std::optional<std::chrono::system_clock::time_point> regular_file_time(const std::string& path) {
    const auto facts = regular_file_facts(path);
    return facts ? std::optional{time_of(*facts)} : std::nullopt;
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
    if (::fstat(handle, &now) != 0 || static_cast<std::uint64_t>(now.st_size) != of.size() ||
        !made.map(std::size_t{of.size()})) {
        return std::nullopt;
    }
    return made;
}

SMDEBUG_INLINE leased_map::~leased_map() {
    if (at_ != nullptr) {
        ::munmap(at_, size_);
    }
    if (handle_ >= 0) {
        static_cast<void>(::fcntl(handle_, F_SETLEASE, F_UNLCK));
    }
}

SMDEBUG_INLINE bool leased_map::map(std::size_t size) noexcept {
    void* const at = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, handle_, 0);
    if (at == MAP_FAILED) {
        return false;
    }
    at_ = at;
    size_ = size;
    // Loads what is not in the page cache yet and reports bad disks as an error; touching the pages would raise a
    // signal.
    constexpr int populate_read = 22;  // MADV_POPULATE_READ, Linux 5.14
    return ::madvise(at, size, populate_read) == 0;
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

SMDEBUG_INLINE home_process::home_process()
    : forks_(forks_to_here().load(std::memory_order_relaxed)), number_(process_number()) {
    // The only way to notice a fork; one handler for all hooks of the process.
    static const int counts = ::pthread_atfork(nullptr, nullptr, [] { ++forks_to_here(); });
    counts_ = counts == 0;
}

SMDEBUG_INLINE std::atomic<unsigned>& home_process::forks_to_here() noexcept {
    static std::atomic<unsigned> count{0};
    return count;
}

}  // namespace smdebug::inline v1::detail::posix
