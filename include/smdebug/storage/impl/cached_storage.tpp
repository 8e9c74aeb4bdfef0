// The bodies of <smdebug/storage/cached_storage.hpp> that are templates.
#pragma once

#include <smdebug/storage/cache/known_objects.hpp>
#include <smdebug/storage/cached_storage.hpp>

#include <limits>

namespace smdebug {
inline namespace v1 {

namespace detail {

template <class Reader, object_output Output>
void cached_output<Reader, Output>::commit(durability how) {
    const forgetting changed{*reader_, key_};
    inner_.commit(how);
}

}  // namespace detail

template <storage Inner, cache_of<Inner> Cache>
std::optional<byte_buffer> cached_storage<Inner, Cache>::view(std::string_view key) const {
    if (const std::optional<detail::known_object> known = state_->objects.to_cache(key, false)) {
        if (std::optional<byte_buffer> whole = state_->objects.find(key, *known)) {
            return whole;
        }
    }
    if constexpr (viewing_storage<Inner>) {
        return inner().view(key);
    } else {
        return std::nullopt;
    }
}

template <storage Inner, cache_of<Inner> Cache>
bool cached_storage<Inner, Cache>::read_ahead(std::string_view key) const {
    const std::optional<bool> near = state_->objects.looks_near(key);
    if (near && !*near) {
        state_->crew.wish(key);
    }
    if constexpr (prefetching_storage<Inner>) {
        return near ? *near : inner().read_ahead(key);
    } else {
        return near.value_or(true);
    }
}

template <storage Inner, cache_of<Inner> Cache>
std::vector<std::string> cached_storage<Inner, Cache>::list(std::string_view prefix, std::string_view after) const {
    std::vector<std::string> keys;
    if constexpr (Cache::needs_versions) {  // costs as much where it is worth caching on disk
        for (object_entry& one : entries(prefix, after, std::numeric_limits<std::size_t>::max())) {
            keys.push_back(std::move(one.key));
        }
    } else {
        keys = inner().list(prefix, after);
        state_->objects.scout().known().doubt(keys);
    }
    return keys;
}

template <storage Inner, cache_of<Inner> Cache>
std::vector<object_entry> cached_storage<Inner, Cache>::entries(std::string_view prefix, std::string_view after,
                                                                std::size_t most) const
    requires entry_lister<Inner>
{
    auto& scout = state_->objects.scout();
    const std::uint64_t before = scout.known().state();
    std::vector<object_entry> found = inner().entries(prefix, after, most);
    scout.note(found, before);
    return found;
}

template <storage Inner, cache_of<Inner> Cache>
void cached_storage<Inner, Cache>::write(std::string_view key, byte_view bytes)
    requires writable_storage<Inner>
{
    const detail::forgetting changed{state_->objects, key};
    state_->objects.inner().write(key, bytes);
}

template <storage Inner, cache_of<Inner> Cache>
bool cached_storage<Inner, Cache>::remove(std::string_view key)
    requires removing_storage<Inner>
{
    const detail::forgetting changed{state_->objects, key};
    return state_->objects.inner().remove(key);
}

template <storage Inner, cache_of<Inner> Cache>
cached_storage<Inner, Cache>::state::state(Inner inner, Cache cache, detail::cache_options options)
    : objects(std::move(inner), std::move(cache), std::move(options)),
      crew([this](const std::string& key) { objects.bring(key); }, objects.options().threads_ahead,
           objects.options().most_ahead) {}

}  // namespace v1
}  // namespace smdebug
