// A library for LD_PRELOAD: logs, in order and with their data, all calls by which a process changes or syncs files
// under one folder, and prints: for check_power_loss.py, which replays them.
//   SMDEBUG_LOG_ROOT=FOLDER   without links in its path
//   SMDEBUG_LOG_FILE=FILE     for each call a line "CALL INODE NUMBER SIZE", then SIZE bytes of data and a line end
// Mapped files, and calls inside libc, are not seen.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <string_view>

namespace {

struct journal {
    int file = -1;
    std::string root;
    std::recursive_mutex order;  // guards the calls and their lines
};

journal& notes() {
    static journal& of_process = *[] {
        auto* const made = new journal;  // never destroyed: calls arrive until the process ends
        const char* const root = std::getenv("SMDEBUG_LOG_ROOT");
        const char* const path = std::getenv("SMDEBUG_LOG_FILE");
        if (root != nullptr && path != nullptr) {
            made->root = std::string{root} + "/";
            made->file = static_cast<int>(
                ::syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
        }
        return made;
    }();
    return of_process;
}

bool is_below(std::string_view path) {
    const journal& to = notes();
    return to.file >= 0 && (path.starts_with(to.root) || std::string{path} + "/" == to.root);
}

void put(std::string_view bytes) {
    while (!bytes.empty()) {
        const long done = ::syscall(SYS_write, notes().file, bytes.data(), bytes.size());
        if (done <= 0) {
            ::abort();
        }
        bytes.remove_prefix(static_cast<std::size_t>(done));
    }
}

void note(const char* call, unsigned long inode, long long number, std::string_view data) {
    const int saved = errno;
    put(std::string{call} + " " + std::to_string(inode) + " " + std::to_string(number) + " " +
        std::to_string(data.size()) + "\n");
    put(data);
    put("\n");
    errno = saved;
}

std::string path_of(int file) {
    char target[PATH_MAX];
    const std::string link = "/proc/self/fd/" + std::to_string(file);
    const long size = ::syscall(SYS_readlinkat, AT_FDCWD, link.c_str(), target, sizeof target);
    return size > 0 ? std::string{target, static_cast<std::size_t>(size)} : std::string{};
}

std::string path_of(int folder, const char* path) {
    if (path[0] == '/') {
        return path;
    }
    if (folder != AT_FDCWD) {
        return path_of(folder) + "/" + path;
    }
    char here[PATH_MAX];
    return (::getcwd(here, sizeof here) != nullptr ? std::string{here} : std::string{}) + "/" + path;
}

struct known {
    bool is_there = false;
    unsigned long inode = 0;
    long long size = 0;
};

known facts_of(int file) {
    struct stat info {};
    const bool there = ::syscall(SYS_fstat, file, &info) == 0;
    return {there, info.st_ino, info.st_size};
}

known facts_of(const std::string& path) {
    struct stat info {};
    const bool there = ::syscall(SYS_newfstatat, AT_FDCWD, path.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0;
    return {there, info.st_ino, info.st_size};
}

template <class Function>
Function* real(Function* /*of_this_type*/, const char* name) {
    return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

/// Makes a call on an open file, and logs it if the file is under the folder.
template <class Doing, class Noting>
auto noted(int file, Doing&& doing, Noting&& noting) {
    const int saved = errno;
    const bool counts = notes().file >= 0 && is_below(path_of(file));
    errno = saved;
    if (!counts) {
        return doing();
    }
    const std::lock_guard lock{notes().order};
    const auto done = doing();
    if (done >= 0) {
        noting(done);
    }
    return done;
}

/// The same for a call on a path.
template <class Doing, class Noting>
int noted_path(const std::string& path, Doing&& doing, Noting&& noting) {
    if (!is_below(path)) {
        return doing();
    }
    const std::lock_guard lock{notes().order};
    const int done = doing();
    if (done >= 0) {
        noting();
    }
    return done;
}

template <class Doing>
int opened(int folder, const char* name, int flags, Doing&& doing) {
    if ((flags & (O_CREAT | O_TRUNC)) == 0) {
        return doing();
    }
    const int saved = errno;
    const std::string path = path_of(folder, name);
    const std::lock_guard lock{notes().order};
    const known before = facts_of(path);
    errno = saved;
    const int file = doing();
    if (file >= 0 && is_below(path)) {
        if (!before.is_there) {
            note("create", facts_of(file).inode, 0, path);
        } else if ((flags & O_TRUNC) != 0) {
            note("truncate", before.inode, 0, {});
        }
    }
    return file;
}

mode_t mode_of(int flags, va_list& arguments) {
    return (flags & (O_CREAT | O_TMPFILE)) != 0 ? static_cast<mode_t>(va_arg(arguments, int)) : mode_t{0};
}

std::string gathered(const iovec* pieces, int count) {
    std::string all;
    for (int i = 0; i < count; ++i) {
        all.append(static_cast<const char*>(pieces[i].iov_base), pieces[i].iov_len);
    }
    return all;
}

// A write at the file's current position.
template <class Doing>
ssize_t written(int file, const std::string& all, Doing&& doing) {
    if (file == STDOUT_FILENO && notes().file >= 0) {
        const std::lock_guard lock{notes().order};
        const ssize_t done = doing();
        if (done > 0) {
            note("print", 0, 0, std::string_view{all}.substr(0, static_cast<std::size_t>(done)));
        }
        return done;
    }
    return noted(file, doing, [&](ssize_t done) {
        const long long end = static_cast<long long>(::lseek(file, 0, SEEK_CUR));
        note("write", facts_of(file).inode, end - done,
             std::string_view{all}.substr(0, static_cast<std::size_t>(done)));
    });
}

}  // namespace

#define REAL(name) static const auto next = real(&::name, #name)
#define OPEN(name, folder, ...)                    \
    va_list arguments;                             \
    va_start(arguments, flags);                    \
    const mode_t mode = mode_of(flags, arguments); \
    va_end(arguments);                             \
    REAL(name);                                    \
    return opened(folder, path, flags, [&] { return next(__VA_ARGS__, flags, mode); })

extern "C" {

int open(const char* path, int flags, ...) { OPEN(open, AT_FDCWD, path); }
int open64(const char* path, int flags, ...) { OPEN(open64, AT_FDCWD, path); }
int openat(int folder, const char* path, int flags, ...) { OPEN(openat, folder, folder, path); }

ssize_t write(int file, const void* from, size_t size) {
    REAL(write);
    return written(file, {static_cast<const char*>(from), size}, [&] { return next(file, from, size); });
}
ssize_t writev(int file, const iovec* pieces, int count) {
    REAL(writev);
    return written(file, gathered(pieces, count), [&] { return next(file, pieces, count); });
}
ssize_t pwrite(int file, const void* from, size_t size, off_t at) {
    REAL(pwrite);
    return noted(
        file, [&] { return next(file, from, size, at); },
        [&](ssize_t done) {
            note("write", facts_of(file).inode, at, {static_cast<const char*>(from), static_cast<size_t>(done)});
        });
}
ssize_t pwrite64(int file, const void* from, size_t size, off64_t at) {
    REAL(pwrite64);
    return noted(
        file, [&] { return next(file, from, size, at); },
        [&](ssize_t done) {
            note("write", facts_of(file).inode, at, {static_cast<const char*>(from), static_cast<size_t>(done)});
        });
}
int ftruncate(int file, off_t size) noexcept {
    REAL(ftruncate);
    return noted(
        file, [&] { return next(file, size); }, [&](int) { note("truncate", facts_of(file).inode, size, {}); });
}
int ftruncate64(int file, off64_t size) noexcept {
    REAL(ftruncate64);
    return noted(
        file, [&] { return next(file, size); }, [&](int) { note("truncate", facts_of(file).inode, size, {}); });
}
int fsync(int file) {
    REAL(fsync);
    return noted(
        file, [&] { return next(file); }, [&](int) { note("sync", facts_of(file).inode, 0, {}); });
}
int fdatasync(int file) {
    REAL(fdatasync);
    return noted(
        file, [&] { return next(file); }, [&](int) { note("sync", facts_of(file).inode, 0, {}); });
}
int syncfs(int file) noexcept {
    REAL(syncfs);
    return noted(
        file, [&] { return next(file); }, [&](int) { note("sync_all", 0, 0, {}); });
}

int mkdir(const char* path, mode_t mode) noexcept {
    REAL(mkdir);
    const std::string whole = path_of(AT_FDCWD, path);
    return noted_path(
        whole, [&] { return next(path, mode); }, [&] { note("mkdir", facts_of(whole).inode, 0, whole); });
}
int rename(const char* from, const char* to) noexcept {
    REAL(rename);
    const std::string older = path_of(AT_FDCWD, from);
    const std::string newer = path_of(AT_FDCWD, to);
    return noted_path(
        newer, [&] { return next(from, to); }, [&] { note("rename", 0, 0, older + '\0' + newer); });
}
int renameat2(int from_folder, const char* from, int to_folder, const char* to, unsigned flags) noexcept {
    REAL(renameat2);
    const std::string older = path_of(from_folder, from);
    const std::string newer = path_of(to_folder, to);
    const char* const call = (flags & RENAME_EXCHANGE) != 0 ? "exchange" : "rename";
    return noted_path(
        newer, [&] { return next(from_folder, from, to_folder, to, flags); },
        [&] { note(call, 0, 0, older + '\0' + newer); });
}
int link(const char* from, const char* to) noexcept {
    REAL(link);
    const std::string older = path_of(AT_FDCWD, from);
    const std::string newer = path_of(AT_FDCWD, to);
    return noted_path(
        newer, [&] { return next(from, to); }, [&] { note("link", 0, 0, older + '\0' + newer); });
}
int unlink(const char* path) noexcept {
    REAL(unlink);
    const std::string whole = path_of(AT_FDCWD, path);
    return noted_path(
        whole, [&] { return next(path); }, [&] { note("unlink", 0, 0, whole); });
}
int unlinkat(int folder, const char* path, int flags) noexcept {
    REAL(unlinkat);
    const std::string whole = path_of(folder, path);
    return noted_path(
        whole, [&] { return next(folder, path, flags); }, [&] { note("unlink", 0, 0, whole); });
}
int rmdir(const char* path) noexcept {
    REAL(rmdir);
    const std::string whole = path_of(AT_FDCWD, path);
    return noted_path(
        whole, [&] { return next(path); }, [&] { note("unlink", 0, 0, whole); });
}

}  // extern "C"
