// The bodies of <smdebug/storage/cache/disk_cache.hpp>.
#pragma once

#include <smdebug/storage/cache/disk_cache.hpp>
#include <smdebug/storage/posix/file.hpp>
#include <smdebug/storage/posix/folder.hpp>
#include <smdebug/storage/posix/output.hpp>
#include <smdebug/storage/uri.hpp>

#include <algorithm>
#include <array>
#include <memory>
#include <utility>
#include <vector>

namespace smdebug::inline v1::detail {
namespace cache_file {

SMDEBUG_INLINE std::string identity_text(const object_identity& what) {
    std::string text;
    for (const std::string_view part : {what.store, what.key, what.version}) {
        text.append(std::to_string(part.size())).append(":").append(part);
    }
    return text;
}

SMDEBUG_INLINE std::string name_of(const object_identity& what) {
    return posix::hashed_name(identity_text(what), extension);
}

SMDEBUG_INLINE bool is_name(std::string_view name) noexcept {
    return name.find_first_not_of("0123456789abcdef") == posix::hashed_digits &&
           (name.substr(posix::hashed_digits) == extension ||
            name.substr(posix::hashed_digits) == archive_index_extension);
}

SMDEBUG_INLINE bool is_temporary(std::string_view name) noexcept {
    return name.size() > posix::hashed_digits && name.find_first_not_of("0123456789abcdef") == posix::hashed_digits &&
           name.substr(posix::hashed_digits).starts_with(posix::temporary_mark);
}

/// What a file begins with.
[[nodiscard]] inline std::array<std::byte, head_size> head_of(std::string_view identity, byte_view object) noexcept {
    const std::uint64_t seed = identity.size() ^ (std::uint64_t{object.size()} << 20U);
    const std::uint64_t checksum = content_hash(object, content_hash(as_bytes(identity), seed));
    std::array<std::byte, head_size> head{};
    std::byte* to = head.data();
    for (const std::uint64_t number : {mark, std::uint64_t{identity.size()}, std::uint64_t{object.size()}, checksum}) {
        store_le(to, number);
        to += sizeof number;
    }
    return head;
}

SMDEBUG_INLINE std::uint64_t write(const std::string& path, const object_identity& what, byte_view object) {
    const std::string identity = identity_text(what);
    const auto head = head_of(identity, object);
    const std::array<byte_view, 3> pieces{byte_view{head}, as_bytes(identity), object};
    posix::whole_file_output out{path, posix::readable_by::owner};
    out.append(pieces);
    out.commit(durability::cached);
    return head.size() + identity.size() + object.size();
}

SMDEBUG_INLINE std::optional<byte_buffer> read(const std::string& path, const object_identity& what,
                                               std::uint64_t most_bytes) {
    const std::size_t slash = path.rfind('/');
    const std::string folder_name = path.substr(0, slash);
    const auto folder = posix::open_folder(folder_name);
    const auto file = folder ? posix::file::open_if_there(*folder, path.substr(slash + 1), folder_name) : std::nullopt;
    if (!file) {
        return std::nullopt;
    }
    const std::string identity = identity_text(what);
    const std::size_t before = head_size + identity.size();
    if (file->size() >= before && file->size() <= most_bytes) {
        const byte_buffer whole = file->read();
        const byte_view all = whole.view();
        if (all.size() == file->size()) {
            const byte_view object = all.subspan(before);
            const auto head = head_of(identity, object);
            if (std::equal(head.begin(), head.end(), all.begin()) &&
                as_text(all.subspan(head_size, identity.size())) == identity) {
                return whole.slice({before, object.size()});
            }
        }
    }
    static_cast<void>(posix::remove_file(path));
    return std::nullopt;
}

}  // namespace cache_file

SMDEBUG_INLINE disk_cache::disk_cache(std::string folder, std::uint64_t most_bytes)
    : folder_(std::move(folder)), most_(most_bytes) {
    while (folder_.size() > 1 && folder_.ends_with('/')) {
        folder_.pop_back();
    }
}

SMDEBUG_INLINE std::optional<byte_buffer> disk_cache::find(const object_identity& what) const {
    return quietly([&] {
        const std::string path = path_of(what);
        std::optional<byte_buffer> whole = cache_file::read(path, what, most_);
        if (whole) {
            posix::touch(path);  // its last use
        }
        return whole;
    });
}

SMDEBUG_INLINE bool disk_cache::holds(const object_identity& what) const {
    return quietly([&] { return posix::facts_of(path_of(what)).has_value(); });
}

SMDEBUG_INLINE void disk_cache::keep(const object_identity& what, byte_view bytes) {
    {
        const std::lock_guard lock{guard_};
        if (bytes.size() > largest() || clock::now() < not_before_) {
            return;
        }
    }
    if (const std::uint64_t written = quietly([&] { return cache_file::write(path_of(what), what, bytes); })) {
        count(written);
        return;
    }
    const std::lock_guard lock{guard_};
    not_before_ = clock::now() + pause;
}

SMDEBUG_INLINE void disk_cache::drop(const object_identity& what) {
    quietly([&] { return posix::remove_file(path_of(what)); });
}

SMDEBUG_INLINE void disk_cache::tidy() {
    quietly([&] { remove_oldest(); });
}

SMDEBUG_INLINE void disk_cache::count(std::uint64_t written) {
    {
        const std::lock_guard lock{guard_};
        bytes_ += written;
        since_ += written;
        if (has_looked_ && bytes_ <= most_ && since_ <= most_ / 8) {
            return;
        }
    }
    tidy();
}

SMDEBUG_INLINE void disk_cache::remove_oldest() {
    const std::unique_lock only_one{tidying_, std::try_to_lock};
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
    if (auto folder = posix::folder_reader::open_if_there(posix::working_folder, folder_, folder_)) {
        const auto now = std::chrono::system_clock::now();
        folder->each([&](const posix::folder_entry& entry) {
            const bool half_written = cache_file::is_temporary(entry.name);
            if (!half_written && !cache_file::is_name(entry.name)) {
                return;  // not a file of this cache
            }
            const std::string path = posix::joined(folder_ + "/", entry.name);
            const auto facts = posix::facts_of(path);
            if (!facts) {
                return;
            }
            if (!half_written) {
                bytes += facts->size();
                files.push_back({.used = facts->modified(), .size = facts->size(), .path = path});
            } else if (now - facts->modified() > left_behind) {
                static_cast<void>(posix::remove_file(path));
            }
        });
    }
    if (bytes > most_) {
        std::sort(files.begin(), files.end(), [](const file& a, const file& b) { return a.used < b.used; });
        const std::uint64_t enough = most_ - most_ / 8;  // leaves room, so that the next write does not repeat this
        for (auto oldest = files.begin(); oldest != files.end() && bytes > enough; ++oldest) {
            static_cast<void>(posix::remove_file(oldest->path));
            bytes -= oldest->size;
        }
    }
    const std::lock_guard lock{guard_};
    has_looked_ = true;
    bytes_ = bytes;
    since_ = 0;
}

}  // namespace smdebug::inline v1::detail
