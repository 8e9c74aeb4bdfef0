// A storage whose modification time has no value for a missing object.
// expect: dated_storage
#include <smdebug/storage/concepts.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

struct modified_without_absence {
    smdebug::byte_buffer read(std::string_view key) const;
    smdebug::byte_buffer read(std::string_view key, smdebug::byte_range where) const;
    std::vector<std::string> list(std::string_view prefix, std::string_view after) const;
    std::optional<std::uint64_t> size(std::string_view key) const;
    std::string name() const;
#ifdef CONTROL
    std::optional<std::chrono::system_clock::time_point> modified(std::string_view key) const;
#else
    std::chrono::system_clock::time_point modified(std::string_view key) const;
#endif
};

void date(const smdebug::dated_storage auto& store);

void use(const modified_without_absence& store) { date(store); }
