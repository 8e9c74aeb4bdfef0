// The bodies of <smdebug/storage/any_storage.hpp>.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/storage/any_storage.hpp>

namespace smdebug::inline v1 {

SMDEBUG_INLINE detail::any_follower any_storage::follow(std::string_view prefix) const {
    std::optional<detail::any_follower> follower = inner_->follow(prefix);
    return follower ? *std::move(follower) : detail::any_follower{listing{inner_, std::string{prefix}}};
}

SMDEBUG_INLINE std::vector<problem> any_storage::problems() const {
    std::vector<problem> all = inner_->problems();
    if (noted_) {
        all.insert(all.end(), noted_->begin(), noted_->end());
    }
    return all;
}

SMDEBUG_INLINE any_storage any_storage::with_problems(std::vector<problem> more) const {
    any_storage noted = *this;
    if (noted_) {
        more.insert(more.begin(), noted_->begin(), noted_->end());
    }
    noted.noted_ = std::make_shared<const std::vector<problem>>(std::move(more));
    return noted;
}

SMDEBUG_INLINE any_storage any_storage::with_source(std::shared_ptr<const detail::source_maker> source) const {
    any_storage other = *this;
    other.source_ = std::move(source);
    return other;
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

namespace detail {

[[noreturn]] inline void refuse(const std::string& store, const char* what, std::string_view key, const char* instead) {
    throw unsupported(store + " cannot " + what + " the object " + std::string{key} + ": " + instead,
                      {.where = std::string{key}});
}

inline constexpr const char* is_read_only = "it is opened for reading only; choose a storage that has write()";
inline constexpr const char* has_no_claims = "make sure that one process at a time writes, or choose another place";

}  // namespace detail

SMDEBUG_INLINE void any_storage::interface::write(std::string_view key, byte_view /*bytes*/) {
    detail::refuse(name(), "write", key, detail::is_read_only);
}
SMDEBUG_INLINE detail::any_output any_storage::interface::create(std::string_view key) {
    detail::refuse(name(), "write", key, detail::is_read_only);
}
SMDEBUG_INLINE bool any_storage::interface::remove(std::string_view key, durability /*how*/) {
    detail::refuse(name(), "remove", key, "remove it by other means, or choose another place");
}
SMDEBUG_INLINE std::vector<std::string> any_storage::interface::remove_unfinished(
    std::string_view /*prefix*/, function_ref<bool(std::string_view)> /*which*/) {
    return {};
}
SMDEBUG_INLINE detail::any_claim any_storage::interface::claim(std::string_view key, durability /*how*/) {
    detail::refuse(name(), "hold for one writer alone", key, detail::has_no_claims);
}
SMDEBUG_INLINE bool any_storage::interface::claimed(std::string_view key) const {
    detail::refuse(name(), "identify the holder of", key, detail::has_no_claims);
}

static_assert(writable_storage<any_storage> && batch_reader<any_storage> && range_batch_reader<any_storage> &&
              place_prober<any_storage>);
static_assert(viewing_storage<any_storage> && prefetching_storage<any_storage> && holding_storage<any_storage>);
static_assert(opening_storage<any_storage>);
static_assert(followable_storage<any_storage> && announcing_storage<any_storage> && dated_storage<any_storage>);
static_assert(appending_storage<any_storage> && removing_storage<any_storage> && claiming_storage<any_storage>);

}  // namespace smdebug::inline v1
