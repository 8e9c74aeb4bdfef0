// The bodies of <smdebug/storage/cache/object_cache.hpp>.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/storage/batch_read.hpp>
#include <smdebug/storage/cache/object_cache.hpp>

#include <algorithm>

namespace smdebug::inline v1::detail {

/// The options, of which `cacheable` is never empty.
[[nodiscard]] inline cache_options with_predicate(cache_options options) {
    if (!options.cacheable) {
        options.cacheable = [](std::string_view) { return true; };
    }
    return options;
}

SMDEBUG_INLINE object_cache::object_cache(any_storage inner, cache_options options)
    : inner_(std::move(inner)),
      options_(with_predicate(std::move(options))),
      place_(inner_.name()),
      memory_(options_.memory_bytes),
      largest_(memory_.largest()),
      scout_(
          inner_, options_.cacheable ? options_.cacheable : [](std::string_view) { return true; }) {
    if (!options_.cacheable) {
        options_.cacheable = [](std::string_view) { return true; };
    }
    if (!options_.folder.empty()) {
        disk_.emplace(options_.folder, options_.folder_bytes);
        largest_ = std::max(largest_, disk_->largest());
    }
    largest_ = std::min(largest_, options_.largest_object);
}

// One object --------------------------------------------------------------------------------------------------------

SMDEBUG_INLINE byte_buffer object_cache::read(std::string_view key, byte_range where, object_version* version) {
    object_version unused;
    object_version& of_part = version != nullptr ? *version : unused;
    if (std::optional<byte_buffer> part = parts_.find(key, where, &of_part)) {
        return *std::move(part);
    }
    const known listed = to_cache(key, true);
    const std::optional<byte_buffer> whole =
        listed ? object(key, *listed, single_flight::by::reader, of_part) : std::nullopt;
    if (whole && where != whole_object && where.offset >= whole->size() && where.length > 0 &&
        scout_.has_changed(key, *listed)) {
        pass(key);  // it grows: from now on its parts are read, not the whole each time
        return read_inner(key, where, version);
    }
    return whole ? whole->slice(where) : read_inner(key, where, version);
}

SMDEBUG_INLINE std::optional<byte_buffer> object_cache::view(std::string_view key) {
    const known listed = to_cache(key, false);
    return listed ? find(key, *listed) : std::nullopt;
}

SMDEBUG_INLINE std::optional<bool> object_cache::looks_near(std::string_view key) {
    if (!may_cache(key)) {
        return std::nullopt;
    }
    const known listed = scout_.known().find(key);
    if (listed && !is_to_cache(*listed)) {
        return std::nullopt;
    }
    return listed && is_near(key, *listed);
}

SMDEBUG_INLINE void object_cache::prefetch(const std::string& key) {
    if (const known listed = to_cache(key, true)) {
        object_version unused;
        static_cast<void>(object(key, *listed, single_flight::by::ahead, unused));
    }
}

SMDEBUG_INLINE void object_cache::forget(std::string_view key) {
    scout_.known().forget(key);
    drop(key);
}

SMDEBUG_INLINE void object_cache::forget() {
    scout_.forget();
    parts_.forget();
    fetches_.forget();
    memory_.forget();
}

SMDEBUG_INLINE void object_cache::pass(std::string_view key) {
    scout_.known().pass(key);
    drop(key);
}

SMDEBUG_INLINE void object_cache::drop(std::string_view key) {
    parts_.forget(key);
    fetches_.forget(key);
    memory_.forget(key);  // versions distinguish the files on disk
}

SMDEBUG_INLINE object_cache::known object_cache::to_cache(std::string_view key, bool may_ask) {
    if (!may_cache(key)) {
        return std::nullopt;
    }
    known listed = may_ask ? scout_.learn(key) : scout_.known().find(key);
    return listed && is_to_cache(*listed) ? listed : std::nullopt;
}

SMDEBUG_INLINE bool object_cache::is_near(std::string_view key, const known_object& of) {
    return memory_.holds(identity(key, of)) || (disk_ && !of.version.empty() && disk_->holds(identity(key, of))) ||
           fetches_.is_under_way(key, of.version);
}

SMDEBUG_INLINE std::optional<byte_buffer> object_cache::find(std::string_view key, const known_object& of,
                                                             bool for_scan) {
    const object_identity what = identity(key, of);
    std::optional<byte_buffer> whole = memory_.find(what);
    if (!whole && disk_ && !of.version.empty()) {
        whole = disk_->find(what);
        if (whole && !for_scan) {
            memory_.keep(what, *whole);
        }
    }
    if (whole && whole->size() != of.size) {
        memory_.drop(what);  // without versions, the size alone shows that the object was replaced
        if (disk_) {
            disk_->drop(what);
        }
        whole.reset();
    }
    return whole;
}

SMDEBUG_INLINE std::optional<byte_buffer> object_cache::find_near(std::string_view key, const known_object& of,
                                                                  bool for_scan, object_version& version) {
    std::optional<byte_buffer> whole = find(key, of, for_scan);
    if (whole) {
        version = {.tag = of.version, .size = of.size};
    } else if ((whole = fetches_.wait(key, of.version))) {
        version = {.tag = {}, .size = whole->size()};  // perhaps of a newer version than the known one
    }
    return whole;
}

SMDEBUG_INLINE std::optional<byte_buffer> object_cache::object(std::string_view key, const known_object& of,
                                                               single_flight::by who, object_version& version) {
    version = {.tag = of.version, .size = of.size};
    if (std::optional<byte_buffer> whole = find(key, of)) {
        return whole;
    }
    version = {};  // another thread's fetch may bring another version
    std::optional<std::string> keep_as;
    return fetches_.get(
        key, of.version, who,
        [&] {
            if (std::optional<byte_buffer> whole = find(key, of)) {  // cached by another thread meanwhile
                version = {.tag = of.version, .size = of.size};
                return *std::move(whole);
            }
            auto [whole, brought] = fetch(key, of);
            version = {.tag = brought.value_or(""), .size = whole.size()};
            keep_as = whole.size() <= largest_ ? std::move(brought) : std::nullopt;
            if (disk_ && keep_as && !keep_as->empty()) {  // slow: before the others are let go on
                disk_->keep({.place = place_, .key = key, .version = *keep_as}, whole.view());
            }
            return std::move(whole);
        },
        [&](const byte_buffer& whole) {
            if (keep_as) {
                memory_.keep({.place = place_, .key = key, .version = *keep_as}, whole);
            }
        });
}

SMDEBUG_INLINE std::pair<byte_buffer, std::optional<std::string>> object_cache::fetch(std::string_view key,
                                                                                      const known_object& of) {
    const std::uint64_t state = scout_.known().state();
    try {
        versioned_object read = std::as_const(inner_).read_versioned(key);
        if (read.version.empty() && read.bytes.size() != of.size) {
            scout_.known().forget(key);
            return {std::move(read.bytes), std::nullopt};
        }
        if (read.version != of.version) {  // replaced since it was listed
            scout_.known().learn(key, {.size = read.bytes.size(), .version = read.version}, state);
        }
        return {std::move(read.bytes), std::move(read.version)};
    } catch (const not_found&) {
        scout_.known().forget(key);
        throw;
    }
}

SMDEBUG_INLINE byte_buffer object_cache::read_inner(std::string_view key, object_version& version) const {
    versioned_object whole = inner_.read_versioned(key);
    version = {.tag = std::move(whole.version), .size = whole.bytes.size()};
    return std::move(whole.bytes);
}

SMDEBUG_INLINE byte_buffer object_cache::read_inner(std::string_view key, byte_range where,
                                                    object_version* version) const {
    if (version != nullptr) {
        std::optional<byte_buffer> part;
        const object_range wanted{key, where};
        inner_.read_ranges({&wanted, 1},
                           [&](std::size_t, std::optional<byte_buffer> bytes, const object_version& of_part) {
                               part = std::move(bytes);
                               *version = of_part;
                           });
        if (part) {
            return *std::move(part);
        }
        *version = {};
    }
    return inner_.read(key, where);
}

// Many objects ------------------------------------------------------------------------------------------------------

// The number of bytes that take about as long as a round trip to a remote server.
inline constexpr std::uint64_t worth_a_request = std::uint64_t{1} << 20U;
inline constexpr std::uint64_t most_counted = std::uint64_t{1} << 40U;  // per range: the sum must not overflow

/// Delivers items in order, of which some are cached and others come from one batch call.
/// `far`: the ascending positions of the items that are not cached. call(take) must call take(i, what...) for each of
/// them, where i is an index into `far`; near(place) delivers a cached item, give(place, what...) one of the others.
/// All of them return false to end it.
/// Errors: what these throw. If `call` throws, all items before the failed one have been delivered.
template <class Near, class Give, class Call>
void in_order(std::size_t count, std::span<const std::size_t> far, Near&& near, Give&& give, Call&& call) {
    std::size_t next = 0;
    std::size_t come = 0;
    bool handing = false;
    bool goes_on = true;
    const auto near_before = [&](std::size_t end) {
        for (; goes_on && next < end; ++next) {
            goes_on = near(next);
        }
    };
    try {
        if (!far.empty()) {
            call([&](std::size_t i, auto&&... what) {
                handing = true;
                near_before(far[i]);
                if (goes_on) {
                    ++next;
                    come = i + 1;
                    goes_on = give(far[i], std::forward<decltype(what)>(what)...);
                }
                handing = false;
                return goes_on;
            });
        }
    } catch (...) {
        if (!handing && come < far.size()) {
            near_before(far[come]);
        }
        throw;
    }
    near_before(count);
}

/// One batch, and what it fetches for the folder.
struct object_cache::batch {
    explicit batch(object_cache& of) : cache(of), state(of.scout_.known().state()) {}
    batch(const batch&) = delete;
    batch& operator=(const batch&) = delete;

