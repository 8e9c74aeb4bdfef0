// The bodies of <smdebug/storage/any_storage.hpp>.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/storage/any_storage.hpp>

namespace smdebug {
inline namespace v1 {

SMDEBUG_INLINE detail::any_follower any_storage::follow(std::string_view prefix) const {
    std::optional<detail::any_follower> follower = inner_->follow(prefix);
    return follower ? *std::move(follower) : detail::any_follower{listing{inner_, std::string{prefix}}};
}

SMDEBUG_INLINE std::vector<std::string> detail::some_keys(const any_storage& store, std::string_view prefix,
                                                          std::size_t most) {
    const auto entries = store.list_entries(prefix, "", most);
    if (!entries) {
        return store.list(prefix, "");
    }
    std::vector<std::string> keys;
    keys.reserve(entries->size());
    for (const object_entry& entry : *entries) {
        keys.push_back(entry.key);
    }
    return keys;
}

SMDEBUG_INLINE void any_storage::interface::refuse(const char* what, std::string_view key, const char* instead) const {
    throw unsupported(name() + " cannot " + what + " the object " + std::string{key} + ": " + instead,
                      {.where = std::string{key}});
}

static_assert(writable_storage<any_storage> && batch_reader<any_storage> && range_batch_reader<any_storage> &&
              versioned_batch_reader<any_storage> && place_prober<any_storage>);
static_assert(viewing_storage<any_storage> && prefetching_storage<any_storage> && holding_storage<any_storage>);
static_assert(detail::opening_storage<any_storage>);
static_assert(followable_storage<any_storage> && announcing_storage<any_storage> && dated_storage<any_storage>);
static_assert(appending_storage<any_storage> && removing_storage<any_storage> && claiming_storage<any_storage>);

}  // namespace v1
}  // namespace smdebug
