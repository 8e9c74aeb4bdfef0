// A storage that perhaps knows whether claims hold.
// expect: claim_prober
#include <smdebug/storage/concepts.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

struct claims_perhaps {
    smdebug::byte_buffer read(std::string_view key) const;
    smdebug::byte_buffer read(std::string_view key, smdebug::byte_range where) const;
    std::vector<std::string> list(std::string_view prefix, std::string_view after) const;
    std::optional<std::uint64_t> size(std::string_view key) const;
    std::string name() const;
#ifdef CONTROL
    bool claims() const;
#else
    std::optional<bool> claims() const;
#endif
};

void ask(const smdebug::claim_prober auto& store);

void use(const claims_perhaps& store) { ask(store); }
