// A storage whose keys would dangle: views where the concept wants strings.
// expect: 'storage
#include <smdebug/storage/concepts.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

struct list_of_views {
    smdebug::byte_buffer read(std::string_view key) const;
    smdebug::byte_buffer read(std::string_view key, smdebug::byte_range where) const;
#ifdef CONTROL
    std::vector<std::string> list(std::string_view prefix, std::string_view after) const;
#else
    std::vector<std::string_view> list(std::string_view prefix, std::string_view after) const;
#endif
    std::optional<std::uint64_t> size(std::string_view key) const;
    std::string name() const;
};

void open(const smdebug::storage auto& store);

void use(const list_of_views& store) { open(store); }
