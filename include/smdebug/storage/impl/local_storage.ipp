// The bodies of <smdebug/storage/local_storage.hpp>.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/core/ordered_thread_pool.hpp>
#include <smdebug/core/printable_text.hpp>
#include <smdebug/storage/local_storage.hpp>
#include <smdebug/storage/posix/claim.hpp>
#include <smdebug/storage/posix/file.hpp>
#include <smdebug/storage/posix/folder.hpp>
#include <smdebug/storage/posix/folder_follower.hpp>
#include <smdebug/storage/posix/output.hpp>
#include <smdebug/storage/posix/watch.hpp>
#include <smdebug/storage/uri.hpp>

#include <algorithm>
#include <utility>

namespace smdebug::inline v1 {

struct local_storage::kept_problems : detail::synchronized<std::vector<problem>> {};

SMDEBUG_INLINE local_storage::local_storage(const std::string& root)
    : name_(detail::local_path(root)), passed_over_(std::make_shared<kept_problems>()) {
    while (name_.size() > 1 && name_.ends_with('/')) {
        name_.pop_back();
    }
    root_ = detail::posix::absolute_path(name_);
}

SMDEBUG_INLINE versioned_object local_storage::read_versioned(std::string_view key) const {
    const detail::posix::file file{path_of(key)};
    std::string version = file.version();
    byte_buffer bytes = file.read();
    if (const std::string after = file.version(); after != version) {
        version += "~" + after;  // being written: equals no version that entries() ever returns
    }
    return {.bytes = std::move(bytes), .version = std::move(version)};
}

SMDEBUG_INLINE std::optional<byte_buffer> local_storage::view(std::string_view key) const {
    struct mapped_file {
        explicit mapped_file(std::string path)
            : file(std::move(path)),
              map(file.size() >= worth_mapping && file.size() <= most_mapped ? detail::posix::leased_map::open(file)
                                                                             : std::nullopt) {}
        detail::posix::file file;
        std::optional<detail::posix::leased_map> map;  // borrows the file
    };
    try {
        if (const auto owner = std::make_shared<const mapped_file>(path_of(key)); owner->map) {
            return byte_buffer{owner, owner->map->view()};
        }
    } catch (const error&) {
        // Reading reports the error.
    }
    return std::nullopt;
}

SMDEBUG_INLINE std::unique_ptr<opened_object> local_storage::open(std::string_view key) const {
    struct opened_file final : opened_object {
        explicit opened_file(std::string path) : file(std::move(path)) {}
        [[nodiscard]] std::uint64_t size() const noexcept override { return file.size(); }
        [[nodiscard]] std::size_t read_at(std::uint64_t offset, std::span<std::byte> into) const override {
            return file.read_at(offset, into);
        }
        detail::posix::file file;
    };
    try {
        return std::make_unique<opened_file>(path_of(key));
    } catch (const error&) {
        return nullptr;  // reading reports the error
    }
}

SMDEBUG_INLINE bool local_storage::read_ahead(std::string_view key) const {
    try {
        return stays_inside(key) && detail::posix::read_ahead(detail::posix::file{path_of(key)});
    } catch (const error&) {
        return false;  // reading it reports the error
    }
}

SMDEBUG_INLINE void local_storage::read_each(std::span<const std::string> keys, object_sink sink) const {
    const std::optional<detail::posix::descriptor> root = detail::posix::open_folder(root_);
    const auto open = [&](std::size_t i) -> std::optional<detail::posix::file> {
        return root && stays_inside(keys[i]) ? detail::posix::file::open_if_there(*root, keys[i], root_) : std::nullopt;
    };
    detail::posix::scratch_buffer buffer;
    std::optional<detail::posix::file> ahead;  // the file after the current one
    for (std::size_t i = 0; i < keys.size(); ++i) {
        const std::optional<detail::posix::file> file = ahead ? std::exchange(ahead, std::nullopt) : open(i);
        if (!file) {
            if (!sink(i, std::nullopt, {})) {
                return;
            }
            continue;
        }
        if (file->size() > most_at_once) {
            throw unsupported("the file " + path_of(keys[i]) + " has " + std::to_string(file->size()) +
                                  " bytes, too many to be read at once: read it in pieces",
                              {.where = keys[i]});
        }
        if (file->size() >= worth_mapping && i + 1 < keys.size()) {
            try {
                ahead = open(i + 1);
                if (ahead) {
                    static_cast<void>(detail::posix::read_ahead(*ahead));
                }
            } catch (const error&) {
                ahead.reset();  // the error is reported in its turn
            }
        }
        if (!sink(i, file->read_all(buffer), {.modified = file->modified()})) {
            return;
        }
    }
}

SMDEBUG_INLINE void local_storage::read_ranges(std::span<const object_range> ranges, range_sink sink) const {
    std::optional<detail::posix::file> file;
    for (std::size_t i = 0; i < ranges.size(); ++i) {
        if (i == 0 || ranges[i].key != ranges[i - 1].key) {
            file.reset();
            try {
                file.emplace(path_of(ranges[i].key));
            } catch (const not_found&) {
                // The sink gets nothing for it.
            }
        }
        if (!sink(i, file ? std::optional{file->read(ranges[i].where)} : std::nullopt, {})) {
            return;
        }
    }
}

SMDEBUG_INLINE std::vector<std::string> local_storage::list(std::string_view prefix, std::string_view after) const {
    // "index/00" lists the folder "index" and keeps names that start with "index/00".
    const std::size_t slash = prefix.rfind('/');
    const std::string folder{slash == std::string_view::npos ? std::string_view{} : prefix.substr(0, slash)};
    if (!stays_inside(folder) && !folder.empty()) {
        return {};
    }
    std::vector<std::string> keys;
    detail::posix::file_lister lister{root_};
    lister.list(folder, keys);
    {
        const auto known = passed_over_->lock();
        std::erase_if(*known,
                      [&](const problem& one) { return folder.empty() || one.where.starts_with(folder + "/"); });
        known->insert(known->end(), lister.passed_over().begin(), lister.passed_over().end());
    }
    std::erase_if(keys, [&](const std::string& key) {
        return !key.starts_with(prefix) || (!after.empty() && std::string_view{key} <= after);
    });
    std::sort(keys.begin(), keys.end());
    return keys;
}

SMDEBUG_INLINE std::vector<problem> local_storage::problems() const { return *passed_over_->lock(); }

SMDEBUG_INLINE std::optional<std::vector<object_entry>> local_storage::entries(std::string_view prefix,
                                                                               std::string_view after,
                                                                               std::size_t most) const {
    std::vector<object_entry> found;
    std::vector<std::string> keys = list(prefix, after);
    found.reserve(std::min(keys.size(), most));
    // Relative to the folder: resolving its path would cost half as much as the files.
    const auto root = detail::posix::open_folder(root_);
    for (auto key = keys.begin(); root && key != keys.end() && found.size() < most; ++key) {
        // A dangling link has neither size nor version, nor has a file in a folder that may only be listed.
        const auto facts = detail::posix::facts_of(*root, *key, root_);
        found.push_back({.key = std::move(*key),
                         .size = facts ? facts->size() : 0,
                         .version = facts ? facts->version() : std::string{}});
    }
    return found;
}

SMDEBUG_INLINE std::string local_storage::path_of(std::string_view key) const {
    if (!stays_inside(key)) {
        throw not_found("the key \"" + std::string{key} + "\" does not name a file below " + root_,
                        {.where = std::string{key}});
    }
    std::string path;
    path.reserve(root_.size() + 1 + key.size());
    path.append(root_).append("/").append(key);
    return path;
}

SMDEBUG_INLINE byte_buffer local_storage::read(std::string_view key, byte_range where) const {
    return detail::posix::file{path_of(key)}.read(where);
}

SMDEBUG_INLINE std::optional<std::uint64_t> local_storage::size(std::string_view key) const {
    const auto facts = stays_inside(key) ? detail::posix::facts_of(path_of(key)) : std::nullopt;
    return facts ? std::optional{facts->size()} : std::nullopt;
}

SMDEBUG_INLINE std::optional<std::chrono::system_clock::time_point> local_storage::modified(
    std::string_view key) const {
    const auto facts = stays_inside(key) ? detail::posix::facts_of(path_of(key)) : std::nullopt;
    return facts ? std::optional{facts->modified()} : std::nullopt;
}

SMDEBUG_INLINE std::unique_ptr<key_follower> local_storage::follow(std::string_view prefix) const {
    return detail::follow_folder(root_, prefix);
}

SMDEBUG_INLINE std::unique_ptr<change_signal> local_storage::watch(std::span<const std::string> prefixes) const {
    return detail::watch_folders(root_, prefixes);
}

SMDEBUG_INLINE place_kind local_storage::place() const {
    if (detail::posix::facts_of(root_)) {
        return place_kind::file;
    }
    return detail::posix::open_folder(root_) ? place_kind::folder : place_kind::missing;
}

SMDEBUG_INLINE void local_storage::write(std::string_view key, byte_view bytes) {
    detail::posix::write_whole(path_of(key), bytes);
}

SMDEBUG_INLINE std::unique_ptr<object_output> local_storage::create(std::string_view key) {
    return std::make_unique<detail::posix::whole_file_output>(path_of(key), detail::posix::readable_by::umask,
                                                              root_.size());
}

SMDEBUG_INLINE bool local_storage::remove(std::string_view key, durability how) {
    const std::string path = path_of(key);
    const bool existed = detail::posix::remove_file(path);
    if (how == durability::on_disk) {
        detail::posix::sync_folder_of(path);
    }
    return existed;
}

SMDEBUG_INLINE std::unique_ptr<object_claim> local_storage::claim(std::string_view key, durability how) {
    return std::make_unique<detail::posix::file_claim>(path_of(key), how);
}

SMDEBUG_INLINE bool local_storage::claimed(std::string_view key) const {
    return detail::posix::is_claimed(path_of(key));
}

}  // namespace smdebug::inline v1
