// A storage whose write() returns whether it succeeded: callers would not look.
// expect: 'writable_storage
#include <smdebug/storage/concepts.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

struct write_tells {
    smdebug::byte_buffer read(std::string_view key, smdebug::byte_range where) const;
    std::vector<std::string> list(std::string_view prefix, std::string_view after) const;
    std::optional<std::uint64_t> size(std::string_view key) const;
    std::string name() const;
#ifdef CONTROL
    void write(std::string_view key, smdebug::byte_view bytes);
#else
    bool write(std::string_view key, smdebug::byte_view bytes);
#endif
};

void save(smdebug::writable_storage auto& store);

void use(write_tells& store) { save(store); }
