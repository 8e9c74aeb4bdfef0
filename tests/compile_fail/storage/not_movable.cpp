// A storage with a mutex as a member: it cannot be moved into a trial.
// expect: a storage can be moved
#include <smdebug/storage/any_storage.hpp>

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

struct not_movable {
    smdebug::byte_buffer read(std::string_view key, smdebug::byte_range where) const;
    std::vector<std::string> list(std::string_view prefix, std::string_view after) const;
    std::optional<std::uint64_t> size(std::string_view key) const;
    std::string name() const;
#ifndef CONTROL
    std::mutex mutex;
#endif
};

smdebug::any_storage use() { return not_movable{}; }
