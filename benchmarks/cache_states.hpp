// Files in each state of the page cache.  How a file got there decides the size of its pages, and so the cost of
// reading it.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

enum class cache_state {
    one_write,     ///< written by one large write
    small_writes,  ///< written by writes of 4 to 16 KiB, as the Python package's writer does
    read_back,     ///< evicted, and read from the disk again
    copied,        ///< copied with cp
    cold,          ///< evicted: only on the disk
};

inline constexpr std::array cached_states{cache_state::one_write, cache_state::small_writes, cache_state::read_back,
                                          cache_state::copied};

[[nodiscard]] constexpr std::string_view name_of(cache_state state) noexcept {
    constexpr std::array<std::string_view, 5> names{"one large write each", "small writes", "evicted and read back",
                                                    "copied with cp", "cold"};
    return names[static_cast<std::size_t>(state)];
}

/// An open file.
class open_file {
public:
    open_file(const std::string& path, int flags) : handle_(::open(path.c_str(), flags, 0644)) {
        if (handle_ < 0) {
            throw std::runtime_error("cannot open " + path);
        }
    }
    open_file(const open_file&) = delete;
    open_file& operator=(const open_file&) = delete;
    ~open_file() { ::close(handle_); }
    [[nodiscard]] int get() const noexcept { return handle_; }

private:
    int handle_;
};

inline std::vector<std::byte> bytes_of(const std::string& path) {
    const open_file file{path, O_RDONLY};
    std::vector<std::byte> bytes(static_cast<std::size_t>(::lseek(file.get(), 0, SEEK_END)));
    if (::pread(file.get(), bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
        throw std::runtime_error("cannot read " + path);
    }
    return bytes;
}

/// Replaces a file by a new one.  `most`: bytes of one write.
inline void write_anew(const std::string& path, std::span<const std::byte> bytes, std::size_t most) {
    ::unlink(path.c_str());
    const open_file file{path, O_WRONLY | O_CREAT | O_EXCL};
    for (std::size_t size = 0; !bytes.empty(); bytes = bytes.subspan(size)) {
        size = std::min(bytes.size(), most);
        if (::write(file.get(), bytes.data(), size) != static_cast<ssize_t>(size)) {
            throw std::runtime_error("cannot write " + path);
        }
    }
}

/// Evicts files from the page cache.
inline void evict(std::span<const std::string> paths) {
    for (const std::string& path : paths) {
        const open_file file{path, O_RDONLY};
        if (::fsync(file.get()) != 0 || ::posix_fadvise(file.get(), 0, 0, POSIX_FADV_DONTNEED) != 0) {
            throw std::runtime_error("cannot evict " + path);
        }
    }
}

/// Brings files into a state, from any other.
inline void bring_to(cache_state state, std::span<const std::string> paths) {
    constexpr std::size_t small = std::size_t{8} << 10U;
    for (const std::string& path : paths) {
        switch (state) {
            case cache_state::one_write:
            case cache_state::small_writes: {
                const std::vector<std::byte> bytes = bytes_of(path);
                write_anew(path, bytes, state == cache_state::small_writes ? small : bytes.size());
                break;
            }
            case cache_state::copied: {
                const std::string command =
                    "cp \"" + path + "\" \"" + path + ".copy\" && mv \"" + path + ".copy\" \"" + path + "\"";
                if (std::system(command.c_str()) != 0) {
                    throw std::runtime_error("cannot copy " + path);
                }
                break;
            }
            case cache_state::read_back:
                evict({&path, 1});
                static_cast<void>(bytes_of(path));
                break;
            case cache_state::cold:
                evict({&path, 1});
                break;
        }
    }
}

}  // namespace bench
