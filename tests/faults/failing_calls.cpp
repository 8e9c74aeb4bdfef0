// A library for LD_PRELOAD: makes one of a process's calls that read or write files fail, or do only part of its work.
//   SMDEBUG_FAULT_LOG=FILE    writes the names of the calls, a line each, in order
//   SMDEBUG_FAULT_CALL=NAME   counts the calls of this name,
//   SMDEBUG_FAULT_AT=N        and fails the N-th, from 1,
//   SMDEBUG_FAULT_STICKY=1    and all later writing calls of any name: a disk that stays full,
//   SMDEBUG_FAULT_SPARED=NAME except those of this name,
//   SMDEBUG_FAULT_ERROR=E     with this errno; 0: a read or write does half of its work, and returns that
// Calls inside libc, such as those of opendir(), are not seen.
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace {

std::atomic<long> calls{0};

struct settings {
    int log = -1;
    const char* call = "";
    const char* spared = "";
    long at = 0;
    int error = 0;
    bool sticky = false;
};

long number_of(const char* name) {
    const char* const text = std::getenv(name);
    return text != nullptr ? std::atol(text) : 0;
}

const settings& how() {
    static const settings of_process = [] {
        settings made;
        if (const char* const log = std::getenv("SMDEBUG_FAULT_LOG")) {
            made.log =
                static_cast<int>(::syscall(SYS_openat, AT_FDCWD, log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
        }
        if (const char* const call = std::getenv("SMDEBUG_FAULT_CALL")) {
            made.call = call;
        }
        if (const char* const spared = std::getenv("SMDEBUG_FAULT_SPARED")) {
            made.spared = spared;
        }
        made.at = number_of("SMDEBUG_FAULT_AT");
        made.error = static_cast<int>(number_of("SMDEBUG_FAULT_ERROR"));
        made.sticky = number_of("SMDEBUG_FAULT_STICKY") != 0;
        return made;
    }();
    return of_process;
}

enum class kind { reading, writing };

std::atomic<bool> is_broken{false};

/// Only files, folders and standard output: a pipe between threads is never full.
bool counts(int file) {
    const int saved = errno;
    struct stat info {};
    const bool known = ::syscall(SYS_fstat, file, &info) == 0;
    errno = saved;
    return file == 1 || (known && (S_ISREG(info.st_mode) || S_ISDIR(info.st_mode)));
}

/// Whether this call should fail.
bool fails(const char* name, kind what) {
    const int saved = errno;
    const settings& set = how();
    const bool is_asked = std::strcmp(name, set.call) == 0;
    const long number = is_asked ? ++calls : 0;
    if (set.log >= 0) {
        char line[64];
        const int length = std::snprintf(line, sizeof line, "%s\n", name);
        static_cast<void>(::syscall(SYS_write, set.log, line, static_cast<size_t>(length)));
    }
    errno = saved;
    if (is_asked && number == set.at) {
        is_broken = set.sticky && what == kind::writing;
        return true;
    }
    return what == kind::writing && is_broken && std::strcmp(name, set.spared) != 0;
}

template <class Function>
Function* real(Function* /*of_this_type*/, const char* name) {
    return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

bool is_short() { return how().error == 0; }

int failure() {
    errno = how().error != 0 ? how().error : EIO;
    return -1;
}

size_t half(size_t size) { return size < 2 ? size : size / 2; }

bool creates(int flags) { return (flags & (O_CREAT | O_WRONLY | O_RDWR)) != 0; }

mode_t mode_of(int flags, va_list& arguments) {
    return (flags & (O_CREAT | O_TMPFILE)) != 0 ? static_cast<mode_t>(va_arg(arguments, int)) : mode_t{0};
}

}  // namespace

#define REAL(name) static const auto next = real(&::name, #name)
#define FAIL(name, what)          \
    REAL(name);                   \
    if (fails(#name, kind::what)) \
    return failure()

extern "C" {

int open(const char* path, int flags, ...) {
    va_list arguments;
    va_start(arguments, flags);
    const mode_t mode = mode_of(flags, arguments);
    va_end(arguments);
    REAL(open);
    return fails("open", creates(flags) ? kind::writing : kind::reading) ? failure() : next(path, flags, mode);
}
int open64(const char* path, int flags, ...) {
    va_list arguments;
    va_start(arguments, flags);
    const mode_t mode = mode_of(flags, arguments);
    va_end(arguments);
    REAL(open64);
    return fails("open", creates(flags) ? kind::writing : kind::reading) ? failure() : next(path, flags, mode);
}
int openat(int folder, const char* path, int flags, ...) {
    va_list arguments;
    va_start(arguments, flags);
    const mode_t mode = mode_of(flags, arguments);
    va_end(arguments);
    REAL(openat);
    return fails("openat", creates(flags) ? kind::writing : kind::reading) ? failure()
                                                                           : next(folder, path, flags, mode);
}

ssize_t read(int file, void* into, size_t size) {
    REAL(read);
    return !counts(file) || !fails("read", kind::reading) ? next(file, into, size)
           : is_short()                                   ? next(file, into, half(size))
                                                          : failure();
}
ssize_t pread(int file, void* into, size_t size, off_t at) {
    REAL(pread);
    return !counts(file) || !fails("pread", kind::reading) ? next(file, into, size, at)
           : is_short()                                    ? next(file, into, half(size), at)
                                                           : failure();
}
ssize_t pread64(int file, void* into, size_t size, off64_t at) {
    REAL(pread64);
    return !counts(file) || !fails("pread", kind::reading) ? next(file, into, size, at)
           : is_short()                                    ? next(file, into, half(size), at)
                                                           : failure();
}
ssize_t preadv2(int file, const iovec* pieces, int count, off_t at, int flags) {
    REAL(preadv2);
    if (!counts(file) || !fails("preadv2", kind::reading)) {
        return next(file, pieces, count, at, flags);
    }
    if (!is_short() || count < 1) {
        return failure();
    }
    const iovec piece{pieces[0].iov_base, half(pieces[0].iov_len)};
    return next(file, &piece, 1, at, flags);
}
ssize_t write(int file, const void* from, size_t size) {
    REAL(write);
    return !counts(file) || !fails("write", kind::writing) ? next(file, from, size)
           : is_short()                                    ? next(file, from, half(size))
                                                           : failure();
}
ssize_t pwrite(int file, const void* from, size_t size, off_t at) {
    REAL(pwrite);
    return !counts(file) || !fails("pwrite", kind::writing) ? next(file, from, size, at)
           : is_short()                                     ? next(file, from, half(size), at)
                                                            : failure();
}
ssize_t pwrite64(int file, const void* from, size_t size, off64_t at) {
    REAL(pwrite64);
    return !counts(file) || !fails("pwrite", kind::writing) ? next(file, from, size, at)
           : is_short()                                     ? next(file, from, half(size), at)
                                                            : failure();
}
ssize_t writev(int file, const iovec* pieces, int count) {
    REAL(writev);
    if (!counts(file) || !fails("writev", kind::writing)) {
        return next(file, pieces, count);
    }
    if (!is_short() || count < 1) {
        return failure();
    }
    const iovec piece{pieces[0].iov_base, half(pieces[0].iov_len)};
    return next(file, &piece, 1);
}

// The file is closed nevertheless, as on Linux.
int close(int file) {
    REAL(close);
    const bool failed = counts(file) && fails("close", kind::writing);
    const int done = next(file);
    return failed ? failure() : done;
}

int fsync(int file) {
    FAIL(fsync, writing);
    return next(file);
}
int fdatasync(int file) {
    FAIL(fdatasync, writing);
    return next(file);
}
int ftruncate64(int file, off64_t size) noexcept {
    FAIL(ftruncate64, writing);
    return next(file, size);
}
int mkdir(const char* path, mode_t mode) noexcept {
    FAIL(mkdir, writing);
    return next(path, mode);
}
int rename(const char* from, const char* to) noexcept {
    FAIL(rename, writing);
    return next(from, to);
}
int renameat2(int from_folder, const char* from, int to_folder, const char* to, unsigned flags) noexcept {
    FAIL(renameat2, writing);
    return next(from_folder, from, to_folder, to, flags);
}
int link(const char* from, const char* to) noexcept {
    FAIL(link, writing);
    return next(from, to);
}
int fchmod(int file, mode_t mode) noexcept {
    FAIL(fchmod, writing);
    return next(file, mode);
}

int stat(const char* path, struct stat* info) noexcept {
    FAIL(stat, reading);
    return next(path, info);
}
int stat64(const char* path, struct stat64* info) noexcept {
    FAIL(stat64, reading);
    return next(path, info);
}
int lstat(const char* path, struct stat* info) noexcept {
    FAIL(lstat, reading);
    return next(path, info);
}
int fstat(int file, struct stat* info) noexcept {
    FAIL(fstat, reading);
    return next(file, info);
}
int fstat64(int file, struct stat64* info) noexcept {
    FAIL(fstat64, reading);
    return next(file, info);
}
int fstatat(int folder, const char* path, struct stat* info, int flags) noexcept {
    FAIL(fstatat, reading);
    return next(folder, path, info, flags);
}
int statx(int folder, const char* path, int flags, unsigned mask, struct statx* info) noexcept {
    FAIL(statx, reading);
    return next(folder, path, flags, mask, info);
}

DIR* fdopendir(int file) {
    REAL(fdopendir);
    if (fails("fdopendir", kind::reading)) {
        static_cast<void>(failure());
        return nullptr;
    }
    return next(file);
}
struct dirent* readdir(DIR* folder) {
    REAL(readdir);
    if (fails("readdir", kind::reading)) {
        static_cast<void>(failure());
        return nullptr;
    }
    return next(folder);
}

void* mmap(void* at, size_t size, int protection, int flags, int file, off_t offset) noexcept {
    REAL(mmap);
    if (file >= 0 && fails("mmap", kind::reading)) {
        static_cast<void>(failure());
        return MAP_FAILED;
    }
    return next(at, size, protection, flags, file, offset);
}
void* mmap64(void* at, size_t size, int protection, int flags, int file, off64_t offset) noexcept {
    REAL(mmap64);
    if (file >= 0 && fails("mmap", kind::reading)) {
        static_cast<void>(failure());
        return MAP_FAILED;
    }
    return next(at, size, protection, flags, file, offset);
}

int inotify_init1(int flags) noexcept {
    FAIL(inotify_init1, reading);
    return next(flags);
}
int inotify_add_watch(int queue, const char* path, uint32_t mask) noexcept {
    FAIL(inotify_add_watch, reading);
    return next(queue, path, mask);
}
int eventfd(unsigned count, int flags) noexcept {
    FAIL(eventfd, reading);
    return next(count, flags);
}
int flock(int file, int what) noexcept {
    FAIL(flock, reading);
    return next(file, what);
}

}  // extern "C"
