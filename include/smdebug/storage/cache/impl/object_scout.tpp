// The bodies of <smdebug/storage/cache/object_scout.hpp> that are templates.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/storage/cache/object_scout.hpp>

#include <algorithm>
#include <cstddef>

namespace smdebug {
inline namespace v1 {
namespace detail {

template <storage Inner>
std::optional<known_object> object_scout<Inner>::learn(std::string_view key) {
    if (std::optional<known_object> known = known_.find(key)) {
        return known;
    }
    const std::lock_guard asking{asking_};
    if (std::optional<known_object> known = known_.find(key)) {
        return known;
    }
    const std::uint64_t state = known_.state();
    if constexpr (entry_lister<Inner>) {
        try {
            if (!cannot_list_) {
                std::vector<object_entry> window = entries_from(key);
                std::optional<known_object> listed;
                if (const object_entry* const entry = entry_of(window, key)) {
                    listed = known_object{.size = entry->size, .version = entry->version};
                }
                note(std::move(window), state);
                return listed;
            }
        } catch (const access_denied&) {
            cannot_list_ = true;  // one may have the right to read objects and not to list them
        } catch (const error&) {
            return std::nullopt;
        }
    }
    return may_do_without_ ? learn_size(key, state) : std::nullopt;
}

template <storage Inner>
bool object_scout<Inner>::has_changed(std::string_view key, const known_object& was) {
    known_.forget(key);
    const std::optional<known_object> now = learn(key);
    return !now || now->size != was.size || now->version != was.version;
}

template <storage Inner>
void object_scout<Inner>::note(std::vector<object_entry> listed, std::uint64_t state) {
    std::erase_if(listed, [&](const object_entry& one) { return !of_interest_(one.key); });
    known_.learn(std::move(listed), state);
}

template <storage Inner>
void object_scout<Inner>::forget() {
    cannot_list_ = false;
    known_.forget();
}

template <storage Inner>
std::vector<object_entry> object_scout<Inner>::entries_from(std::string_view key) const
    requires entry_lister<Inner>
{
    constexpr std::size_t most = 1000;                               // as many as S3 tells at once
    constexpr int most_windows = 16;                                 // a server may have no end of them
    const std::string_view part = key.substr(0, key.find('/') + 1);  // npos + 1 is 0
    std::string after = detail::key_before(key);
    for (int windows = 1;; ++windows) {
        std::vector<object_entry> window = inner_.entries(part, after, most);
        // By compare(), here and below: clang 14 does not find the operators.
        if (window.size() < most || window.back().key.compare(key) >= 0 || window.back().key.compare(after) <= 0 ||
            windows == most_windows) {
            return window;
        }
        after = window.back().key;
    }
}

template <storage Inner>
const object_entry* object_scout<Inner>::entry_of(const std::vector<object_entry>& window, std::string_view key) {
    const auto entry =
        std::lower_bound(window.begin(), window.end(), key,
                         [](const object_entry& one, std::string_view other) { return one.key.compare(other) < 0; });
    return entry != window.end() && entry->key.compare(key) == 0 ? &*entry : nullptr;
}

template <storage Inner>
std::optional<known_object> object_scout<Inner>::learn_size(std::string_view key, std::uint64_t state) {
    try {
        if (const std::optional<std::uint64_t> size = inner_.size(key)) {
            known_.learn(key, {.size = *size}, state);
            return known_object{.size = *size};
        }
    } catch (const error&) {
        // The error comes again when the object is read.
    }
    return std::nullopt;
}

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
