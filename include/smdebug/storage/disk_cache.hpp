// A cache of whole objects in a folder on this machine's disk, which many processes may share.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/storage/cache/cache_file.hpp>
#include <smdebug/storage/memory_cache.hpp>
#include <smdebug/storage/object_cache.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <string_view>

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
                        std::uint64_t most_memory = usual_memory);

    [[nodiscard]] std::optional<byte_buffer> find(const object_identity& what);
    /// The same, and it stays where it is.
    [[nodiscard]] std::optional<byte_buffer> find_aside(const object_identity& what);
    [[nodiscard]] bool holds(const object_identity& what) const;

    void keep(const object_identity& what, const byte_buffer& bytes);
    /// On the disk alone.
    void keep_aside(const object_identity& what, byte_view bytes);

    void drop(const object_identity& what);
    /// In memory alone: versions tell the files apart.
    void forget(std::string_view key) { near_->forget(key); }
    void clear() { near_->clear(); }

    [[nodiscard]] std::uint64_t largest() const noexcept { return most_ > room_for_name ? most_ - room_for_name : 0; }
    [[nodiscard]] const std::string& folder() const noexcept { return folder_; }

    /// Removes the files that were not used for longest, until there is room again, and what processes that were killed
    /// have left.  Called by itself when enough has been written.  Cost: a look at each file.
    void tidy();

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
        std::uint64_t bytes = 0;  // by the last look, and what has been written since
        std::uint64_t since = 0;  // written since the last look
    };

    [[nodiscard]] std::string path_of(const object_identity& what) const {
        return folder_ + "/" + detail::cache_file::name_of(what);
    }

    [[nodiscard]] std::optional<byte_buffer> find_in_folder(const object_identity& what) const;

    // Errors of the cache are swallowed: objects are then read as if there were none.
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

    [[nodiscard]] bool holds_back() const;

    // Lists the folder now and then, as other processes write to it, too.
    void count(std::uint64_t written);

    void remove_oldest();

    std::string folder_;
    std::uint64_t most_;
    std::unique_ptr<memory_cache> near_;
    std::unique_ptr<state> state_;
};

static_assert(scan_cache<disk_cache>);

}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/storage/impl/disk_cache.ipp>
#endif
