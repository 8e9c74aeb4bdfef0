// The bodies of <smdebug/storage/cache/object_cache.hpp>.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/storage/batch_read.hpp>
#include <smdebug/storage/cache/object_cache.hpp>

#include <algorithm>
#include <limits>
#include <utility>

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
      name_(inner_.name()),
      memory_(options_.memory_bytes),
      largest_(memory_.largest()),
      crew_([this](const std::string& key) { prefetch(key); }, options_.threads_ahead, options_.most_ahead) {
    if (!options_.folder.empty()) {
        disk_.emplace(options_.folder, options_.folder_bytes);
        largest_ = std::max(largest_, disk_->largest());
    }
    largest_ = std::min(largest_, options_.largest_object);
}

// One object --------------------------------------------------------------------------------------------------------

SMDEBUG_INLINE byte_buffer object_cache::read(std::string_view key, byte_range where) {
    found part = cached_part(key, where);
    return part ? std::move(part->bytes) : std::as_const(inner_).read(key, where);
}

SMDEBUG_INLINE object_cache::found object_cache::cached_part(std::string_view key, byte_range where) {
    if (found part = flights_.find(key, where)) {
        return part;
    }
    const known listed = to_cache(key, true);
    found whole = listed ? object(key, *listed, in_flight::by::reader) : std::nullopt;
    if (whole && where != whole_object) {
        if (where.offset >= whole->bytes.size() && where.length > 0 && has_changed(key, *listed)) {
            pass(key);  // it grows: from now on its parts are read, not the whole each time
            return std::nullopt;
        }
        whole->bytes = whole->bytes.slice(where);
    }
    return whole;
}

SMDEBUG_INLINE object_cache::found object_cache::part_if_there(const object_range& wanted) {
    try {
        if (found part = cached_part(wanted.key, wanted.where)) {
            return part;
        }
        found read;
        std::as_const(inner_).read_ranges(
            {&wanted, 1}, [&](std::size_t, std::optional<byte_buffer> bytes, const object_version& version) {
                if (bytes) {
                    read = versioned_part{*std::move(bytes), version};
                }
            });
        return read;
    } catch (const not_found&) {
        return std::nullopt;
    }
}

SMDEBUG_INLINE std::optional<byte_buffer> object_cache::view(std::string_view key) {
    const known listed = to_cache(key, false);
    found whole = listed ? find(key, *listed) : std::nullopt;
    return whole ? std::optional{std::move(whole->bytes)} : std::nullopt;
}

SMDEBUG_INLINE std::optional<bool> object_cache::read_ahead(std::string_view key) {
    const known listed = known_.find(key);
    if (!may_cache(key) || (listed && !is_to_cache(*listed))) {
        return std::nullopt;
    }
    const bool near = listed && is_near(key, *listed);
    if (!near) {
        crew_.wish(key);
    }
    return near;
}

SMDEBUG_INLINE void object_cache::prefetch(std::string_view key) {
    if (const known listed = to_cache(key, true)) {
        static_cast<void>(object(key, *listed, in_flight::by::prefetch));
    }
}

SMDEBUG_INLINE bool object_cache::is_near(std::string_view key, const known_object& of) const {
    const object_identity what = identity(key, of.version);
    return memory_.holds(what) || (disk_ && !of.version.empty() && disk_->holds(what)) ||
           flights_.is_under_way(key, of.version);
}

SMDEBUG_INLINE object_cache::found object_cache::find(std::string_view key, const known_object& of, bool for_scan) {
    const object_identity what = identity(key, of.version);
    std::optional<byte_buffer> whole = memory_.find(what);
    if (!whole && disk_ && !of.version.empty()) {
        whole = disk_->find(what);
        if (whole && !for_scan) {
            memory_.keep(what, *whole);
        }
    }
    if (!whole) {
        return std::nullopt;
    }
    if (whole->size() != of.size) {
        memory_.drop(what);  // without versions, the size alone shows that the object was replaced
        if (disk_) {
            disk_->drop(what);
        }
        return std::nullopt;
    }
    return versioned_part{*std::move(whole), {.tag = of.version, .size = of.size}};
}

SMDEBUG_INLINE object_cache::found object_cache::object(std::string_view key, const known_object& of,
                                                        in_flight::by who) {
    if (found whole = find(key, of)) {
        return whole;
    }
    return flights_.get(
        key, of.version, who,
        [&] {
            found whole = find(key, of);  // cached by another thread meanwhile
            return whole ? *std::move(whole) : fetch(key, of);
        },
        [&](const versioned_part& whole) {
            if (whole.bytes.size() <= largest_) {
                memory_.keep(identity(key, whole.version.tag), whole.bytes);
            }
        });
}

