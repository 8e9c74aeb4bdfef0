// The bodies of <smdebug/storage/cache/caching_reader.hpp> that are templates.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/storage/cache/caching_reader.hpp>

#include <algorithm>

namespace smdebug {
inline namespace v1 {
namespace detail {

template <storage Inner, cache_of<Inner> Cache>
caching_reader<Inner, Cache>::caching_reader(Inner inner, Cache cache, cache_options options)
    : inner_(std::move(inner)),
      cache_(std::move(cache)),
      options_(with_predicate(std::move(options))),
      place_(inner_.name()),
      largest_(std::min(options_.largest_object, cache_.largest())),
      scout_(inner_, options_.cacheable, !Cache::needs_versions) {}

template <storage Inner, cache_of<Inner> Cache>
byte_buffer caching_reader<Inner, Cache>::read(std::string_view key, byte_range where, object_version* version) {
    if (std::optional<byte_buffer> part = parts_.find(key, where, version)) {
        return *std::move(part);
    }
    const std::optional<known_object> known = to_cache(key, true);
    const std::optional<byte_buffer> whole =
        known ? object(key, *known, fetch_table::by::reader, version) : std::nullopt;
    if (whole && where.offset >= whole->size() && where.length > 0 && scout_.has_changed(key, *known)) {
        pass(key);  // it grows: from now on its parts are read, not the whole each time
        return read_inner(key, where, version);
    }
    return whole ? whole->slice(where) : read_inner(key, where, version);
}

template <storage Inner, cache_of<Inner> Cache>
byte_buffer caching_reader<Inner, Cache>::read(std::string_view key) {
    if (std::optional<byte_buffer> whole = parts_.find(key, held_parts::whole)) {
        return *std::move(whole);
    }
    const std::optional<known_object> known = to_cache(key, true);
    std::optional<byte_buffer> whole = known ? object(key, *known, fetch_table::by::reader) : std::nullopt;
    return whole ? *std::move(whole) : std::as_const(inner_).read(key);
}

template <storage Inner, cache_of<Inner> Cache>
byte_buffer caching_reader<Inner, Cache>::read_inner(std::string_view key, object_version& version) const {
    if constexpr (versioned_reader<Inner>) {
        versioned_object whole = inner_.read_versioned(key);
        version = {.tag = std::move(whole.version), .size = whole.bytes.size()};
        return std::move(whole.bytes);
    } else {
        version = {};
        return inner_.read(key);
    }
}

template <storage Inner, cache_of<Inner> Cache>
std::optional<known_object> caching_reader<Inner, Cache>::to_cache(std::string_view key, bool may_ask) {
    if (!may_cache(key)) {
        return std::nullopt;
    }
    const std::optional<known_object> known = may_ask ? scout_.learn(key) : scout_.known().find(key);
    return known && is_to_cache(*known) ? known : std::nullopt;
}

template <storage Inner, cache_of<Inner> Cache>
std::optional<bool> caching_reader<Inner, Cache>::looks_near(std::string_view key) {
    if (!may_cache(key)) {
        return std::nullopt;
    }
    const std::optional<known_object> known = scout_.known().find(key);
    if (known && !is_to_cache(*known)) {
        return std::nullopt;
    }
    return known && is_near(key, *known);
}

template <storage Inner, cache_of<Inner> Cache>
std::optional<byte_buffer> caching_reader<Inner, Cache>::find_near(std::string_view key, const known_object& known,
                                                                   bool for_scan, object_version* version) {
    std::optional<byte_buffer> whole = find(key, known, for_scan);
    if (whole) {
        tell(version, {.tag = known.version, .size = known.size});
    } else if ((whole = fetches_.wait(key, known.version))) {
        tell(version, {.tag = {}, .size = whole->size()});  // perhaps of a newer version than the known one
    }
    return whole;
}

template <storage Inner, cache_of<Inner> Cache>
std::optional<byte_buffer> caching_reader<Inner, Cache>::find(std::string_view key, const known_object& known,
                                                              bool for_scan) {
    std::optional<byte_buffer> whole;
    if constexpr (keeps_scans) {
        whole = for_scan ? cache_.find_aside(identity(key, known)) : cache_.find(identity(key, known));
    } else {
        whole = cache_.find(identity(key, known));
    }
    if (whole && whole->size() != known.size) {
        cache_.drop(identity(key, known));  // without versions, the size alone shows that the object was replaced
        whole.reset();
    }
    return whole;
}

template <storage Inner, cache_of<Inner> Cache>
void caching_reader<Inner, Cache>::bring(const std::string& key) {
    if (const std::optional<known_object> known = to_cache(key, true)) {
        static_cast<void>(object(key, *known, fetch_table::by::ahead));
    }
}

template <storage Inner, cache_of<Inner> Cache>
void caching_reader<Inner, Cache>::keep_aside(std::string_view key, const known_object& known, byte_view bytes)
    requires scan_cache<Cache>
{
    if (bytes.size() == known.size) {
        cache_.keep_aside(identity(key, known), bytes);
    }
}

template <storage Inner, cache_of<Inner> Cache>
known_object caching_reader<Inner, Cache>::keep_aside(std::string_view key, const known_object& known, byte_view bytes,
                                                      const std::string& version, std::uint64_t state)
    requires scan_cache<Cache>
{
    known_object read{.size = bytes.size(), .version = version};
    if (read.version != known.version) {  // replaced since it was listed
        scout_.known().learn(key, read, state);
    }
    if (bytes.size() <= largest_) {
        cache_.keep_aside(identity(key, read), bytes);
    }
    return read;
}

template <storage Inner, cache_of<Inner> Cache>
void caching_reader<Inner, Cache>::confirm(const std::vector<std::pair<std::string, known_object>>& kept)
    requires entry_lister<Inner>
{
    std::vector<object_entry> window;
    for (const auto& [key, known] : kept) {
        if (window.empty() || key < window.front().key || key > window.back().key) {
            try {
                window = scout_.entries_from(key);
            } catch (const error&) {
                window.clear();
            }
        }
        const object_entry* const now = object_scout<Inner>::entry_of(window, key);
        if (now == nullptr || now->version != known.version) {
            cache_.drop(identity(key, known));
            forget(key);
        }
    }
}

template <storage Inner, cache_of<Inner> Cache>
void caching_reader<Inner, Cache>::forget(std::string_view key) {
    scout_.known().forget(key);
    drop(key);
}

template <storage Inner, cache_of<Inner> Cache>
void caching_reader<Inner, Cache>::forget() {
    scout_.forget();
    parts_.forget();
    fetches_.forget();
    cache_.clear();
}

template <storage Inner, cache_of<Inner> Cache>
void caching_reader<Inner, Cache>::pass(std::string_view key) {
    scout_.known().pass(key);
    drop(key);
}

template <storage Inner, cache_of<Inner> Cache>
void caching_reader<Inner, Cache>::drop(std::string_view key) {
    parts_.forget(key);
    fetches_.forget(key);
    cache_.forget(key);
}

template <storage Inner, cache_of<Inner> Cache>
void caching_reader<Inner, Cache>::tell(object_version* to, object_version version) {
    if (to != nullptr) {
        *to = std::move(version);
    }
}

template <storage Inner, cache_of<Inner> Cache>
byte_buffer caching_reader<Inner, Cache>::read_inner(std::string_view key, byte_range where,
                                                     object_version* version) const {
    if constexpr (versioned_batch_reader<Inner>) {
        if (version != nullptr) {
            std::optional<byte_buffer> part;
            const object_range wanted{key, where};
            inner_.read_ranges_versioned(
                {&wanted, 1}, [&](std::size_t, std::optional<byte_buffer> bytes, const object_version& of_part) {
                    part = std::move(bytes);
                    *version = of_part;
                });
            if (part) {
                return *std::move(part);
            }
        }
    }
    tell(version, {});
    return inner_.read(key, where);
}

template <storage Inner, cache_of<Inner> Cache>
std::optional<byte_buffer> caching_reader<Inner, Cache>::object(std::string_view key, const known_object& known,
                                                                fetch_table::by who, object_version* version) {
    tell(version, {.tag = known.version, .size = known.size});
    if (std::optional<byte_buffer> whole = find(key, known)) {
        return whole;
    }
    tell(version, {});  // another thread's fetch may bring another version
    fetched brought;
    const auto keep = [&](const byte_buffer& whole) {
        if (brought.version && whole.size() <= largest_) {
            cache_.keep({.place = place_, .key = key, .version = *brought.version}, whole);
        }
    };
    return fetches_.get(
        key, known.version, who,
        [&] {
            if (std::optional<byte_buffer> whole = find(key, known)) {  // cached by another thread meanwhile
                tell(version, {.tag = known.version, .size = known.size});
                return *std::move(whole);
            }
            brought = fetch(key, known);
            tell(version, {.tag = brought.version.value_or(""), .size = brought.whole.size()});
            if constexpr (Cache::needs_versions) {  // takes its time; whoever forgets the key, forgets its version
                keep(brought.whole);
                if constexpr (!versioned_reader<Inner>) {
                    confirm({{std::string{key}, known}});
                }
                brought.version.reset();
            }
            return std::move(brought.whole);
        },
        keep);
}

template <storage Inner, cache_of<Inner> Cache>
typename caching_reader<Inner, Cache>::fetched caching_reader<Inner, Cache>::fetch(std::string_view key,
                                                                                   const known_object& known) {
    const Inner& from = inner_;
    const std::uint64_t state = scout_.known().state();
    try {
        if constexpr (entry_lister<Inner> && versioned_reader<Inner>) {
            versioned_object object = from.read_versioned(key);
            if (object.version != known.version) {  // replaced since it was listed
                scout_.known().learn(key, {.size = object.bytes.size(), .version = object.version}, state);
            }
            return {.whole = std::move(object.bytes), .version = std::move(object.version)};
        } else {
            fetched brought{.whole = from.read(key)};
            if (brought.whole.size() == known.size) {
                brought.version = known.version;
            } else {
                scout_.known().forget(key);
            }
            return brought;
        }
    } catch (const not_found&) {
        scout_.known().forget(key);
        throw;
    }
}

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
