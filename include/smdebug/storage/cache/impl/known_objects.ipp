// The bodies of <smdebug/storage/cache/known_objects.hpp>.
#pragma once

#include <smdebug/core/printable_text.hpp>
#include <smdebug/storage/cache/known_objects.hpp>

#include <utility>

namespace smdebug::inline v1::detail {

SMDEBUG_INLINE std::optional<known_object> known_objects::find(std::string_view key) {
    const std::lock_guard lock{guard_};
    const known_object* const known = known_.find(key);
    return known != nullptr ? std::optional{*known} : std::nullopt;
}

SMDEBUG_INLINE std::uint64_t known_objects::state() const {
    const std::lock_guard lock{guard_};
    return state_;
}

SMDEBUG_INLINE void known_objects::learn(std::vector<object_entry> listed, std::uint64_t state) {
    const std::lock_guard lock{guard_};
    for (object_entry& one : listed) {
        if (state == state_ && !passes(one.key)) {
            known_.put(std::move(one.key), {.size = one.size, .version = std::move(one.version)});
        }
    }
}

SMDEBUG_INLINE void known_objects::learn(std::string_view key, known_object listed, std::uint64_t state) {
    const std::lock_guard lock{guard_};
    if (state == state_ && !passes(key)) {
        known_.put(std::string{key}, std::move(listed));
    }
}

SMDEBUG_INLINE void known_objects::pass(std::string_view key) {
    const std::lock_guard lock{guard_};
    ++state_;
    known_.put(std::string{key}, {.passes = true});
}

SMDEBUG_INLINE void known_objects::forget(std::string_view key) {
    const std::lock_guard lock{guard_};
    ++state_;
    known_.erase(key);
}

SMDEBUG_INLINE void known_objects::forget() {
    const std::lock_guard lock{guard_};
    ++state_;
    known_.clear();
}

SMDEBUG_INLINE void known_objects::doubt(const std::vector<std::string>& keys) {
    const std::lock_guard lock{guard_};
    state_ += keys.empty() ? 0U : 1U;
    for (const std::string& key : keys) {
        if (!passes(key)) {
            known_.erase(key);
        }
    }
}

SMDEBUG_INLINE bool known_objects::passes(std::string_view key) const {
    const known_object* const known = known_.look(key);
    return known != nullptr && known->passes;
}

SMDEBUG_INLINE std::string key_before(std::string_view key) {
    std::string before{key};
    if (before.empty()) {
        return before;
    }
    const auto last = static_cast<unsigned char>(before.back());
    if (last > 0x20 && last < 0x7F) {
        before.back() = static_cast<char>(last - 1);
        return before + '~';
    }
    bool inside_character = true;  // remove the whole character if the key is UTF-8
    while (inside_character && !before.empty()) {
        inside_character = continues_utf8_character(before.back());
        before.pop_back();
    }
    return before;
}

}  // namespace smdebug::inline v1::detail
