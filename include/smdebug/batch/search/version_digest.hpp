// A digest of a listing, made entry by entry.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/storage/concepts.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// 128 bits of what it was told, in that order.  Two lists share one by chance, once in 2^64 pairs or rarer.  No defence
/// against malice.
class version_digest {
public:
    void add(const object_entry& one);
    void add(std::string_view text);
    /// 32 hexadecimal digits.
    [[nodiscard]] std::string text() const;

private:
    std::uint64_t low_ = 0;
    std::uint64_t high_ = 1;
    std::string bytes_ = {};  // of one entry; used again
};

/// Whether a key is that of a file that says something about a run.
[[nodiscard]] bool is_file_of_run(std::string_view key) noexcept;

}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/batch/search/impl/version_digest.ipp>
#endif
