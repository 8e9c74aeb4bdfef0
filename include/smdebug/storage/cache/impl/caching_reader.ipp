// The bodies of <smdebug/storage/cache/caching_reader.hpp>.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/storage/cache/caching_reader.hpp>

namespace smdebug {
inline namespace v1 {
namespace detail {

SMDEBUG_INLINE bool is_written_once(std::string_view key) noexcept {
    const bool index_file = key.ends_with(".json") || key.ends_with(".csv");
    return key.ends_with(".tfevents") ||
           (index_file && (key.starts_with("index/") || key.find("/index/") != std::string_view::npos));
}

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
