// A place to be written, made of a storage that can only be read.
// expect: object_writer
#include <smdebug/storage/any_place.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

struct reads_only {
    smdebug::byte_buffer read(std::string_view key) const;
    smdebug::byte_buffer read(std::string_view key, smdebug::byte_range where) const;
    std::vector<std::string> list(std::string_view prefix, std::string_view after) const;
    std::optional<std::uint64_t> size(std::string_view key) const;
    std::string name() const;
#ifdef CONTROL
    void write(std::string_view key, smdebug::byte_view bytes);
#endif
};

smdebug::any_place use(const reads_only& store) { return smdebug::any_place{store}; }
