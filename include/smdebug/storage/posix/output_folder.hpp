// A folder that appears whole or not at all: filled under another name beside its place, then renamed.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/core/function_ref.hpp>

#include <string>
#include <string_view>

namespace smdebug {
inline namespace v1 {
namespace detail {
namespace posix {

/// Whether something has that path: a file, a folder, a link to nothing.  Errors: access_denied, unavailable.
[[nodiscard]] bool is_there(const std::string& path);
/// Whether it is a folder, or a link to one.
[[nodiscard]] bool is_folder(const std::string& path);
/// The path without links, "." and ".."; as it is where there is no such thing.
[[nodiscard]] std::string real_path(const std::string& path);

/// Removes a folder with everything in it; links are removed, not followed.  What cannot be removed stays.
void remove_folder(const std::string& path) noexcept;

/// What an output of that path would take the place of.  Nothing is done where nothing is there, or an empty folder.
/// Errors: run_exists where something is there, unless `replace`, and then where it is no folder, or holds files of
///         which ours(key) does not hold: they are somebody's.
void check_output_folder(const std::string& path, bool replace, function_ref<bool(std::string_view)> ours);

/// Is removed, with what is in it, unless it took its place.
/// Errors: access_denied, unavailable (disk full, a folder on the way removed meanwhile), not_found.
class output_folder {
public:
    /// Makes the folders on the way, and the one with the temporary name.
    explicit output_folder(std::string path);
    output_folder(const output_folder&) = delete;
    output_folder& operator=(const output_folder&) = delete;
    ~output_folder();

    /// Where files are put until it takes its place, without a slash at the end.
    [[nodiscard]] const std::string& place() const noexcept { return place_; }

    /// Brings the files to the disk, and gives the folder its path.  An older folder there is removed, if `replace`;
    /// one that came meanwhile is an error: run_exists.
    /// Cost: waits for what the file system has not written yet, of others, too.
    void take_its_place(bool replace);

private:
    std::string path_;
    std::string place_;  // empty: nothing to remove
};

}  // namespace posix
}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/storage/posix/impl/output_folder.ipp>
#endif