    // Errors of the listing leave the copies unconfirmed, and so dropped.
    ~batch() { confirm(); }

    /// Keeps an object that was read past the memory. Returns what is now known of it.
    known_object keep(std::string_view key, const known_object& of, byte_view bytes, const object_version& version) {
        if (!cache.disk_ || bytes.size() > cache.largest_) {
            return of;
        }
        if (version.tag.empty()) {
            if (!of.version.empty() && bytes.size() == of.size) {
                cache.disk_->keep(cache.identity(key, of), bytes);
                kept.emplace_back(key, of);
            }
            return of;
        }
        known_object read{.size = bytes.size(), .version = version.tag};
        if (read.version != of.version) {  // replaced since it was listed
            cache.scout_.known().learn(key, read, state);
        }
        cache.disk_->keep(cache.identity(key, read), bytes);
        return read;
    }

    /// Drops the copies of objects that were replaced since they were listed, as their bytes may be of another version.
    /// Cost: a listing for some thousand objects with neighbouring keys.
    void confirm() noexcept {
        std::vector<object_entry> window;
        for (const auto& [key, of] : kept) {
            if (window.empty() || key < window.front().key || key > window.back().key) {
                try {
                    window = cache.scout_.entries_from(key).value_or(std::vector<object_entry>{});
                } catch (const std::exception&) {
                    window.clear();
                }
            }
            const object_entry* const now = metadata_cache::entry_of(window, key);
            if (now == nullptr || now->version != of.version) {
                cache.disk_->drop(cache.identity(key, of));
                cache.forget(key);
            }
        }
        kept.clear();
    }

