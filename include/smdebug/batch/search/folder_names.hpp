// What a folder of this machine has that a search for runs is interested in.
#pragma once

#include <smdebug/batch/search/found_place.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/storage/concepts.hpp>
#include <smdebug/storage/posix/folder.hpp>

#include <optional>
#include <string>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace detail {

struct folder_names {
    struct child {
        std::string name;
        bool is_folder = false;
        std::optional<posix::folder_identity> target = {};  ///< of a link to a folder
    };
    std::vector<child> children = {};  ///< folders, and files that are archives by their names; sorted.  Of a run: none
    std::optional<posix::folder_identity> self = {};
    left_out_files others = {};  ///< of a run: none
    bool has_data = false;       ///< one of them is a log or a checkpoint
    bool is_run = false;         ///< it has two of collections, events and index, or one with a group of steps in it
};

/// Nothing where there is no such folder.  Errors: access_denied, unavailable.
/// Cost: a listing of it, and of "index" or the like where that is all that it has of a run.
[[nodiscard]] std::optional<folder_names> names_in(const std::string& folder);

/// Whether there is a folder of that name, or something that may be one and cannot be opened.
[[nodiscard]] bool may_be_folder(const std::string& path) noexcept;

/// Whether there is a file of that name.
[[nodiscard]] bool is_regular_file(const std::string& path) noexcept;

/// What entries() of a storage in `folder` says of one file, without listing the folder; nothing where it is not there.
/// Errors: access_denied, unavailable.
[[nodiscard]] std::optional<object_entry> file_entry_of(const std::string& folder, const std::string& name);

}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/batch/search/impl/folder_names.ipp>
#endif
