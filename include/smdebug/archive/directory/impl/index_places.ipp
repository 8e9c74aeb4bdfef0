// The bodies of <smdebug/archive/directory/index_places.hpp>.
#pragma once

#include <smdebug/archive/directory/index_places.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/storage/cache/content_hash.hpp>
#include <smdebug/storage/posix/file.hpp>
#include <smdebug/storage/posix/output.hpp>
#include <smdebug/storage/uri.hpp>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <optional>
#include <span>
#include <utility>

namespace smdebug {
inline namespace v1 {
namespace archive {
namespace detail {

/// A file that stays open: another one that takes its place changes nothing here.
class open_file final : public byte_source {
public:
    open_file(smdebug::detail::posix::file file, std::string path) : file_(std::move(file)), path_(std::move(path)) {}

    [[nodiscard]] byte_buffer read(byte_range where) const override {
        const std::uint64_t begin = std::min(where.offset, file_.size());
        const auto length = static_cast<std::size_t>(std::min(where.length, file_.size() - begin));
        const std::shared_ptr<std::byte[]> block = std::make_shared_for_overwrite<std::byte[]>(length);
        const std::size_t count = file_.read_at(begin, {block.get(), length});
        return byte_buffer{block, byte_view{block.get(), count}};
    }
    [[nodiscard]] std::uint64_t size() const override { return file_.size(); }
    [[nodiscard]] std::string name() const override { return path_; }

private:
    smdebug::detail::posix::file file_;
    std::string path_;
};

/// The name of an index in a folder of many.
[[nodiscard]] inline std::string index_name(const std::string& archive) {
    // A relative path is another archive in another folder.
    const std::string whole =
        archive.find("://") == std::string::npos ? smdebug::detail::posix::absolute_path(archive) : archive;
    std::string name;
    for (const std::uint64_t seed : {0U, 1U}) {
        std::uint64_t hash = smdebug::detail::content_hash(as_bytes(whole), seed);
        for (int i = 0; i < 16; ++i, hash >>= 4U) {
            name += "0123456789abcdef"[hash & 15U];
        }
    }
    return name.append(index_extension);
}

SMDEBUG_INLINE index_places::index_places(std::shared_ptr<const byte_source> archive, const std::string& folder)
    : archive_(std::move(archive)) {
    if (folder.empty()) {
        return;
    }
    try {
        path_ = smdebug::detail::posix::absolute_path(smdebug::detail::local_path(folder)) + "/" +
                index_name(archive_->name());
    } catch (const error&) {
        path_.clear();  // no folder of this machine
    }
}

SMDEBUG_INLINE std::shared_ptr<const byte_source> index_places::find(std::size_t place) const {
    try {
        if (place == 1) {
            return archive_->sibling(index_extension);
        }
        if (path_.empty() || !smdebug::detail::posix::regular_file_facts(path_)) {
            return nullptr;
        }
        auto file = std::make_shared<const open_file>(smdebug::detail::posix::file{path_}, path_);
        smdebug::detail::posix::touch(path_);  // its last use
        return file;
    } catch (const std::exception&) {
        return nullptr;
    }
}

SMDEBUG_INLINE void index_places::keep(byte_view index) const noexcept {
    if (path_.empty() || index.empty()) {
        return;
    }
    try {
        smdebug::detail::posix::whole_file_output out{path_, smdebug::detail::posix::readable_by::owner};
        out.append({&index, 1});
        out.commit(durability::cached);
    } catch (const std::exception&) {
        return;
    }
}

SMDEBUG_INLINE std::string index_places::drop(std::size_t place) const {
    std::string which = archive_->name().append(index_extension);
    if (place == 0) {
        try {
            static_cast<void>(smdebug::detail::posix::remove_file(path_));
            return "its index was removed; open it again";
        } catch (const error&) {
            which = path_;
        }
    }
    return "remove its index " + which + ", and open it again";
}

}  // namespace detail
}  // namespace archive
}  // namespace v1
}  // namespace smdebug
