// A storage with a mutex as a member: it cannot be moved into a trial.
// expect: movable
#include <smdebug/storage/concepts.hpp>

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

class not_movable {
public:
    smdebug::byte_buffer read(std::string_view key) const;
    smdebug::byte_buffer read(std::string_view key, smdebug::byte_range where) const;
    std::vector<std::string> list(std::string_view prefix, std::string_view after) const;
    std::optional<std::uint64_t> size(std::string_view key) const;
    std::string name() const;

#ifndef CONTROL
private:
    std::mutex mutex_;
#endif
};

void open(const smdebug::storage auto& store);

void use(const not_movable& store) { open(store); }