    /// Fetches whole those objects of which much is wanted.
    void bring_wholes(std::span<const object_range> ranges);

    /// Whether all ranges of the first one's object, up to the next object, are pinned. If one is not, all are read
    /// elsewhere, so that they are of one version.
    [[nodiscard]] bool holds_all(std::span<const object_range> ranges) const;

    // The cache may have dropped an object since: it is then read. Nothing if the storage does not have it.
    [[nodiscard]] std::optional<byte_buffer> whole_of(std::string_view key, const known& listed,
                                                      object_version& version);
    [[nodiscard]] std::optional<byte_buffer> cached_whole(std::string_view key, const known_object& of,
                                                          object_version& version);
    [[nodiscard]] std::optional<byte_buffer> part_of(const object_range& wanted, const known& listed,
                                                     object_version& version);

    object_cache& cache;
    std::uint64_t state;  // scout().known().state() when it began
    std::vector<std::pair<std::string, known_object>> kept;
};

SMDEBUG_INLINE void object_cache::read_each(std::span<const std::string> keys, object_sink sink) {
    batch one{*this};
    std::vector<known> listed(keys.size());
    std::vector<std::size_t> far;
    std::vector<std::string> asked;
    for (std::size_t i = 0; i < keys.size(); ++i) {
        if (parts_.covers(keys[i], whole_object)) {
            continue;
        }
        listed[i] = to_cache(keys[i], has_folder());
        if (!listed[i] || !is_near(keys[i], *listed[i])) {
            far.push_back(i);
        }
    }
    const bool is_all = far.size() == keys.size();
    for (const std::size_t place : is_all ? std::vector<std::size_t>{} : far) {
        asked.push_back(keys[place]);
    }
    in_order(
        keys.size(), far,
        [&](std::size_t place) {
            object_version version;
            const std::optional<byte_buffer> whole = one.whole_of(keys[place], listed[place], version);
            return sink(place, whole ? std::optional{whole->view()} : std::nullopt, version);
        },
        [&](std::size_t place, std::optional<byte_view> bytes, const object_version& version) {
            if (bytes && listed[place]) {
                one.keep(keys[place], *listed[place], *bytes, version);
            }
            return sink(place, bytes, version);
        },
        [&](auto&& take) {
            std::as_const(inner_).read_each(is_all ? keys : std::span<const std::string>{asked}, take);
        });
}

SMDEBUG_INLINE void object_cache::read_ranges(std::span<const object_range> ranges, range_sink sink) {
    batch one{*this};
    if (has_folder()) {
        one.bring_wholes(ranges);
    }
    std::vector<known> listed(ranges.size());
    std::vector<std::size_t> far;
    std::vector<object_range> asked;
    bool is_far = false;
    for (std::size_t i = 0; i < ranges.size(); ++i) {
        if (i > 0 && ranges[i].key == ranges[i - 1].key) {  // all ranges of an object come from one place
            listed[i] = listed[i - 1];
        } else {
            const bool is_held = one.holds_all(ranges.subspan(i));
            listed[i] = is_held ? std::nullopt : to_cache(ranges[i].key, false);
            is_far = !is_held && (!listed[i] || !is_near(ranges[i].key, *listed[i]));
        }
        if (is_far) {
            far.push_back(i);
            asked.push_back(ranges[i]);
        }
    }
    in_order(
        ranges.size(), far,
        [&](std::size_t place) {
            object_version version;
            std::optional<byte_buffer> bytes = one.part_of(ranges[place], listed[place], version);
            return sink(place, std::move(bytes), version);
        },
        [&](std::size_t place, std::optional<byte_buffer> bytes, const object_version& version) {
            return sink(place, std::move(bytes), version);
        },
        [&](auto&& take) { std::as_const(inner_).read_ranges(asked, take); });
}

SMDEBUG_INLINE void object_cache::bring(std::span<const object_range> parts, range_sink sink) {
    batch one{*this};
    std::vector<known> listed(parts.size());
    std::vector<std::size_t> far;
    std::vector<object_range> asked;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        listed[i] = to_cache(parts[i].key, has_folder());
        if (!listed[i] || !is_near(parts[i].key, *listed[i])) {
            far.push_back(i);
            asked.push_back(parts[i]);
        }
    }
    in_order(
        parts.size(), far,
        [&](std::size_t place) {
            object_version version;
            std::optional<byte_buffer> part;
            try {
                const auto whole = one.cached_whole(parts[place].key, *listed[place], version);
                part = whole ? std::optional{whole->slice(parts[place].where)} : std::nullopt;
            } catch (const error&) {
                part.reset();  // reading the part reports the error
            }
            return sink(place, std::move(part), version);
        },
        [&](std::size_t place, std::optional<byte_buffer> bytes, const object_version& version) {
            if (bytes && listed[place] && parts[place].where.offset == 0 &&
                bytes->size() == version.size.value_or(listed[place]->size)) {
                one.keep(parts[place].key, *listed[place], bytes->view(), version);
            }
            return sink(place, std::move(bytes), version);
        },
        [&](auto&& take) {
            read_ranges_past_errors(inner_, asked, take, [&](std::size_t i) {
                return take(i, std::optional<byte_buffer>{}, object_version{});
            });
        });
}

