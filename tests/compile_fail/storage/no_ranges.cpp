// A storage that reads whole objects only.
// expect: 'storage
#include <smdebug/storage/concepts.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

struct no_ranges {
#ifdef CONTROL
    smdebug::byte_buffer read(std::string_view key, smdebug::byte_range where) const;
#else
    smdebug::byte_buffer read(std::string_view key) const;
#endif
    std::vector<std::string> list(std::string_view prefix, std::string_view after) const;
    std::optional<std::uint64_t> size(std::string_view key) const;
    std::string name() const;
};

void open(const smdebug::storage auto& store);

void use(const no_ranges& store) { open(store); }
