// The bodies of <smdebug/hook/local_place.hpp>.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/hook/local_place.hpp>
#include <smdebug/storage/uri.hpp>

#include <cstdlib>

namespace smdebug {
inline namespace v1 {
namespace detail {

SMDEBUG_INLINE std::string local_place_of(std::string_view out_dir) {
    const std::string_view path = local_path(out_dir);
    if (const uri_kind kind = smdebug::kind_of(path); kind != uri_kind::directory) {
        throw unsupported("this hook cannot write to " + std::string{out_dir} +
                              (kind == uri_kind::s3 ? ": it writes to folders; smdebug::hook writes to S3, too"
                                                    : ": that is the name of an archive; give the path of a folder"),
                          {.where = std::string{out_dir}});
    }
    const char* const home = std::getenv("HOME");
    const bool is_at_home = path == "~" || path.starts_with("~/");
    return is_at_home && home != nullptr ? std::string{home}.append(path.substr(1)) : std::string{path};
}

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
