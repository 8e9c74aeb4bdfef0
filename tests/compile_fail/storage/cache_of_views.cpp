// A cache that gives bytes without keeping them alive.
// expect: object_cache
#include <smdebug/storage/cache/memory_cache.hpp>
#include <smdebug/storage/cached_storage.hpp>
#include <smdebug/storage/memory_storage.hpp>

#include <cstdint>
#include <optional>
#include <string_view>

struct cache_of_views {
    static constexpr bool needs_versions = false;
#ifdef CONTROL
    std::optional<smdebug::byte_buffer> find(const smdebug::object_identity& what);
#else
    std::optional<smdebug::byte_view> find(const smdebug::object_identity& what);
#endif
    bool holds(const smdebug::object_identity& what);
    void keep(const smdebug::object_identity& what, const smdebug::byte_buffer& bytes);
    void drop(const smdebug::object_identity& what);
    void forget(std::string_view key);
    void clear();
    std::uint64_t largest() const;
};

void use(const smdebug::cached_storage<smdebug::memory_storage, cache_of_views>& store) {
    static_cast<void>(store.name());
}
