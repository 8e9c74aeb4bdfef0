// A storage whose size() is not const: const calls may run on many threads.
// expect: 'storage
#include <smdebug/storage/concepts.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

struct size_not_const {
    smdebug::byte_buffer read(std::string_view key, smdebug::byte_range where) const;
    std::vector<std::string> list(std::string_view prefix, std::string_view after) const;
#ifdef CONTROL
    std::optional<std::uint64_t> size(std::string_view key) const;
#else
    std::optional<std::uint64_t> size(std::string_view key);
#endif
    std::string name() const;
};

void open(const smdebug::storage auto& store);

void use(const size_not_const& store) { open(store); }
