// A batch reader that takes a vector of views where the caller has strings.
// expect: batch_reader
#include <smdebug/storage/concepts.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

struct read_each_of_views {
    smdebug::byte_buffer read(std::string_view key) const;
    smdebug::byte_buffer read(std::string_view key, smdebug::byte_range where) const;
    std::vector<std::string> list(std::string_view prefix, std::string_view after) const;
    std::optional<std::uint64_t> size(std::string_view key) const;
    std::string name() const;
#ifdef CONTROL
    void read_each(std::span<const std::string> keys, smdebug::object_sink sink) const;
#else
    void read_each(const std::vector<std::string_view>& keys, smdebug::object_sink sink) const;
#endif
};

void read_all(const smdebug::batch_reader auto& store);

void use(const read_each_of_views& store) { read_all(store); }
