// A storage that cannot list.
// expect: 'storage
#include <smdebug/storage/concepts.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

struct no_list {
    smdebug::byte_buffer read(std::string_view key, smdebug::byte_range where) const;
#ifdef CONTROL
    std::vector<std::string> list(std::string_view prefix, std::string_view after) const;
#endif
    std::optional<std::uint64_t> size(std::string_view key) const;
    std::string name() const;
};

void open(const smdebug::storage auto& store);

void use(const no_list& store) { open(store); }
