// A storage whose word on views needs a storage that can be changed.
// expect: view_prober
#include <smdebug/storage/concepts.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

struct views_not_const {
    smdebug::byte_buffer read(std::string_view key) const;
    smdebug::byte_buffer read(std::string_view key, smdebug::byte_range where) const;
    std::vector<std::string> list(std::string_view prefix, std::string_view after) const;
    std::optional<std::uint64_t> size(std::string_view key) const;
    std::string name() const;
#ifdef CONTROL
    bool views() const;
#else
    bool views();
#endif
};

void look(const smdebug::view_prober auto& store);

void use(const views_not_const& store) { look(store); }
