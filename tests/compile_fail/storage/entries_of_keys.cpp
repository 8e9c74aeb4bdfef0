// A lister with versions that gives the keys alone.
// expect: versioned_storage
#include <smdebug/storage/concepts.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

struct entries_of_keys {
    smdebug::byte_buffer read(std::string_view key) const;
    smdebug::byte_buffer read(std::string_view key, smdebug::byte_range where) const;
    std::vector<std::string> list(std::string_view prefix, std::string_view after) const;
    std::optional<std::uint64_t> size(std::string_view key) const;
    std::string name() const;
    smdebug::versioned_object read_versioned(std::string_view key) const;
#ifdef CONTROL
    std::vector<smdebug::object_entry> entries(std::string_view prefix, std::string_view after, std::size_t most) const;
#else
    std::vector<std::string> entries(std::string_view prefix, std::string_view after, std::size_t most) const;
#endif
};

void list_all(const smdebug::versioned_storage auto& store);

void use(const entries_of_keys& store) { list_all(store); }
