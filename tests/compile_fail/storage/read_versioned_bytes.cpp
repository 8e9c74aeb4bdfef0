// A reader of versions that gives the bytes alone.
// expect: versioned_storage
#include <smdebug/storage/concepts.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

struct read_versioned_bytes {
    smdebug::byte_buffer read(std::string_view key) const;
    smdebug::byte_buffer read(std::string_view key, smdebug::byte_range where) const;
    std::vector<std::string> list(std::string_view prefix, std::string_view after) const;
    std::optional<std::uint64_t> size(std::string_view key) const;
    std::string name() const;
    std::vector<smdebug::object_entry> entries(std::string_view prefix, std::string_view after, std::size_t most) const;
#ifdef CONTROL
    smdebug::versioned_object read_versioned(std::string_view key) const;
#else
    smdebug::byte_buffer read_versioned(std::string_view key) const;
#endif
};

void ask(const smdebug::versioned_storage auto& store);

void use(const read_versioned_bytes& store) { ask(store); }
