// The bodies of <smdebug/storage/cache/metadata_cache.hpp>.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/core/printable_text.hpp>
#include <smdebug/storage/cache/metadata_cache.hpp>

#include <algorithm>
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

SMDEBUG_INLINE std::optional<known_object> metadata_cache::learn(std::string_view key) {
    if (std::optional<known_object> known = known_.find(key)) {
        return known;
    }
    const std::lock_guard asking{asking_};
    if (std::optional<known_object> known = known_.find(key)) {
        return known;
    }
    const std::uint64_t state = known_.state();
    try {
        if (!cannot_list_) {
            if (std::optional<std::vector<object_entry>> window = entries_from(key)) {
                std::optional<known_object> listed;
                if (const object_entry* const entry = entry_of(*window, key)) {
                    listed = known_object{.size = entry->size, .version = entry->version};
                }
                note(*std::move(window), state);
                return listed;
            }
        }
    } catch (const access_denied&) {
        cannot_list_ = true;  // reading objects may be permitted where listing is not
    } catch (const error&) {
        return std::nullopt;
    }
    return learn_size(key, state);
}

SMDEBUG_INLINE bool metadata_cache::has_changed(std::string_view key, const known_object& was) {
    known_.forget(key);
    const std::optional<known_object> now = learn(key);
    return !now || now->size != was.size || now->version != was.version;
}

SMDEBUG_INLINE void metadata_cache::note(std::vector<object_entry> listed, std::uint64_t state) {
    std::erase_if(listed, [&](const object_entry& one) { return !of_interest_(one.key); });
    known_.learn(std::move(listed), state);
}

SMDEBUG_INLINE void metadata_cache::forget() {
    cannot_list_ = false;
    known_.forget();
}

SMDEBUG_INLINE std::optional<std::vector<object_entry>> metadata_cache::entries_from(std::string_view key) const {
    constexpr std::size_t most = 1000;                               // as many as S3 lists at once
    constexpr int most_windows = 16;                                 // a faulty server may never end
    const std::string_view part = key.substr(0, key.find('/') + 1);  // npos + 1 is 0
    std::string after = key_before(key);
    for (int windows = 1;; ++windows) {
        std::optional<std::vector<object_entry>> window = inner_.entries(part, after, most);
        // By compare(), here and below: clang 14 does not find the operators.
        if (!window || window->size() < most || window->back().key.compare(key) >= 0 ||
            window->back().key.compare(after) <= 0 || windows == most_windows) {
            return window;
        }
        after = window->back().key;
    }
}

SMDEBUG_INLINE const object_entry* metadata_cache::entry_of(const std::vector<object_entry>& window,
                                                            std::string_view key) {
    const auto entry =
        std::lower_bound(window.begin(), window.end(), key,
                         [](const object_entry& one, std::string_view other) { return one.key.compare(other) < 0; });
    return entry != window.end() && entry->key.compare(key) == 0 ? &*entry : nullptr;
}

SMDEBUG_INLINE std::optional<known_object> metadata_cache::learn_size(std::string_view key, std::uint64_t state) {
    try {
        if (const std::optional<std::uint64_t> size = inner_.size(key)) {
            known_.learn(key, {.size = *size}, state);
            return known_object{.size = *size};
        }
    } catch (const error&) {
        // Reading the object throws the error again.
    }
    return std::nullopt;
}

}  // namespace smdebug::inline v1::detail
