// The bodies of <smdebug/storage/disk_cache.hpp>.
#pragma once

#include <smdebug/storage/disk_cache.hpp>
#include <smdebug/storage/posix/file.hpp>
#include <smdebug/storage/posix/folder.hpp>
#include <smdebug/storage/posix/output.hpp>

#include <algorithm>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {

SMDEBUG_INLINE disk_cache::disk_cache(std::string folder, std::uint64_t most_bytes, std::uint64_t most_memory)
    : folder_(std::move(folder)),
      most_(most_bytes),
      near_(std::make_unique<memory_cache>(most_memory)),
      state_(std::make_unique<state>()) {
    while (folder_.size() > 1 && folder_.ends_with('/')) {
        folder_.pop_back();
    }
}

SMDEBUG_INLINE std::optional<byte_buffer> disk_cache::find(const object_identity& what) {
    std::optional<byte_buffer> whole = near_->find(what);
    if (!whole) {
        whole = find_in_folder(what);
        if (whole) {
            near_->keep(what, *whole);
        }
    }
    return whole;
}

SMDEBUG_INLINE std::optional<byte_buffer> disk_cache::find_aside(const object_identity& what) {
    std::optional<byte_buffer> whole = near_->find(what);
    return whole ? whole : find_in_folder(what);
}

SMDEBUG_INLINE bool disk_cache::holds(const object_identity& what) const {
    return near_->holds(what) ||
           quietly(false, [&] { return detail::posix::regular_file_size(path_of(what)).has_value(); });
}

SMDEBUG_INLINE void disk_cache::keep(const object_identity& what, const byte_buffer& bytes) {
    near_->keep(what, bytes);
    keep_aside(what, bytes.view());
}

SMDEBUG_INLINE void disk_cache::keep_aside(const object_identity& what, byte_view bytes) {
    if (bytes.size() > largest() || holds_back()) {
        return;
    }
    const std::uint64_t written =
        quietly(std::uint64_t{0}, [&] { return detail::cache_file::write(path_of(what), what, bytes); });
    if (written > 0) {
        count(written);
        return;
    }
    const std::lock_guard lock{state_->guard};
    state_->not_before = clock::now() + pause;
}

SMDEBUG_INLINE void disk_cache::drop(const object_identity& what) {
    near_->drop(what);
    quietly(false, [&] { return detail::posix::remove_file(path_of(what)); });
}

SMDEBUG_INLINE void disk_cache::tidy() {
    quietly(false, [&] {
        remove_oldest();
        return true;
    });
}

SMDEBUG_INLINE std::optional<byte_buffer> disk_cache::find_in_folder(const object_identity& what) const {
    return quietly(std::optional<byte_buffer>{}, [&] {
        const std::string path = path_of(what);
        std::optional<byte_buffer> whole = detail::cache_file::read(path, what, most_);
        if (whole) {
            detail::posix::touch(path);  // its last use
        }
        return whole;
    });
}

SMDEBUG_INLINE bool disk_cache::holds_back() const {
    const std::lock_guard lock{state_->guard};
    return clock::now() < state_->not_before;
}

SMDEBUG_INLINE void disk_cache::count(std::uint64_t written) {
    {
        const std::lock_guard lock{state_->guard};
        state_->bytes += written;
        state_->since += written;
        if (state_->has_looked && state_->bytes <= most_ && state_->since <= most_ / 8) {
            return;
        }
    }
    tidy();
}

SMDEBUG_INLINE void disk_cache::remove_oldest() {
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
    std::uint64_t bytes = 0;
    if (auto folder = detail::posix::folder_reader::open_if_there(detail::posix::working_folder, folder_, folder_)) {
        const auto now = std::chrono::system_clock::now();
        folder->each([&](const detail::posix::folder_entry& entry) {
            const bool half_written = detail::cache_file::is_temporary(entry.name);
            if (!half_written && !detail::cache_file::is_name(entry.name)) {
                return;  // somebody else's
            }
            const std::string path = detail::posix::joined(folder_ + "/", entry.name);
            const auto used = detail::posix::regular_file_time(path);
            const auto size = detail::posix::regular_file_size(path);
            if (!used || !size) {
                return;
            }
            if (!half_written) {
                bytes += *size;
                files.push_back({.used = *used, .size = *size, .path = path});
            } else if (now - *used > left_behind) {
                static_cast<void>(detail::posix::remove_file(path));
            }
        });
    }
    if (bytes > most_) {
        std::sort(files.begin(), files.end(), [](const file& a, const file& b) { return a.used < b.used; });
        const std::uint64_t enough = most_ - most_ / 8;  // so that this is not done again at once
        for (auto oldest = files.begin(); oldest != files.end() && bytes > enough; ++oldest) {
            static_cast<void>(detail::posix::remove_file(oldest->path));
            bytes -= oldest->size;
        }
    }
    const std::lock_guard lock{state_->guard};
    state_->has_looked = true;
    state_->bytes = bytes;
    state_->since = 0;
}

}  // namespace v1
}  // namespace smdebug
