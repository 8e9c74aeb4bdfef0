// The bodies of <smdebug/formats/data_file.hpp>.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/formats/data_file.hpp>
#include <smdebug/storage/local_storage.hpp>
#include <smdebug/storage/uri.hpp>

namespace smdebug {
inline namespace v1 {
namespace detail {

SMDEBUG_INLINE std::optional<data_file> data_file_in(std::string_view path) {
    if (!is_data_file(path) || path.find("!/") != std::string_view::npos) {
        return std::nullopt;
    }
    const bool far = is_in_s3(path);
    const std::string whole = far ? std::string{path} : local_path(path);
    const std::size_t slash = whole.rfind('/');
    data_file file{.folder = slash == std::string::npos ? "." : whole.substr(0, slash), .key = whole.substr(slash + 1)};
    file.folder = file.folder.empty() ? "/" : file.folder;
    if (!far && !local_storage{file.folder}.size(file.key)) {
        return std::nullopt;  // a folder of that name, or nothing
    }
    return file;
}

SMDEBUG_INLINE byte_buffer single_object::read(std::string_view key, byte_range where) const {
    if (key != key_) {
        throw not_found("there is no " + std::string{key} + " in " + name(), {.where = std::string{key}});
    }
    return where.length == UINT64_MAX && where.offset == 0 ? store_.read(key) : store_.read(key, where);
}

SMDEBUG_INLINE std::vector<std::string> single_object::list(std::string_view prefix, std::string_view after) const {
    if (!key_.starts_with(prefix) || key_ <= after || !exists()) {
        return {};
    }
    return {key_};
}

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
