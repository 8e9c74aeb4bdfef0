// A storage that reads into a vector of its own instead of a byte_buffer.
// expect: 'storage
#include <smdebug/storage/concepts.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

struct read_gives_vector {
#ifdef CONTROL
    smdebug::byte_buffer read(std::string_view key) const;
#else
    std::vector<std::byte> read(std::string_view key) const;
#endif
    smdebug::byte_buffer read(std::string_view key, smdebug::byte_range where) const;
    std::vector<std::string> list(std::string_view prefix, std::string_view after) const;
    std::optional<std::uint64_t> size(std::string_view key) const;
    std::string name() const;
};

void open(const smdebug::storage auto& store);

void use(const read_gives_vector& store) { open(store); }