SMDEBUG_INLINE void object_cache::batch::bring_wholes(std::span<const object_range> ranges) {
    std::vector<std::string> keys;
    std::vector<known_object> listed;
    for (std::size_t i = 0; i < ranges.size();) {
        const std::string_view key = ranges[i].key;
        const bool is_held = holds_all(ranges.subspan(i));
        std::uint64_t asked = 0;
        for (; i < ranges.size() && ranges[i].key == key; ++i) {
            asked += std::min(ranges[i].where.length, most_counted);
        }
        const known of = is_held ? std::nullopt : cache.to_cache(key, true);
        if (of && (of->size <= worth_a_request || asked >= of->size / 4) && !cache.is_near(key, *of)) {
            keys.emplace_back(key);
            listed.push_back(*of);
        }
    }
    if (keys.empty()) {
        return;
    }
    try {
        std::as_const(cache.inner_)
            .read_each(keys, [&](std::size_t i, std::optional<byte_view> bytes, const object_version& version) {
                // If the folder is full, the parts are read from the inner storage.
                return !bytes || cache.is_near(keys[i], keep(keys[i], listed[i], *bytes, version));
            });
    } catch (const error&) {
        // Reading the parts throws the error again.
    }
    confirm();
}

SMDEBUG_INLINE bool object_cache::batch::holds_all(std::span<const object_range> ranges) const {
    for (const object_range& each : ranges) {
        if (each.key != ranges.front().key) {
            break;
        }
        if (!cache.parts_.covers(each.key, each.where)) {
            return false;
        }
    }
    return true;
}