SMDEBUG_INLINE versioned_part object_cache::fetch(std::string_view key, const known_object& of) {
    const std::uint64_t state = known_.state();
    try {
        versioned_part read = read_whole(key);
        const std::string& version = read.version.tag;
        if (version != of.version || read.bytes.size() != of.size) {  // replaced since it was listed
            known_.learn(key, {.size = read.bytes.size(), .version = version}, state);
        }
        if (disk_ && !version.empty() && read.bytes.size() <= largest_) {
            disk_->keep(identity(key, version), read.bytes.view());
        }
        return read;
    } catch (const not_found&) {
        known_.forget(key);
        throw;
    }
}

SMDEBUG_INLINE versioned_part object_cache::read_whole(std::string_view key) const {
    versioned_object read = inner_.read_versioned(key);
    const std::size_t size = read.bytes.size();
    return {std::move(read.bytes), {.tag = std::move(read.version), .size = size}};
}

// What is known of objects ------------------------------------------------------------------------------------------

SMDEBUG_INLINE std::vector<std::string> object_cache::list(std::string_view prefix, std::string_view after) {
    if (disk_) {  // versions cost no more than keys where a folder is worthwhile
        if (auto listed = entries(prefix, after, std::numeric_limits<std::size_t>::max())) {
            return keys_of(*std::move(listed));
        }
    }
    std::vector<std::string> keys = std::as_const(inner_).list(prefix, after);
    known_.doubt(keys);
    return keys;
}

SMDEBUG_INLINE std::optional<std::vector<object_entry>> object_cache::entries(std::string_view prefix,
                                                                              std::string_view after,
                                                                              std::size_t most) {
    const std::uint64_t state = known_.state();
    std::optional<std::vector<object_entry>> listed = std::as_const(inner_).entries(prefix, after, most);
    if (listed) {
        std::vector<object_entry> noted = *listed;
        std::erase_if(noted, [&](const object_entry& one) { return !options_.cacheable(one.key); });
        known_.learn(std::move(noted), state);
    }
    return listed;
}

SMDEBUG_INLINE object_cache::known object_cache::learn(std::string_view key) {
    if (known listed = known_.find(key)) {
        return listed;
    }
    const std::lock_guard asking{asking_};
    if (known listed = known_.find(key)) {
        return listed;
    }
    const std::uint64_t state = known_.state();
    try {
        if (const auto window = cannot_list_ ? std::nullopt : entries_from(key)) {
            const auto entry = std::find_if(window->begin(), window->end(),
                                            [&](const object_entry& one) { return one.key.compare(key) == 0; });
            return entry != window->end() ? known{{.size = entry->size, .version = entry->version}} : std::nullopt;
        }
    } catch (const access_denied&) {
        cannot_list_ = true;  // reading objects may be permitted where listing is not
    } catch (const error&) {
        return std::nullopt;
    }
    try {
        if (const std::optional<std::uint64_t> size = std::as_const(inner_).size(key)) {
            known_.learn(key, {.size = *size}, state);
            return known{{.size = *size}};
        }
    } catch (const error&) {
        // Reading the object throws the error again.
    }
    return std::nullopt;
}

SMDEBUG_INLINE std::optional<std::vector<object_entry>> object_cache::entries_from(std::string_view key) {
    constexpr std::size_t most = 1000;                               // as many as S3 lists at once
    constexpr int most_windows = 16;                                 // a faulty server may never end
    const std::string_view part = key.substr(0, key.find('/') + 1);  // npos + 1 is 0
    std::string after = key_before(key);
    for (int windows = 1;; ++windows) {
        std::optional<std::vector<object_entry>> window = entries(part, after, most);
        // By compare(): clang 14 does not find the operators.
        if (!window || window->size() < most || window->back().key.compare(key) >= 0 ||
            window->back().key.compare(after) <= 0 || windows == most_windows) {
            return window;
        }
        after = window->back().key;
    }
}

SMDEBUG_INLINE bool object_cache::has_changed(std::string_view key, const known_object& was) {
    known_.forget(key);
    const known now = learn(key);
    return !now || now->size != was.size || now->version != was.version;
}

SMDEBUG_INLINE object_cache::known object_cache::to_cache(std::string_view key, bool may_ask) {
    if (!may_cache(key)) {
        return std::nullopt;
    }
    known listed = may_ask ? learn(key) : known_.find(key);
    return listed && is_to_cache(*listed) ? listed : std::nullopt;
}

