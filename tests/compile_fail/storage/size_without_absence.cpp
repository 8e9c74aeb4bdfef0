// A storage that cannot say that an object is missing.
// expect: 'storage
#include <smdebug/storage/concepts.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

struct size_without_absence {
    smdebug::byte_buffer read(std::string_view key, smdebug::byte_range where) const;
    std::vector<std::string> list(std::string_view prefix, std::string_view after) const;
#ifdef CONTROL
    std::optional<std::uint64_t> size(std::string_view key) const;
#else
    std::uint64_t size(std::string_view key) const;
#endif
    std::string name() const;
};

void open(const smdebug::storage auto& store);

void use(const size_without_absence& store) { open(store); }
