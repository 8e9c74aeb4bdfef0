// An optional operation with another signature than its concept wants, which would be ignored.
// expect: view(key) of a storage is const
#include <smdebug/storage/any_storage.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

struct view_not_const {
    smdebug::byte_buffer read(std::string_view key, smdebug::byte_range where = smdebug::whole_object) const;
    std::vector<std::string> list(std::string_view prefix, std::string_view after) const;
    std::optional<std::uint64_t> size(std::string_view key) const;
    std::string name() const;
#ifdef CONTROL
    std::optional<smdebug::byte_buffer> view(std::string_view key) const;
#else
    std::optional<smdebug::byte_buffer> view(std::string_view key);
#endif
};

smdebug::any_storage erase(view_not_const store) { return smdebug::any_storage{store}; }
