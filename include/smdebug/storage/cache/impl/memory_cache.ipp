// The bodies of <smdebug/storage/cache/memory_cache.hpp>.
#pragma once

#include <smdebug/storage/cache/memory_cache.hpp>

namespace smdebug::inline v1::detail {

SMDEBUG_INLINE std::optional<memory_cache::place> memory_cache::look(const object_identity& what) const {
    const auto found = places_.find(what.key);
    return found != places_.end() && found->second->version == what.version ? std::optional{found->second}
                                                                            : std::nullopt;
}

SMDEBUG_INLINE void memory_cache::remove(std::string_view key) {
    if (const auto found = places_.find(key); found != places_.end()) {
        const place gone = found->second;
        bytes_ -= gone->bytes.size() + note_bytes;
        places_.erase(found);
        uses_.erase(gone);
    }
}

SMDEBUG_INLINE std::optional<byte_buffer> memory_cache::find(const object_identity& what) {
    const std::lock_guard lock{guard_};
    const std::optional<place> found = look(what);
    if (!found) {
        return std::nullopt;
    }
    uses_.splice(uses_.begin(), uses_, *found);
    return (*found)->bytes;
}

SMDEBUG_INLINE bool memory_cache::holds(const object_identity& what) const {
    const std::lock_guard lock{guard_};
    return look(what).has_value();
}

SMDEBUG_INLINE void memory_cache::keep(const object_identity& what, const byte_buffer& bytes) {
    const std::lock_guard lock{guard_};
    remove(what.key);
    if (bytes.size() > largest()) {
        return;
    }
    uses_.push_front({.key = std::string{what.key}, .version = std::string{what.version}, .bytes = bytes});
    try {
        places_.emplace(uses_.front().key, uses_.begin());
    } catch (...) {
        uses_.pop_front();
        throw;
    }
    bytes_ += bytes.size() + note_bytes;
    while (bytes_ > most_) {
        remove(std::string_view{uses_.back().key});
    }
}

SMDEBUG_INLINE void memory_cache::drop(const object_identity& what) {
    const std::lock_guard lock{guard_};
    if (look(what)) {
        remove(what.key);
    }
}

SMDEBUG_INLINE void memory_cache::forget(std::string_view key) {
    const std::lock_guard lock{guard_};
    remove(key);
}

SMDEBUG_INLINE void memory_cache::forget() {
    const std::lock_guard lock{guard_};
    places_.clear();
    uses_.clear();
    bytes_ = 0;
}

SMDEBUG_INLINE std::uint64_t memory_cache::held_bytes() const {
    const std::lock_guard lock{guard_};
    return bytes_;
}

}  // namespace smdebug::inline v1::detail