SMDEBUG_INLINE void object_cache::forget(std::string_view key) {
    known_.forget(key);
    drop(key);
}

SMDEBUG_INLINE void object_cache::forget() {
    cannot_list_ = false;
    known_.forget();
    flights_.forget();
    memory_.forget();
}

SMDEBUG_INLINE void object_cache::pass(std::string_view key) {
    known_.pass(key);
    drop(key);
}

SMDEBUG_INLINE void object_cache::drop(std::string_view key) {
    flights_.forget(key);
    memory_.forget(key);  // versions distinguish the files on disk
}

// Many objects ------------------------------------------------------------------------------------------------------

// The number of bytes that take about as long as a round trip to a remote server.
inline constexpr std::uint64_t worth_a_request = std::uint64_t{1} << 20U;
inline constexpr std::uint64_t most_counted = std::uint64_t{1} << 40U;  // per range: the sum must not overflow

/// Delivers items in order: the cached ones by near(i); the others, for which is_far(i) is true, come from one call, if
/// there are any. call(items, take) must call take(place among them, what...) for each of them, which calls
/// give(i, what...) to deliver it. take, near and give return false to end it.
/// Errors: what these throw. If `call` throws, all items before the failed one have been delivered.
template <class Item, class IsFar, class Near, class Give, class Call>
void in_order(std::span<const Item> items, IsFar&& is_far, Near&& near, Give&& give, Call&& call) {
    std::vector<std::size_t> far;
    for (std::size_t i = 0; i < items.size(); ++i) {
        if (is_far(i)) {
            far.push_back(i);
        }
    }
    std::vector<Item> asked;
    if (far.size() < items.size()) {
        for (const std::size_t i : far) {
            asked.push_back(items[i]);
        }
    }
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
            call(asked.empty() ? items : std::span<const Item>{asked}, [&](std::size_t i, auto&&... what) {
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
    near_before(items.size());
}

/// One batch, and what it fetches for the folder.
struct object_cache::batch {
    batch(object_cache& of, std::size_t count) : cache(of), state(of.known_.state()), listed(count) {}
    batch(const batch&) = delete;
    batch& operator=(const batch&) = delete;

    /// Drops the copies of objects that were replaced since they were listed, as their bytes may be of another version.
    /// Cost: a listing for some thousand objects with neighbouring keys. If that fails, they are dropped, too.
    ~batch() {
        cache.known_.doubt(unconfirmed);
        for (std::size_t i = 0; i < unconfirmed.size(); ++i) {
            const known now = cache.learn(unconfirmed[i]);
            if (!now || now->version != kept_as[i]) {
                cache.disk_->drop(cache.identity(unconfirmed[i], kept_as[i]));
                cache.forget(unconfirmed[i]);
            }
        }
    }

    /// Whether an item's object is to be read from the inner storage; notes what is known of it.
    [[nodiscard]] bool is_far(std::size_t i, std::string_view key, bool may_ask) {
        listed[i] = cache.to_cache(key, may_ask);
        return !listed[i] || !cache.is_near(key, *listed[i]);
    }

    /// Keeps an item's object in the folder, if it is to be cached: it was read past the memory.
    void keep(std::size_t i, std::string_view key, byte_view bytes, const std::string& version) {
        if (!listed[i] || !cache.disk_ || bytes.size() > cache.largest_) {
            return;
        }
        if (version.empty() && (listed[i]->version.empty() || bytes.size() != listed[i]->size)) {
            return;
        }
        if (version.empty()) {
            unconfirmed.emplace_back(key);
            kept_as.push_back(listed[i]->version);
        } else if (version != listed[i]->version) {  // replaced since it was listed
            cache.known_.learn(key, {.size = bytes.size(), .version = version}, state);
        }
        cache.disk_->keep(cache.identity(key, version.empty() ? kept_as.back() : version), bytes);
    }

    /// An item's whole object, or nothing. It was cached, but may have been dropped since: it is then read.
    [[nodiscard]] found whole_of(std::size_t i, std::string_view key) {
        if (listed[i]) {
            found whole = cache.find(key, *listed[i], true);
            if (whole || (whole = cache.flights_.wait(key, listed[i]->version))) {
                return whole;
            }
        }
        try {
            versioned_part read = cache.read_whole(key);
            keep(i, key, read.bytes.view(), read.version.tag);
            return read;
        } catch (const not_found&) {
            return std::nullopt;
        }
    }

    object_cache& cache;
    std::uint64_t state;        // of known_ when it began
    std::vector<known> listed;  // of each item: nothing if it is not to be cached
    std::vector<std::string> unconfirmed;
    std::vector<std::string> kept_as;  // their versions
};

SMDEBUG_INLINE void object_cache::read_each(std::span<const std::string> keys, object_sink sink) {
    batch one{*this, keys.size()};
    in_order(
        keys,
        [&](std::size_t i) { return !flights_.covers(keys[i], whole_object) && one.is_far(i, keys[i], bool{disk_}); },
        [&](std::size_t i) {
            found whole = flights_.find(keys[i], whole_object);
            whole = whole ? std::move(whole) : one.whole_of(i, keys[i]);
            return whole ? sink(i, whole->bytes.view(), whole->version) : sink(i, std::nullopt, {});
        },
        [&](std::size_t i, std::optional<byte_view> bytes, const object_version& version) {
            if (bytes) {
                one.keep(i, keys[i], *bytes, version.tag);
            }
            return sink(i, bytes, version);
        },
        [&](std::span<const std::string> asked, object_sink take) { std::as_const(inner_).read_each(asked, take); });
}

SMDEBUG_INLINE void object_cache::read_ranges(std::span<const object_range> ranges, range_sink sink) {
    if (disk_) {
        fetch_wholes(ranges);
    }
    batch one{*this, ranges.size()};
    bool is_far = false;
    in_order(
        ranges,
        [&](std::size_t i) {
            if (i == 0 || ranges[i].key != ranges[i - 1].key) {  // all ranges of an object come from one place
                is_far = !holds_all(ranges.subspan(i)) && one.is_far(i, ranges[i].key, false);
            }
            return is_far;
        },
        [&](std::size_t i) {
            found part = part_if_there(ranges[i]);
            return part ? sink(i, std::move(part->bytes), part->version) : sink(i, std::nullopt, {});
        },
        [&](std::size_t i, std::optional<byte_buffer> bytes, const object_version& version) {
            return sink(i, std::move(bytes), version);
        },
        [&](std::span<const object_range> asked, range_sink take) { std::as_const(inner_).read_ranges(asked, take); });
}

SMDEBUG_INLINE void object_cache::fetch_parts(std::span<const object_range> parts, range_sink sink) {
    batch one{*this, parts.size()};
    in_order(
        parts, [&](std::size_t i) { return one.is_far(i, parts[i].key, bool{disk_}); },
        [&](std::size_t i) {
            found whole;
            try {
                whole = one.whole_of(i, parts[i].key);
            } catch (const error&) {
                // Reading the part reports the error.
            }
            return whole ? sink(i, whole->bytes.slice(parts[i].where), whole->version) : sink(i, std::nullopt, {});
        },
        [&](std::size_t i, std::optional<byte_buffer> bytes, const object_version& version) {
            if (bytes && one.listed[i] && parts[i].where.offset == 0 &&
                bytes->size() == version.size.value_or(one.listed[i]->size)) {
                one.keep(i, parts[i].key, bytes->view(), version.tag);
            }
            return sink(i, std::move(bytes), version);
        },
        [&](std::span<const object_range> asked, range_sink take) {
            read_ranges_past_errors(inner_, asked, take, [&](std::size_t i) {
                return take(i, std::optional<byte_buffer>{}, object_version{});
            });
        });
}

SMDEBUG_INLINE void object_cache::fetch_wholes(std::span<const object_range> ranges) {
    std::vector<std::string> keys;
    for (std::size_t i = 0; i < ranges.size();) {
        const std::string_view key = ranges[i].key;
        const bool is_held = holds_all(ranges.subspan(i));
        std::uint64_t asked = 0;
        for (; i < ranges.size() && ranges[i].key == key; ++i) {
            asked += std::min(ranges[i].where.length, most_counted);
        }
        const known of = is_held ? std::nullopt : to_cache(key, true);
        if (of && (of->size <= worth_a_request || asked >= of->size / 4) && !is_near(key, *of)) {
            keys.emplace_back(key);
        }
    }
    try {
        read_each(keys, [&](std::size_t i, std::optional<byte_view> bytes, const object_version&) {
            const known of = to_cache(keys[i], false);
            return !bytes || (of && is_near(keys[i], *of));  // if the folder is full, the parts are read
        });
    } catch (const error&) {
        // Reading the parts throws the error again.
    }
}

SMDEBUG_INLINE bool object_cache::holds_all(std::span<const object_range> ranges) const {
    const auto end = std::find_if(ranges.begin(), ranges.end(),
                                  [&](const object_range& each) { return each.key != ranges.front().key; });
    return std::all_of(ranges.begin(), end,
                       [&](const object_range& each) { return flights_.covers(each.key, each.where); });
}

}  // namespace smdebug::inline v1::detail
