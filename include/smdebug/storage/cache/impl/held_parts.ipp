// The bodies of <smdebug/storage/cache/held_parts.hpp>.
#pragma once

#include <smdebug/storage/cache/held_parts.hpp>

#include <algorithm>
#include <utility>

namespace smdebug::inline v1::detail {

SMDEBUG_INLINE held_parts::promised held_parts::promise(std::string_view key, byte_range asked) {
    const std::lock_guard lock{guard_};
    std::vector<part_handle>& known = by_key_[std::string{key}];
    const auto same = std::find_if(known.begin(), known.end(), [&](const part_handle& one) {
        return one->asked_ == asked && (!one->over || one->bytes);
    });
    promised made{same != known.end() ? *same : std::make_shared<part>(key, asked), same == known.end()};
    if (made.fresh) {
        known.push_back(made.what);
    }
    ++made.what->holders;
    return made;
}

SMDEBUG_INLINE void held_parts::put(const part_handle& what, std::optional<byte_buffer> bytes, object_version version) {
    const std::lock_guard lock{guard_};
    what->over = true;
    if (const auto known = by_key_.find(what->key_);
        bytes && known != by_key_.end() && of_two(known->second, version)) {
        by_key_.erase(known);  // readers fetch the parts again, together
    } else if (bytes && what->holders > 0) {
        what->bytes = std::move(bytes);
        what->version = std::move(version);
    } else {
        erase(what);
    }
    over_.notify_all();
}

SMDEBUG_INLINE void held_parts::release(const part_handle& what) {
    const std::lock_guard lock{guard_};
    if (--what->holders == 0) {
        erase(what);
        if (what->over) {
            what->bytes.reset();
        }
    }
}

SMDEBUG_INLINE bool held_parts::is_held(const part_handle& what) const {
    const std::lock_guard lock{guard_};
    return what->holders > 0;
}

SMDEBUG_INLINE std::optional<byte_buffer> held_parts::find(std::string_view key, byte_range where,
                                                           object_version* version) const {
    std::unique_lock lock{guard_};
    while (const part_handle covering = look(key, where)) {
        if (covering->over) {
            if (version != nullptr) {
                *version = covering->version;
            }
            return covering->bytes->slice({where.offset - covering->asked_.offset, where.length});
        }
        over_.wait(lock, [&] { return covering->over; });
    }
    return std::nullopt;
}

SMDEBUG_INLINE bool held_parts::covers(std::string_view key, byte_range where) const {
    const std::lock_guard lock{guard_};
    return look(key, where) != nullptr;
}

SMDEBUG_INLINE void held_parts::forget(std::string_view key) {
    const std::lock_guard lock{guard_};
    if (const auto known = by_key_.find(key); known != by_key_.end()) {
        by_key_.erase(known);
    }
}

SMDEBUG_INLINE void held_parts::forget() {
    const std::lock_guard lock{guard_};
    by_key_.clear();
}

SMDEBUG_INLINE bool held_parts::covers(const part& one, byte_range where) noexcept {
    if (where.length == 0 || where.offset < one.asked_.offset || (one.over && !one.bytes)) {
        return false;
    }
    const std::uint64_t begin = where.offset - one.asked_.offset;
    const bool inside = begin <= one.asked_.length && where.length <= one.asked_.length - begin;
    if (!one.over) {
        return inside || (one.asked_.offset == 0 && where == whole_object);  // may be the whole object: worth the wait
    }
    const bool ended = one.bytes->size() < one.asked_.length;
    return begin < one.bytes->size() && (inside || ended);  // not from its end on: the object may have grown
}

SMDEBUG_INLINE held_parts::part_handle held_parts::look(std::string_view key, byte_range where) const {
    const auto known = by_key_.find(key);
    if (known == by_key_.end()) {
        return nullptr;
    }
    const auto covering = std::find_if(known->second.begin(), known->second.end(),
                                       [&](const part_handle& one) { return covers(*one, where); });
    return covering != known->second.end() ? *covering : nullptr;
}

SMDEBUG_INLINE bool held_parts::of_two(const std::vector<part_handle>& known, const object_version& version) {
    return std::any_of(known.begin(), known.end(),
                       [&](const part_handle& one) { return one->bytes && one->version.differs_from(version); });
}

SMDEBUG_INLINE void held_parts::erase(const part_handle& what) {
    if (const auto known = by_key_.find(what->key_); known != by_key_.end()) {
        std::erase(known->second, what);
        if (known->second.empty()) {
            by_key_.erase(known);
        }
    }
}

SMDEBUG_INLINE std::optional<byte_buffer> single_flight::wait(std::string_view key, std::string_view version) {
    std::unique_lock lock{guard_};
    const auto other = find(key, version);
    if (!other) {
        return std::nullopt;
    }
    over_.wait(lock, [&] { return other->over; });
    return other->bytes;
}

SMDEBUG_INLINE bool single_flight::is_under_way(std::string_view key, std::string_view version) const {
    const std::lock_guard lock{guard_};
    return find(key, version) != nullptr;
}

SMDEBUG_INLINE std::shared_ptr<single_flight::fetching> single_flight::find(std::string_view key,
                                                                            std::string_view version) const {
    const auto fetch = std::find_if(under_way_.begin(), under_way_.end(),
                                    [&](const auto& one) { return one->key == key && one->version == version; });
    return fetch != under_way_.end() ? *fetch : nullptr;
}

SMDEBUG_INLINE void single_flight::forget(std::string_view key) {
    forget_if([&](const fetching& one) { return one.key == key; });
}

SMDEBUG_INLINE void single_flight::forget() {
    forget_if([](const fetching&) { return true; });
}

SMDEBUG_INLINE void single_flight::forget_if(function_ref<bool(const fetching&)> which) {
    const std::lock_guard lock{guard_};
    std::erase_if(under_way_, [&](const std::shared_ptr<fetching>& one) {
        const bool gone = which(*one);
        one->forgotten = one->forgotten || gone;
        return gone;
    });
}

SMDEBUG_INLINE void single_flight::end(const std::shared_ptr<fetching>& mine) {
    std::erase(under_way_, mine);
    mine->over = true;
    over_.notify_all();
}

}  // namespace smdebug::inline v1::detail
