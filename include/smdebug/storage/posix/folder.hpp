// Lists folders by POSIX calls: std::filesystem costs a stat and a path object per file.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/core/status.hpp>
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

namespace smdebug::inline v1::detail::posix {

/// Concatenates both in one allocation.
[[nodiscard]] std::string joined(std::string_view stem, std::string_view name);

/// Stands for the working directory in place of a folder's descriptor.
inline constexpr int working_folder = AT_FDCWD;

/// The identity of a folder, whatever its name.
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
        loose,       ///< a dangling link: it may become valid although its own folder does not change
        other,       ///< a pipe or device
        loose_other  ///< a link to one, which may also come to point to something else
    };
    std::string_view name;  ///< valid during the visit
    kind what = kind::other;
    folder_identity target = {};
};

/// Whether a dangling link may stand for a folder, by its name: hidden ones do not, nor those with the ending of a
/// file.
[[nodiscard]] bool may_name_folder(std::string_view name) noexcept;

/// A folder, open for reading its names, without those in subfolders.
class folder_reader {
public:
    /// Opens `name` below the folder `base`; nothing if there is no such folder. `path` is for messages.
    /// Errors: access_denied, unavailable.
    [[nodiscard]] static std::optional<folder_reader> open_if_there(int base, const std::string& name,
                                                                    std::string path);

    [[nodiscard]] int get() const noexcept { return ::dirfd(stream_.get()); }

    /// Nothing if the system does not report it.
    [[nodiscard]] std::optional<folder_identity> identity() const noexcept;

    /// Calls visit(entry) for each name, in no order. Call it only once.
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

    /// Appends the paths, relative to the root, of all regular files below root/folder, in no order. Links are
    /// followed, except to a folder that is listed anyway: circles end. A dangling link counts as a file, so that
    /// reading it fails visibly. Errors: access_denied for root/folder itself; unavailable.
    void list(const std::string& folder, std::vector<std::string>& keys);

    /// What list() passed over: folders below root/folder that may not be listed (damaged), and dangling links that may
    /// stand for folders (left_out).
    [[nodiscard]] const std::vector<problem>& passed_over() const noexcept { return passed_over_; }

private:
    void list_below(const std::string& folder, std::vector<std::string>& keys);
    void list_without_links(const std::string& folder, std::vector<std::string>& keys);

    std::string root_;
    std::set<folder_identity> listed_;
    std::map<std::string, folder_identity> links_;  // not yet followed, by path
    std::vector<problem> passed_over_;
};

}  // namespace smdebug::inline v1::detail::posix

#ifndef SMDEBUG_COMPILED
#include <smdebug/storage/posix/impl/folder.ipp>
#endif
