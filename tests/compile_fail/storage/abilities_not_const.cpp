// A storage whose abilities() is not const.
// expect: abilities() of a storage is const and gives storage_abilities
#include <smdebug/storage/storage_base.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

struct abilities_not_const {
    smdebug::byte_buffer read(std::string_view key) const;
    smdebug::byte_buffer read(std::string_view key, smdebug::byte_range where) const;
    std::vector<std::string> list(std::string_view prefix, std::string_view after) const;
    std::optional<std::uint64_t> size(std::string_view key) const;
    std::string name() const;
#ifdef CONTROL
    smdebug::storage_abilities abilities() const;
#else
    smdebug::storage_abilities abilities();
#endif
};

bool use(const abilities_not_const& store) { return smdebug::abilities_of(store).views; }
