// The bodies of <smdebug/storage/cache/metadata_cache.hpp>.
#pragma once

#include <smdebug/core/printable_text.hpp>
#include <smdebug/storage/cache/metadata_cache.hpp>

#include <utility>

namespace smdebug::inline v1::detail {

SMDEBUG_INLINE std::optional<known_object> known_objects::find(std::string_view key) {
    const std::lock_guard lock{guard_};
    if (const auto known = young_.find(key); known != young_.end()) {
        return known->second;
    }
    const auto aged = old_.find(key);
    if (aged == old_.end()) {
        return std::nullopt;
    }
    auto node = old_.extract(aged);
    known_object known = node.mapped();
    make_room();
    young_.insert(std::move(node));
    return known;
}

SMDEBUG_INLINE std::uint64_t known_objects::state() const {
    const std::lock_guard lock{guard_};
    return state_;
}

SMDEBUG_INLINE void known_objects::learn(std::vector<object_entry> listed, std::uint64_t state) {
    const std::lock_guard lock{guard_};
    if (state == state_) {
        for (object_entry& one : listed) {
            put(std::move(one.key), {.size = one.size, .version = std::move(one.version)});
        }
    }
}

SMDEBUG_INLINE void known_objects::learn(std::string_view key, known_object listed, std::uint64_t state) {
    const std::lock_guard lock{guard_};
    if (state == state_) {
        put(std::string{key}, std::move(listed));
    }
}

SMDEBUG_INLINE void known_objects::pass(std::string_view key) {
    const std::lock_guard lock{guard_};
    ++state_;
    known_object& noted = young_.insert_or_assign(std::string{key}, known_object{}).first->second;
    noted.passes = true;
}

SMDEBUG_INLINE void known_objects::forget(std::string_view key) {
    const std::lock_guard lock{guard_};
    ++state_;
    erase(key);
}

SMDEBUG_INLINE void known_objects::forget() {
    const std::lock_guard lock{guard_};
    ++state_;
    young_.clear();
    old_.clear();
}

SMDEBUG_INLINE void known_objects::doubt(const std::vector<std::string>& keys) {
    const std::lock_guard lock{guard_};
    state_ += keys.empty() ? 0U : 1U;
    for (const std::string& key : keys) {
        if (const known_object* noted = look(key); noted != nullptr && !noted->passes) {
            erase(key);
        }
    }
}

SMDEBUG_INLINE const known_object* known_objects::look(std::string_view key) const {
    for (const map* generation : {&young_, &old_}) {
        if (const auto known = generation->find(key); known != generation->end()) {
            return &known->second;
        }
    }
    return nullptr;
}

SMDEBUG_INLINE void known_objects::put(std::string key, known_object listed) {
    if (const known_object* noted = look(key); noted != nullptr && noted->passes) {
        return;
    }
    make_room();
    young_.insert_or_assign(std::move(key), std::move(listed));
}

SMDEBUG_INLINE void known_objects::erase(std::string_view key) {
    for (map* generation : {&young_, &old_}) {
        if (const auto known = generation->find(key); known != generation->end()) {
            generation->erase(known);
        }
    }
}

SMDEBUG_INLINE void known_objects::make_room() {
    if (young_.size() >= half_) {
        old_ = std::exchange(young_, {});
    }
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
