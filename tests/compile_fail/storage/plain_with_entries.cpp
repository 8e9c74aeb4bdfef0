// A storage that lists with versions, but does not derive from storage_base: that would never be called.
// expect: must derive from smdebug::storage_base
#include <smdebug/storage/any_storage.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

struct plain_with_entries {
    smdebug::byte_buffer read(std::string_view key, smdebug::byte_range where) const;
    std::vector<std::string> list(std::string_view prefix, std::string_view after) const;
    std::optional<std::uint64_t> size(std::string_view key) const;
    std::string name() const;
#ifndef CONTROL
    std::optional<std::vector<smdebug::object_entry>> entries(std::string_view prefix, std::string_view after,
                                                              std::size_t most) const;
#endif
};

smdebug::any_storage use(const plain_with_entries& store) { return store; }
