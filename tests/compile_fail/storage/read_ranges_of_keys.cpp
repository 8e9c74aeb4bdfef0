// A batch reader of ranges that takes the keys alone.
// expect: range_batch_reader
#include <smdebug/storage/concepts.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

struct read_ranges_of_keys {
    smdebug::byte_buffer read(std::string_view key) const;
    smdebug::byte_buffer read(std::string_view key, smdebug::byte_range where) const;
    std::vector<std::string> list(std::string_view prefix, std::string_view after) const;
    std::optional<std::uint64_t> size(std::string_view key) const;
    std::string name() const;
#ifdef CONTROL
    void read_ranges(std::span<const smdebug::object_range> ranges, smdebug::range_sink sink) const;
#else
    void read_ranges(std::span<const std::string> keys, smdebug::range_sink sink) const;
#endif
};

void read_parts(const smdebug::range_batch_reader auto& store);

void use(const read_ranges_of_keys& store) { read_parts(store); }
