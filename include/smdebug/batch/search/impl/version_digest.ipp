// The bodies of <smdebug/batch/search/version_digest.hpp>.
#pragma once

#include <smdebug/batch/search/version_digest.hpp>
#include <smdebug/core/bytes.hpp>
#include <smdebug/index/locations.hpp>
#include <smdebug/storage/cache/content_hash.hpp>

namespace smdebug {
inline namespace v1 {
namespace detail {

SMDEBUG_INLINE void version_digest::add(const object_entry& one) {
    // No key has a byte 0: each entry begins where the last one ends.
    bytes_.assign(one.key).append(1, '\0').append(std::to_string(one.size)).append(1, '\0').append(one.version);
    low_ = content_hash(as_bytes(bytes_), low_);
    high_ = content_hash(as_bytes(bytes_), high_);
}

SMDEBUG_INLINE void version_digest::add(std::string_view text) {
    low_ = content_hash(as_bytes(text), low_);
    high_ = content_hash(as_bytes(text), high_);
}

SMDEBUG_INLINE std::string version_digest::text() const {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string text;
    for (const std::uint64_t half : {high_, low_}) {
        for (unsigned shift = 64; shift != 0; shift -= 4) {
            text.push_back(digits[(half >> (shift - 4)) & 0xFU]);
        }
    }
    return text;
}

SMDEBUG_INLINE bool is_file_of_run(std::string_view key) noexcept {
    return key.starts_with(locations::collections_folder) || key.starts_with(locations::events_folder) ||
           key.starts_with(locations::index_folder) || key == locations::end_of_job ||
           (key.find('/') == std::string_view::npos && key.ends_with(".json"));
}

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
