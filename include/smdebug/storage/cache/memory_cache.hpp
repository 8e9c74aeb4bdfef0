// The memory of a cache of whole objects: the least recently used ones leave first.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/lru.hpp>

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace smdebug::inline v1::detail {

/// Identifies an object and one of the versions under its key. Borrows.
struct object_identity {
    std::string_view store;    ///< the storage's name
    std::string_view key;      ///< in that storage
    std::string_view version;  ///< as in entries(); empty if the storage has no versions
};

/// Objects of one storage, one version of each. Holds at most `most_bytes` of objects, counting 256 bytes of overhead
/// for each. Copies nothing: it shares its buffers with readers, and an evicted object stays whole for them.
/// Threads: everything may be called concurrently. Cost: a hash look-up, whatever its size.
class memory_cache {
public:
    explicit memory_cache(std::uint64_t most_bytes) : objects_(most_bytes) {}

    /// The object, if it is cached in this version; counts as a use.
    [[nodiscard]] std::optional<byte_buffer> find(const object_identity& what) {
        const std::lock_guard lock{guard_};
        return has(what) ? std::optional{objects_.find(what.key)->bytes} : std::nullopt;
    }
    [[nodiscard]] bool holds(const object_identity& what) const {
        const std::lock_guard lock{guard_};
        return has(what);
    }

    /// Caches the object and replaces another version. The buffer should not keep more memory alive than its own bytes.
    void keep(const object_identity& what, const byte_buffer& bytes) {
        const std::lock_guard lock{guard_};
        if (bytes.size() > largest()) {
            objects_.erase(what.key);
        } else {
            objects_.put(std::string{what.key}, {.version = std::string{what.version}, .bytes = bytes},
                         bytes.size() + note_bytes);
        }
    }

    /// Drops this version; any version of a key; everything.
    void drop(const object_identity& what) {
        const std::lock_guard lock{guard_};
        if (has(what)) {
            objects_.erase(what.key);
        }
    }
    void forget(std::string_view key) {
        const std::lock_guard lock{guard_};
        objects_.erase(key);
    }
    void forget() {
        const std::lock_guard lock{guard_};
        objects_.clear();
    }

    /// The size in bytes of the largest object that it would keep.
    [[nodiscard]] std::uint64_t largest() const noexcept {
        return objects_.most() > note_bytes ? objects_.most() - note_bytes : 0;
    }
    /// The number of bytes that count against the bound now.
    [[nodiscard]] std::uint64_t held_bytes() const {
        const std::lock_guard lock{guard_};
        return objects_.size();
    }

private:
    static constexpr std::uint64_t note_bytes = 256;

    struct cached {
        std::string version;
        byte_buffer bytes;
    };

    // Whether it is there in this version.
    [[nodiscard]] bool has(const object_identity& what) const {
        const cached* const found = objects_.look(what.key);
        return found != nullptr && found->version == what.version;
    }

    mutable std::mutex guard_;
    lru<std::string, cached, std::string_view> objects_;
};

}  // namespace smdebug::inline v1::detail
