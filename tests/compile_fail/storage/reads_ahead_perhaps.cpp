// A storage that perhaps knows whether reading ahead pays.
// expect: ahead_prober
#include <smdebug/storage/reading_ahead.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

struct reads_ahead_perhaps {
    smdebug::byte_buffer read(std::string_view key) const;
    smdebug::byte_buffer read(std::string_view key, smdebug::byte_range where) const;
    std::vector<std::string> list(std::string_view prefix, std::string_view after) const;
    std::optional<std::uint64_t> size(std::string_view key) const;
    std::string name() const;
#ifdef CONTROL
    bool reads_ahead() const;
#else
    std::optional<bool> reads_ahead() const;
#endif
};

void ask(const smdebug::ahead_prober auto& store);

void use(const reads_ahead_perhaps& store) { ask(store); }
