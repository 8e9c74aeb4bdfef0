// A storage that does not say where it is.
// expect: 'storage
#include <smdebug/storage/concepts.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

struct no_name {
    smdebug::byte_buffer read(std::string_view key) const;
    smdebug::byte_buffer read(std::string_view key, smdebug::byte_range where) const;
    std::vector<std::string> list(std::string_view prefix, std::string_view after) const;
    std::optional<std::uint64_t> size(std::string_view key) const;
#ifdef CONTROL
    std::string name() const;
#endif
};

void open(const smdebug::storage auto& store);

void use(const no_name& store) { open(store); }
