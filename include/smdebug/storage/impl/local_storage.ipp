// The bodies of <smdebug/storage/local_storage.hpp>.
#pragma once

#include <smdebug/core/error.hpp>
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

namespace detail {

// Opens a file before its turn; its errors are reported when its turn comes.
template <class Open>
[[nodiscard]] std::optional<posix::file> open_ahead(const Open& open, std::size_t place) {
    try {
        std::optional<posix::file> soon = open(place);
        if (soon) {
            static_cast<void>(posix::read_ahead(*soon));
        }
        return soon;
    } catch (const error&) {
        return std::nullopt;
    }
}

// A part of a file, cut at its end.
[[nodiscard]] inline byte_buffer part_of(const posix::file& file, byte_range where) {
    const std::uint64_t size = file.size();
    const std::uint64_t begin = std::min(where.offset, size);
    const auto count = static_cast<std::size_t>(std::min(where.length, size - begin));
    // Uninitialised on purpose: every byte is overwritten or the read throws.
    const std::shared_ptr<std::byte[]> block = std::make_shared_for_overwrite<std::byte[]>(count);
    const std::size_t got = file.read_at(begin, {block.get(), count});
    return byte_buffer{block, byte_view{block.get(), got}};
}

}  // namespace detail

SMDEBUG_INLINE local_storage::local_storage(const std::string& root) : name_(detail::local_path(root)) {
    while (name_.size() > 1 && name_.ends_with('/')) {
        name_.pop_back();
    }
    root_ = detail::posix::absolute_path(name_);
}

SMDEBUG_INLINE versioned_object local_storage::read_versioned(std::string_view key) const {
    const detail::posix::file file{path_of(key)};
    std::string version = file.version();
    byte_buffer bytes = detail::part_of(file, whole_object);
    if (const std::string after = file.version(); after != version) {
        version += "~" + after;  // being written: equals no version that entries() ever returns
    }
    return {.bytes = std::move(bytes), .version = std::move(version)};
}

SMDEBUG_INLINE std::optional<byte_buffer> local_storage::view(std::string_view key) const {
    struct looked_at {
        explicit looked_at(std::string path)
            : file(std::move(path)),
              map(file.size() >= worth_mapping && file.size() <= most_mapped ? detail::posix::leased_map::open(file)
                                                                             : std::nullopt) {}
        detail::posix::file file;
        std::optional<detail::posix::leased_map> map;
    };
    try {
        auto owner = std::make_shared<const looked_at>(path_of(key));
        if (owner->map) {
            const byte_view bytes = owner->map->view();
            return byte_buffer{std::move(owner), bytes};
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
    const std::optional<detail::posix::directory_handle> root = detail::posix::directory_handle::open(root_);
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
            ahead = detail::open_ahead(open, i + 1);
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
            file = open_if_there(ranges[i].key);
        }
        if (!sink(i, file ? std::optional{detail::part_of(*file, ranges[i].where)} : std::nullopt, {})) {
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
    const auto root = detail::posix::directory_handle::open(root_);
    for (auto key = keys.begin(); root && key != keys.end() && found.size() < most; ++key) {
        // A dangling link has neither size nor version, nor has a file in a folder that may only be listed.
        detail::posix::file_facts facts =
            detail::posix::facts_of(*root, *key, root_).value_or(detail::posix::file_facts{});
        found.push_back({.key = std::move(*key), .size = facts.size, .version = std::move(facts.version)});
    }
    return found;
}

SMDEBUG_INLINE std::optional<detail::posix::file> local_storage::open_if_there(std::string_view key) const {
    try {
        return detail::posix::file{path_of(key)};
    } catch (const not_found&) {
        return std::nullopt;
    }
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
    return detail::part_of(detail::posix::file{path_of(key)}, where);
}

SMDEBUG_INLINE std::optional<std::uint64_t> local_storage::size(std::string_view key) const {
    return stays_inside(key) ? detail::posix::regular_file_size(path_of(key)) : std::nullopt;
}

SMDEBUG_INLINE std::optional<std::chrono::system_clock::time_point> local_storage::modified(
    std::string_view key) const {
    return stays_inside(key) ? detail::posix::regular_file_time(path_of(key)) : std::nullopt;
}

SMDEBUG_INLINE std::unique_ptr<key_follower> local_storage::follow(std::string_view prefix) const {
    return std::make_unique<detail::folder_follower>(root_, prefix);
}

SMDEBUG_INLINE std::unique_ptr<change_signal> local_storage::watch(std::span<const std::string> prefixes) const {
    return detail::folder_watch::open(root_, prefixes);
}

SMDEBUG_INLINE place_kind local_storage::place() const {
    if (detail::posix::regular_file_facts(root_)) {
        return place_kind::file;
    }
    return detail::posix::directory_handle::open(root_) ? place_kind::folder : place_kind::missing;
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