SMDEBUG_INLINE std::optional<byte_buffer> object_cache::batch::whole_of(std::string_view key, const known& listed,
                                                                        object_version& version) {
    if (std::optional<byte_buffer> whole = cache.parts_.find(key, whole_object, &version)) {
        return whole;
    }
    if (listed) {
        return cached_whole(key, *listed, version);
    }
    try {
        return cache.read_inner(key, version);
    } catch (const not_found&) {
        return std::nullopt;
    }
}

SMDEBUG_INLINE std::optional<byte_buffer> object_cache::batch::cached_whole(std::string_view key,
                                                                            const known_object& of,
                                                                            object_version& version) {
    if (std::optional<byte_buffer> whole = cache.find_near(key, of, true, version)) {
        return whole;
    }
    try {
        byte_buffer read = cache.read_inner(key, version);
        keep(key, of, read.view(), version);  // the cached copy was damaged or dropped
        return read;
    } catch (const not_found&) {
        return std::nullopt;
    }
}

SMDEBUG_INLINE std::optional<byte_buffer> object_cache::batch::part_of(const object_range& wanted, const known& listed,
                                                                       object_version& version) {
    try {
        if (std::optional<byte_buffer> part = cache.parts_.find(wanted.key, wanted.where, &version)) {
            return part;
        }
        if (const std::optional<byte_buffer> whole =
                listed ? cache.find_near(wanted.key, *listed, false, version) : std::nullopt;
            whole && (wanted.where.offset < whole->size() || wanted.where.length == 0)) {
            return whole->slice(wanted.where);
        }
        // Not cached, or behind the end of the cached copy: read() checks whether the object has grown.
        return cache.read(wanted.key, wanted.where, &version);
    } catch (const not_found&) {
        return std::nullopt;
    }
}

}  // namespace smdebug::inline v1::detail
