// The bodies of <smdebug/storage/cache/memory_cache.hpp>.
#pragma once

#include <smdebug/storage/cache/memory_cache.hpp>

namespace smdebug::inline v1::detail {

SMDEBUG_INLINE bool memory_cache::has(const object_identity& what) const {
    const cached* const found = objects_.look(what.key);
    return found != nullptr && found->version == what.version;
}

SMDEBUG_INLINE std::optional<byte_buffer> memory_cache::find(const object_identity& what) {
    const std::lock_guard lock{guard_};
    return has(what) ? std::optional{objects_.find(what.key)->bytes} : std::nullopt;
}

SMDEBUG_INLINE bool memory_cache::holds(const object_identity& what) const {
    const std::lock_guard lock{guard_};
    return has(what);
}

SMDEBUG_INLINE void memory_cache::keep(const object_identity& what, const byte_buffer& bytes) {
    const std::lock_guard lock{guard_};
    if (bytes.size() > largest()) {
        objects_.erase(what.key);
    } else {
        objects_.put(std::string{what.key}, {.version = std::string{what.version}, .bytes = bytes},
                     bytes.size() + note_bytes);
    }
}

SMDEBUG_INLINE void memory_cache::drop(const object_identity& what) {
    const std::lock_guard lock{guard_};
    if (has(what)) {
        objects_.erase(what.key);
    }
}

SMDEBUG_INLINE void memory_cache::forget(std::string_view key) {
    const std::lock_guard lock{guard_};
    objects_.erase(key);
}

SMDEBUG_INLINE void memory_cache::forget() {
    const std::lock_guard lock{guard_};
    objects_.clear();
}

SMDEBUG_INLINE std::uint64_t memory_cache::held_bytes() const {
    const std::lock_guard lock{guard_};
    return objects_.size();
}

}  // namespace smdebug::inline v1::detail
