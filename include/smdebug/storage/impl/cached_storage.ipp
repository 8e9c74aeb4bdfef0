// The bodies of <smdebug/storage/cached_storage.hpp>.
#pragma once

#include <smdebug/storage/cache/prefetch.hpp>
#include <smdebug/storage/cached_storage.hpp>

#include <limits>
#include <utility>

namespace smdebug::inline v1 {

namespace detail {

/// Forgets the cached copy of an object on destruction, whether or not the change to it succeeded.
class forgetting {
public:
    forgetting(object_cache& cache, std::string_view changed) : cache_(cache), key_(changed) {}
    forgetting(const forgetting&) = delete;
    forgetting& operator=(const forgetting&) = delete;
    ~forgetting() { cache_.forget(key_); }

private:
    object_cache& cache_;
    std::string_view key_;
};

/// An object being written into a cached storage, whose cache it keeps alive.
class cached_output final : public object_output {
public:
    cached_output(std::shared_ptr<object_cache> cache, std::string_view key)
        : cache_(std::move(cache)), key_(key), inner_(cache_->inner().create(key_)) {}

    void append(std::span<const byte_view> pieces) override { inner_->append(pieces); }
    void commit(durability how) override {
        const forgetting changed{*cache_, key_};
        inner_->commit(how);
    }

private:
    std::shared_ptr<object_cache> cache_;
    std::string key_;
    std::unique_ptr<object_output> inner_;
};

}  // namespace detail

struct cached_storage::state {
    state(any_storage inner, cache_options options)
        : objects(std::make_shared<detail::object_cache>(std::move(inner), std::move(options))),
          crew([this](const std::string& key) { objects->prefetch(key); }, objects->options().threads_ahead,
               objects->options().most_ahead) {}

    std::shared_ptr<detail::object_cache> objects;
    detail::fetch_crew crew;  // destroyed first
};

SMDEBUG_INLINE cached_storage::cached_storage(any_storage inner, cache_options options)
    : state_(std::make_shared<state>(std::move(inner), std::move(options))) {}

SMDEBUG_INLINE const any_storage& cached_storage::inner() const noexcept {
    return std::as_const(*state_->objects).inner();
}

SMDEBUG_INLINE storage_abilities cached_storage::abilities() const {
    storage_abilities can = inner().abilities();
    can.reads_ahead = state_->objects->options().threads_ahead > 0;
    can.opens_small = false;
    return can;
}

SMDEBUG_INLINE byte_buffer cached_storage::read(std::string_view key, byte_range where) const {
    return state_->objects->read(key, where);
}

SMDEBUG_INLINE void cached_storage::read_each(std::span<const std::string> keys, object_sink sink) const {
    state_->objects->read_each(keys, sink);
}

SMDEBUG_INLINE void cached_storage::read_ranges(std::span<const object_range> ranges, range_sink sink) const {
    state_->objects->read_ranges(ranges, sink);
}

SMDEBUG_INLINE versioned_object cached_storage::read_versioned(std::string_view key) const {
    return inner().read_versioned(key);
}

SMDEBUG_INLINE std::optional<byte_buffer> cached_storage::view(std::string_view key) const {
    std::optional<byte_buffer> whole = state_->objects->view(key);
    return whole ? whole : inner().view(key);
}

SMDEBUG_INLINE bool cached_storage::read_ahead(std::string_view key) const {
    const std::optional<bool> near = state_->objects->looks_near(key);
    if (near && !*near) {
        state_->crew.wish(key);
    }
    return near ? *near : inner().read_ahead(key);
}

SMDEBUG_INLINE std::unique_ptr<pinned_ranges> cached_storage::hold() const {
    return std::make_unique<detail::object_holder>(state_->objects);
}

SMDEBUG_INLINE std::vector<std::string> cached_storage::list(std::string_view prefix, std::string_view after) const {
    if (state_->objects->has_folder()) {  // versions cost no more than keys where a folder is worthwhile
        if (auto found = entries(prefix, after, std::numeric_limits<std::size_t>::max())) {
            return detail::keys_of(*std::move(found));
        }
    }
    std::vector<std::string> keys = inner().list(prefix, after);
    state_->objects->scout().known().doubt(keys);
    return keys;
}

SMDEBUG_INLINE std::optional<std::vector<object_entry>> cached_storage::entries(std::string_view prefix,
                                                                                std::string_view after,
                                                                                std::size_t most) const {
    detail::metadata_cache& scout = state_->objects->scout();
    const std::uint64_t before = scout.known().state();
    std::optional<std::vector<object_entry>> found = inner().entries(prefix, after, most);
    if (found) {
        scout.note(*found, before);
    }
    return found;
}

SMDEBUG_INLINE void cached_storage::write(std::string_view key, byte_view bytes) {
    const detail::forgetting changed{*state_->objects, key};
    state_->objects->inner().write(key, bytes);
}

SMDEBUG_INLINE std::unique_ptr<object_output> cached_storage::create(std::string_view key) {
    return std::make_unique<detail::cached_output>(state_->objects, key);
}

SMDEBUG_INLINE bool cached_storage::remove(std::string_view key, durability how) {
    const detail::forgetting changed{*state_->objects, key};
    return state_->objects->inner().remove(key, how);
}

SMDEBUG_INLINE std::vector<std::string> cached_storage::remove_unfinished(std::string_view prefix,
                                                                          function_ref<bool(std::string_view)> which) {
    return state_->objects->inner().remove_unfinished(prefix, which);
}

SMDEBUG_INLINE std::unique_ptr<object_claim> cached_storage::claim(std::string_view key, durability how) {
    state_->objects->pass(key);
    return state_->objects->inner().claim(key, how);
}

SMDEBUG_INLINE void cached_storage::forget(std::string_view key) const { state_->objects->forget(key); }
SMDEBUG_INLINE void cached_storage::forget() const { state_->objects->forget(); }

}  // namespace smdebug::inline v1
