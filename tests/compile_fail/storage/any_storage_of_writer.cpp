// A storage chosen at run time, made of what can only be written.
// expect: 'storage
#include <smdebug/storage/any_storage.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

struct writes_only {
#ifdef CONTROL
    smdebug::byte_buffer read(std::string_view key) const;
    smdebug::byte_buffer read(std::string_view key, smdebug::byte_range where) const;
#endif
    std::vector<std::string> list(std::string_view prefix, std::string_view after) const;
    std::optional<std::uint64_t> size(std::string_view key) const;
    std::string name() const;
    void write(std::string_view key, smdebug::byte_view bytes);
};

smdebug::any_storage use(const writes_only& store) { return smdebug::any_storage{store}; }
