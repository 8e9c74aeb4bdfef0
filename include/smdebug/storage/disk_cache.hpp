// A cache of whole objects in a folder on this machine's disk, which many processes may share.
// Used by: storage/cached_storage.hpp.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/storage/cache_file.hpp>
#include <smdebug/storage/memory_cache.hpp>
#include <smdebug/storage/object_cache.hpp>
#include <smdebug/storage/posix_file.hpp>
#include <smdebug/storage/posix_folder.hpp>
#include <smdebug/storage/posix_output.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {

/// Holds about `most_bytes` of objects in the folder, and some of them in memory as well, so that reading many parts of
/// one does not read its file each time.  A process may be killed at any time; a file that is cut or damaged is not
/// believed.  A disk that is full, a folder that may not be written or that is gone: then nothing is cached.
/// The files that were not used for longest go first, when this process has written more than there is room for.
/// Trust: who can write to the folder can change what is read.  Folders and files that are made are their owner's alone
/// (700, 600); a folder that is there stays as it is.
/// Threads: everything may be called at once.  Cost: a hit that is not in memory reads and checks a file.
class disk_cache {
public:
    static constexpr bool needs_versions = true;
    static constexpr std::uint64_t usual_bytes = std::uint64_t{8} << 30U;
    static constexpr std::uint64_t usual_memory = std::uint64_t{64} << 20U;

    /// The folder is made when there is something to put into it.
    explicit disk_cache(std::string folder, std::uint64_t most_bytes = usual_bytes,
                        std::uint64_t most_memory = usual_memory)
        : folder_(std::move(folder)),
          most_(most_bytes),
          near_(std::make_unique<memory_cache>(most_memory)),
          state_(std::make_unique<state>()) {
        while (folder_.size() > 1 && folder_.ends_with('/')) {
            folder_.pop_back();
        }
    }

    [[nodiscard]] std::optional<byte_buffer> find(const object_identity& what) {
        std::optional<byte_buffer> whole = near_->find(what);
        if (!whole) {
            whole = find_in_folder(what);
            if (whole) {
                near_->keep(what, *whole);
            }
        }
        return whole;
    }
    /// The same, and it stays where it is.
    [[nodiscard]] std::optional<byte_buffer> find_aside(const object_identity& what) {
        std::optional<byte_buffer> whole = near_->find(what);
        return whole ? whole : find_in_folder(what);
    }
    [[nodiscard]] bool holds(const object_identity& what) const {
        return near_->holds(what) ||
               quietly(false, [&] { return posix::regular_file_size(path_of(what)).has_value(); });
    }

    void keep(const object_identity& what, const byte_buffer& bytes) {
        near_->keep(what, bytes);
        keep_aside(what, bytes.view());
    }
    /// On the disk alone.
    void keep_aside(const object_identity& what, byte_view bytes) {
        if (bytes.size() > largest() || holds_back()) {
            return;
        }
        const std::uint64_t written =
            quietly(std::uint64_t{0}, [&] { return cache_file::write(path_of(what), what, bytes); });
        if (written > 0) {
            count(written);
            return;
        }
        const std::lock_guard lock{state_->guard};
        state_->not_before = clock::now() + pause;
    }

    void drop(const object_identity& what) {
        near_->drop(what);
        quietly(false, [&] { return posix::remove_file(path_of(what)); });
    }
    /// In memory alone: versions tell the files apart.
    void forget(std::string_view key) { near_->forget(key); }
    void clear() { near_->clear(); }

    [[nodiscard]] std::uint64_t largest() const noexcept { return most_ > room_for_name ? most_ - room_for_name : 0; }
    [[nodiscard]] const std::string& folder() const noexcept { return folder_; }

    /// Removes the files that were not used for longest, until there is room again, and what processes that were killed
    /// have left.  Called by itself when enough has been written.  Cost: a look at each file.
    void tidy() {
        quietly(false, [&] {
            remove_oldest();
            return true;
        });
    }

private:
    using clock = std::chrono::steady_clock;
    static constexpr std::uint64_t room_for_name = 4096;
    static constexpr std::chrono::seconds pause{1};      // after a write that failed
    static constexpr std::chrono::hours left_behind{1};  // so old are temporary files whose writer is dead
    struct state {
        std::mutex guard;
        std::mutex tidying;
        clock::time_point not_before{};
        bool has_looked = false;
        std::uint64_t held = 0;   // by the last look, and what has been written since
        std::uint64_t since = 0;  // written since the last look
    };

    [[nodiscard]] std::string path_of(const object_identity& what) const {
        return folder_ + "/" + cache_file::name_of(what);
    }

    [[nodiscard]] std::optional<byte_buffer> find_in_folder(const object_identity& what) const {
        return quietly(std::optional<byte_buffer>{}, [&] {
            const std::string path = path_of(what);
            std::optional<byte_buffer> whole = cache_file::read(path, what, most_);
            if (whole) {
                posix::touch(path);  // its last use
            }
            return whole;
        });
    }

    // A cache has no errors.
    template <class Result, class Doing>
    static Result quietly(Result otherwise, Doing&& doing) {
        try {
            return doing();
        } catch (const error&) {
            return otherwise;
        } catch (const std::bad_alloc&) {
            return otherwise;
        }
    }

    [[nodiscard]] bool holds_back() const {
        const std::lock_guard lock{state_->guard};
        return clock::now() < state_->not_before;
    }

    // Other processes write, too: so now and then it is looked what is there.
    void count(std::uint64_t written) {
        {
            const std::lock_guard lock{state_->guard};
            state_->held += written;
            state_->since += written;
            if (state_->has_looked && state_->held <= most_ && state_->since <= most_ / 8) {
                return;
            }
        }
        tidy();
    }

    void remove_oldest() {
        const std::unique_lock only_one{state_->tidying, std::try_to_lock};
        if (!only_one) {
            return;
        }
        struct file {
            std::chrono::system_clock::time_point used;
            std::uint64_t size = 0;
            std::string path;
        };
        std::vector<file> files;
        std::uint64_t held = 0;
        if (auto folder = posix::folder_reader::open_if_there(posix::working_folder, folder_, folder_)) {
            const auto now = std::chrono::system_clock::now();
            folder->each([&](const posix::folder_entry& entry) {
                const bool half_written = cache_file::is_temporary(entry.name);
                if (!half_written && !cache_file::is_name(entry.name)) {
                    return;  // somebody else's
                }
                const std::string path = posix::joined(folder_ + "/", entry.name);
                const auto used = posix::regular_file_time(path);
                const auto size = posix::regular_file_size(path);
                if (!used || !size) {
                    return;
                }
                if (!half_written) {
                    held += *size;
                    files.push_back({.used = *used, .size = *size, .path = path});
                } else if (now - *used > left_behind) {
                    static_cast<void>(posix::remove_file(path));
                }
            });
        }
        if (held > most_) {
            std::sort(files.begin(), files.end(), [](const file& a, const file& b) { return a.used < b.used; });
            const std::uint64_t enough = most_ - most_ / 8;  // so that this is not done again at once
            for (auto oldest = files.begin(); oldest != files.end() && held > enough; ++oldest) {
                static_cast<void>(posix::remove_file(oldest->path));
                held -= oldest->size;
            }
        }
        const std::lock_guard lock{state_->guard};
        state_->has_looked = true;
        state_->held = held;
        state_->since = 0;
    }

    std::string folder_;
    std::uint64_t most_;
    std::unique_ptr<memory_cache> near_;
    std::unique_ptr<state> state_;
};

static_assert(scan_cache<disk_cache>);

}  // namespace v1
}  // namespace smdebug
