// The bodies of <smdebug/storage/any_storage.hpp> that are templates.
#pragma once

#include <smdebug/storage/any_storage.hpp>

namespace smdebug {
inline namespace v1 {

template <class Inner>
std::optional<byte_buffer> any_storage::model<Inner>::view([[maybe_unused]] std::string_view key) const {
    if constexpr (viewing_storage<Inner>) {
        return store.view(key);
    } else {
        return std::nullopt;
    }
}

template <class Inner>
bool any_storage::model<Inner>::read_ahead([[maybe_unused]] std::string_view key) const {
    if constexpr (prefetching_storage<Inner>) {
        return store.read_ahead(key);
    } else {
        return true;
    }
}

template <class Inner>
std::unique_ptr<held_objects> any_storage::model<Inner>::hold() const {
    if constexpr (holding_storage<Inner>) {
        return store.hold();
    } else {
        return nullptr;
    }
}

template <class Inner>
bool any_storage::model<Inner>::exists() const {
    if constexpr (place_prober<Inner>) {
        return store.exists();
    } else {
        return true;
    }
}

template <class Inner>
bool any_storage::model<Inner>::is_file() const {
    if constexpr (file_prober<Inner>) {
        return store.is_file();
    } else {
        return false;
    }
}

template <class Inner>
std::optional<any_follower> any_storage::model<Inner>::follow([[maybe_unused]] std::string_view prefix) const {
    if constexpr (followable_storage<Inner>) {
        return any_follower{store.follow(prefix)};
    } else {
        return std::nullopt;
    }
}

template <class Inner>
std::unique_ptr<change_signal> any_storage::model<Inner>::watch(
    [[maybe_unused]] std::span<const std::string> prefixes) const {
    if constexpr (announcing_storage<Inner>) {
        return store.watch(prefixes);
    } else {
        return nullptr;
    }
}

template <class Inner>
std::optional<std::chrono::system_clock::time_point> any_storage::model<Inner>::modified(
    [[maybe_unused]] std::string_view key) const {
    if constexpr (dated_storage<Inner>) {
        return store.modified(key);
    } else {
        return std::nullopt;
    }
}

}  // namespace v1
}  // namespace smdebug
