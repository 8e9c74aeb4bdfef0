// A storage that can only be read, where one is wanted that can be written.
// expect: 'writable_storage
#include <smdebug/storage/concepts.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

struct no_write {
    smdebug::byte_buffer read(std::string_view key, smdebug::byte_range where) const;
    std::vector<std::string> list(std::string_view prefix, std::string_view after) const;
    std::optional<std::uint64_t> size(std::string_view key) const;
    std::string name() const;
#ifdef CONTROL
    void write(std::string_view key, smdebug::byte_view bytes);
#endif
};

void save(smdebug::writable_storage auto& store);

void use(no_write& store) { save(store); }
