// The bodies of <smdebug/storage/cache/fetch_table.hpp>.
#pragma once

#include <smdebug/storage/cache/fetch_table.hpp>

#include <algorithm>

namespace smdebug {
inline namespace v1 {
namespace detail {

SMDEBUG_INLINE std::optional<byte_buffer> fetch_table::wait(std::string_view key, std::string_view version) {
    std::unique_lock lock{guard_};
    const auto other = find(key, version);
    if (!other) {
        return std::nullopt;
    }
    over_.wait(lock, [&] { return other->over; });
    return other->bytes;
}

SMDEBUG_INLINE bool fetch_table::is_under_way(std::string_view key, std::string_view version) const {
    const std::lock_guard lock{guard_};
    return find(key, version) != nullptr;
}

SMDEBUG_INLINE std::shared_ptr<fetch_table::fetching> fetch_table::find(std::string_view key,
                                                                        std::string_view version) const {
    const auto fetch = std::find_if(under_way_.begin(), under_way_.end(),
                                    [&](const auto& one) { return one->key == key && one->version == version; });
    return fetch != under_way_.end() ? *fetch : nullptr;
}

SMDEBUG_INLINE void fetch_table::forget(std::string_view key) {
    forget_if([&](const fetching& one) { return one.key == key; });
}

SMDEBUG_INLINE void fetch_table::forget() {
    forget_if([](const fetching&) { return true; });
}

SMDEBUG_INLINE void fetch_table::forget_if(function_ref<bool(const fetching&)> which) {
    const std::lock_guard lock{guard_};
    std::erase_if(under_way_, [&](const std::shared_ptr<fetching>& one) {
        const bool gone = which(*one);
        one->forgotten = one->forgotten || gone;
        return gone;
    });
}

SMDEBUG_INLINE void fetch_table::end(const std::shared_ptr<fetching>& mine) {
    std::erase(under_way_, mine);
    mine->over = true;
    over_.notify_all();
}

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
