// A cache on disk over a storage that lists no versions: it could give bytes of another run.
// expect: cache_of<
#include <smdebug/storage/cache/disk_cache.hpp>
#include <smdebug/storage/cached_storage.hpp>
#include <smdebug/storage/concepts.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

struct disk_cache_without_versions {
    smdebug::byte_buffer read(std::string_view key) const;
    smdebug::byte_buffer read(std::string_view key, smdebug::byte_range where) const;
    std::vector<std::string> list(std::string_view prefix, std::string_view after) const;
    std::optional<std::uint64_t> size(std::string_view key) const;
    std::string name() const;
#ifdef CONTROL
    std::vector<smdebug::object_entry> entries(std::string_view prefix, std::string_view after, std::size_t most) const;
    smdebug::versioned_object read_versioned(std::string_view key) const;
#else
    // no entries()
#endif
};

void use(const smdebug::cached_storage<disk_cache_without_versions, smdebug::disk_cache>& store) {
    static_cast<void>(store.name());
}
