// A hook by its out_dir alone, into a storage that cannot be made of a text.
// expect: named_storage
#include <smdebug/hook/hook.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

struct nameless {
#ifdef CONTROL
    explicit nameless(std::string place);
#else
    nameless();
#endif
    smdebug::byte_buffer read(std::string_view key) const;
    smdebug::byte_buffer read(std::string_view key, smdebug::byte_range where) const;
    std::vector<std::string> list(std::string_view prefix, std::string_view after) const;
    std::optional<std::uint64_t> size(std::string_view key) const;
    std::string name() const;
    void write(std::string_view key, smdebug::byte_view bytes);
};

void use(const smdebug::hook_options& options) { smdebug::basic_hook<nameless> training{options}; }
