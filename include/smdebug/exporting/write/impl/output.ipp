// The bodies of <smdebug/exporting/write/output.hpp>.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/exporting/write/output.hpp>
#include <smdebug/storage/posix/file.hpp>
#include <smdebug/storage/posix/folder.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <span>
#include <system_error>

namespace smdebug::inline v1::detail {

SMDEBUG_INLINE void buffered_output::append(byte_view piece) {
    if (piece.size() >= small) {
        put(piece);
        return;
    }
    pending_.insert(pending_.end(), piece.begin(), piece.end());
    if (pending_.size() >= 4 * small) {
        flush();
    }
}

SMDEBUG_INLINE void buffered_output::put(byte_view piece) {
    const std::array pieces{byte_view{pending_}, piece};
    file_.append(pieces);
    written_ += pending_.size() + piece.size();
    pending_.clear();
}

SMDEBUG_INLINE void buffered_output::overwrite(std::uint64_t offset, byte_view bytes) {
    if (offset >= written_) {
        std::copy(bytes.begin(), bytes.end(), pending_.begin() + static_cast<std::ptrdiff_t>(offset - written_));
        return;
    }
    flush();
    while (!bytes.empty()) {
        const ::ssize_t put = ::pwrite(file_.handle(), bytes.data(), bytes.size(), static_cast<::off_t>(offset));
        if (put > 0) {
            bytes = bytes.subspan(static_cast<std::size_t>(put));
            offset += static_cast<std::uint64_t>(put);
        } else if (put == 0 || errno != EINTR) {
            posix::fail_writing(path_, put == 0 ? ENOSPC : errno);
        }
    }
}

SMDEBUG_INLINE void buffered_output::make_room(std::uint64_t offset, std::uint64_t distance) {
    flush();
    const std::uint64_t end = written_;
    written_ = end + distance;
    std::vector<std::byte> block(
        static_cast<std::size_t>(std::min<std::uint64_t>(end - offset, std::uint64_t{4} << 20U)));
    const posix::file written{file_.name()};
    // Last block first, so that each move overwrites only bytes already moved.
    for (std::uint64_t at = end; at > offset;) {
        const std::size_t length = static_cast<std::size_t>(std::min<std::uint64_t>(at - offset, block.size()));
        at -= length;
        const std::span<std::byte> moved = std::span{block}.first(length);
        if (written.read_at(at, moved) != length) {
            posix::fail_writing(path_, EIO);
        }
        overwrite(at + distance, moved);
    }
    if (::lseek(file_.handle(), static_cast<::off_t>(written_), SEEK_SET) < 0) {
        posix::fail_writing(path_, errno);
    }
}

SMDEBUG_INLINE void buffered_output::finish(durability how) {
    flush();
    file_.commit(how);
}

SMDEBUG_INLINE bool is_there(const std::string& path) {
    std::error_code why;
    const auto what = std::filesystem::symlink_status(path, why).type();
    if (what == std::filesystem::file_type::none && !posix::means_missing(why.value())) {
        posix::fail("cannot look at", path, why.value());
    }
    return what != std::filesystem::file_type::none && what != std::filesystem::file_type::not_found;
}

SMDEBUG_INLINE void check_output_folder(const std::string& path, bool replace,
                                        function_ref<bool(std::string_view)> ours) {
    const auto refuse = [&](const std::string& why) { throw run_exists(path + why, {.where = path}); };
    if (!is_there(path)) {
        return;
    }
    if (std::error_code none; !std::filesystem::is_directory(path, none)) {
        refuse(" is there already, and no folder");
    }
    std::vector<std::string> keys;
    posix::file_lister{path}.list("", keys);
    if (!keys.empty() && !replace) {
        refuse(" is there already, and not empty: name another output, or ask for it to be replaced");
    }
    for (const std::string& key : keys) {
        if (!ours(key)) {
            refuse(" is not replaced: " + key + " in it is not what an export of this kind writes");
        }
    }
}

SMDEBUG_INLINE output_folder::output_folder(std::string path) : path_(std::move(path)) {
    while (path_.size() > 1 && path_.ends_with('/')) {
        path_.pop_back();
    }
    std::error_code why;
    if (std::string real = std::filesystem::canonical(path_, why).string(); !why) {
        path_ = std::move(real);
    }
    posix::make_folders_above(path_);
    constexpr int most_numbers = 1000;
    const std::string stem = path_ + std::string{posix::temporary_mark} + std::to_string(posix::process_number()) + ".";
    std::string name;
    for (int number = 0; !std::filesystem::create_directory(name = stem + std::to_string(number), why); ++number) {
        if ((why && why != std::errc::file_exists) || number == most_numbers) {
            posix::fail_writing(path_, why.value(), "cannot make the folder");
        }
    }
    place_ = std::move(name);
}

SMDEBUG_INLINE output_folder::~output_folder() {
    if (!place_.empty()) {
        std::error_code none;  // what cannot be removed stays
        std::filesystem::remove_all(place_, none);
    }
}

SMDEBUG_INLINE void output_folder::take_its_place(bool replace) {
    const auto made = posix::open_folder(place_);
    if (!made) {
        posix::fail_writing(path_, ENOENT);
    }
    while (::syncfs(made->get()) != 0) {
        if (errno != EINTR) {
            posix::fail_writing(path_, errno);
        }
    }
    // The rename replaces an empty folder.
    if (std::rename(place_.c_str(), path_.c_str()) == 0) {
        place_.clear();
    } else if (errno != EEXIST && errno != ENOTEMPTY) {
        posix::fail_writing(path_, errno);
    } else if (!replace) {
        throw run_exists(path_ + " is there already, and not empty: it came meanwhile", {.where = path_});
    } else if (::renameat2(AT_FDCWD, place_.c_str(), AT_FDCWD, path_.c_str(), RENAME_EXCHANGE) != 0) {
        const std::string older = place_ + ".older";  // not every file system can exchange names
        if (std::rename(path_.c_str(), older.c_str()) != 0) {
            posix::fail_writing(path_, errno);
        }
        if (std::rename(place_.c_str(), path_.c_str()) != 0) {
            const int code = errno;
            static_cast<void>(std::rename(older.c_str(), path_.c_str()));
            posix::fail_writing(path_, code);
        }
        place_ = older;
    }
    posix::sync_folder_of(path_);
}

}  // namespace smdebug::inline v1::detail
