// The bodies of <smdebug/batch/run_version.hpp>.
#pragma once

#include <smdebug/batch/run_version.hpp>
#include <smdebug/batch/search/folder_names.hpp>
#include <smdebug/batch/search/version_digest.hpp>
#include <smdebug/storage/any_storage.hpp>
#include <smdebug/storage/uri.hpp>

#include <vector>

namespace smdebug {
inline namespace v1 {

SMDEBUG_INLINE std::optional<run_files> run_version_at(std::string_view path, const storage_options& options) {
    const std::optional<detail::archive_path> archived = detail::archive_in(path);
    if (!archived) {
        return run_version(detail::open_place(path, options.s3));
    }
    std::optional<object_entry> file;
    if (detail::is_in_s3(archived->folder)) {
        // The first key that begins so is this one, if it is there.
        const auto first = detail::open_place(archived->folder, options.s3).list_entries(archived->key, "", 1);
        if (first && !first->empty() && first->front().key == archived->key) {
            file = first->front();
        }
    } else {
        file = detail::file_entry_of(archived->folder, archived->key);
    }
    if (!file) {
        return std::nullopt;
    }
    detail::version_digest digest;
    digest.add(*file);
    digest.add(archived->inside);
    return run_files{.version = digest.text(), .bytes = file->size, .files = 1};
}

}  // namespace v1
}  // namespace smdebug
