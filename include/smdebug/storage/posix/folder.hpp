// Listing folders by POSIX calls: std::filesystem costs a stat a file and a path object each.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/storage/posix/file.hpp>

#include <dirent.h>
#include <fcntl.h>

#include <cerrno>
#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace detail {
namespace posix {

/// One behind the other, in one allocation.
[[nodiscard]] std::string joined(std::string_view stem, std::string_view name);

/// Stands for the working directory where a folder's descriptor is asked for.
inline constexpr int working_folder = AT_FDCWD;

/// Which folder it is, whatever its name.
struct folder_identity {
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
    friend auto operator<=>(const folder_identity&, const folder_identity&) = default;
};

/// One name in a folder.
struct folder_entry {
    enum class kind : std::uint8_t {
        file,        ///< a regular file, or a link to one
        folder,      ///< a folder itself
        link,        ///< a link to the folder `target`
        loose,       ///< a link to nothing: it may come to lead to something although its own folder stays as it is
        other,       ///< a pipe or device
        loose_other  ///< a link to one, which may come to lead to something else, too
    };
    std::string_view name;  ///< borrowed, for the visit
    kind what = kind::other;
    folder_identity target = {};
};

/// A folder, open to read what is in it, without what is in the folders below.
class folder_reader {
public:
    /// Opens `name` below the folder `base`; nothing when there is no such folder.  `path` is for messages.
    /// Errors: access_denied, unavailable.
    [[nodiscard]] static std::optional<folder_reader> open_if_there(int base, const std::string& name,
                                                                    std::string path);

    [[nodiscard]] int get() const noexcept { return ::dirfd(stream_.get()); }

    /// Nothing when the system does not tell.
    [[nodiscard]] std::optional<folder_identity> identity() const noexcept;

    /// Calls visit(entry) for each name, in no order.  Once only.
    template <class Visit>
    void each(Visit&& visit) {
        for (errno = 0; const ::dirent* entry = ::readdir(stream_.get()); errno = 0) {
            folder_entry seen{.name = static_cast<const char*>(entry->d_name)};
            if (seen.name != "." && seen.name != "..") {
                classify(*entry, seen);
                visit(std::as_const(seen));
            }
        }
        if (errno != 0) {
            fail("cannot list the folder", path_, errno);
        }
    }

private:
    struct closer {
        void operator()(DIR* stream) const noexcept { ::closedir(stream); }
    };

    explicit folder_reader(std::string path) : path_(std::move(path)) {}

    void classify(const ::dirent& entry, folder_entry& seen) const noexcept;

    std::string path_;
    std::unique_ptr<DIR, closer> stream_;
};

/// Lists the regular files below a folder.
class file_lister {
public:
    explicit file_lister(std::string root) : root_(std::move(root)) {}

    /// Appends the paths, relative to the root, of all regular files below root/folder; in no order.  Links are
    /// followed, but not to a folder that is listed anyway: circles end.  A link to nothing counts as a file, so that it is
    /// missed when it is read, and not passed over.
    void list(const std::string& folder, std::vector<std::string>& keys);

private:
    void list_without_links(const std::string& folder, std::vector<std::string>& keys);

    std::string root_;
    std::set<folder_identity> listed_;
    std::map<std::string, folder_identity> links_;  // not yet followed, by path
};

}  // namespace posix
}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/storage/posix/impl/folder.ipp>
#endif
