// A hook into a storage that can only be read.
// expect: 'writable_storage
#include <smdebug/hook/hook.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

struct storage_without_write {
    smdebug::byte_buffer read(std::string_view key, smdebug::byte_range where) const;
    std::vector<std::string> list(std::string_view prefix, std::string_view after) const;
    std::optional<std::uint64_t> size(std::string_view key) const;
    std::string name() const;
#ifdef CONTROL
    void write(std::string_view key, smdebug::byte_view bytes);
#endif
};

void use(smdebug::basic_hook<storage_without_write>& training) { training.end_step(); }
