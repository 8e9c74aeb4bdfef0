// The bodies of <smdebug/storage/posix/buffered_output.hpp>.
#pragma once

#include <smdebug/storage/posix/buffered_output.hpp>
#include <smdebug/storage/posix/file.hpp>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace smdebug {
inline namespace v1 {
namespace detail {
namespace posix {

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
            fail_writing(path_, put == 0 ? ENOSPC : errno);
        }
    }
}

SMDEBUG_INLINE void buffered_output::make_room(std::uint64_t offset, std::uint64_t distance) {
    flush();
    const std::uint64_t end = written_;
    written_ = end + distance;
    std::vector<std::byte> block(
        static_cast<std::size_t>(std::min<std::uint64_t>(end - offset, std::uint64_t{4} << 20U)));
    const file written{file_.name()};
    // The last block first; what it leaves behind is overwritten by the one before.
    for (std::uint64_t at = end; at > offset;) {
        const std::size_t length = static_cast<std::size_t>(std::min<std::uint64_t>(at - offset, block.size()));
        at -= length;
        const std::span<std::byte> moved = std::span{block}.first(length);
        if (written.read_at(at, moved) != length) {
            fail_writing(path_, EIO);
        }
        overwrite(at + distance, moved);
    }
    if (::lseek(file_.handle(), static_cast<::off_t>(written_), SEEK_SET) < 0) {
        fail_writing(path_, errno);
    }
}

SMDEBUG_INLINE void buffered_output::finish(durability how) {
    flush();
    if (how == durability::on_disk) {
        file_.sync();
    }
    file_.take_its_place();
    if (how == durability::on_disk) {
        file_.sync_folders();
    }
}

}  // namespace posix
}  // namespace detail
}  // namespace v1
}  // namespace smdebug
