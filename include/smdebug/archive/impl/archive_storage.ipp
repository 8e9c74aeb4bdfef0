// The bodies of <smdebug/archive/archive_storage.hpp>.
#pragma once

#include <smdebug/archive/archive_storage.hpp>
#include <smdebug/core/error.hpp>

#include <algorithm>
#include <utility>

namespace smdebug {
inline namespace v1 {
namespace archive {
namespace detail {

SMDEBUG_INLINE opened_archive::opened_archive(std::shared_ptr<const contents> all, std::string path,
                                              std::string_view folder)
    : contents_(std::move(all)), path_(std::move(path)), name_(path_) {
    folder.remove_prefix(std::min(folder.find_first_not_of('/'), folder.size()));
    folder_ = key_of(folder);
    if (folder.empty()) {
        return;
    }
    name_ += "!/" + std::string{folder.substr(0, folder.find_last_not_of('/') + 1)};
    const auto first = contents_->members().members.lower_bound(folder_ + '/');
    if (folder_.empty() || first == contents_->members().members.end() || !first->first.starts_with(folder_ + '/')) {
        throw not_found("there is no folder " + std::string{folder} + " in the archive " + path_, {.where = name_});
    }
    folder_ += '/';
}

SMDEBUG_INLINE const std::pair<const std::string, member>* opened_archive::find(std::string_view key) const {
    const auto& members = contents_->members().members;
    const auto entry = folder_.empty() ? members.find(key) : members.find(folder_ + std::string{key});
    return entry == members.end() ? nullptr : &*entry;
}

SMDEBUG_INLINE byte_buffer opened_archive::read(std::string_view key, byte_range where) const {
    const auto* const file = find(key);
    if (file == nullptr) {
        throw not_found("there is no " + std::string{key} + " in " + name_, {.where = std::string{key}});
    }
    return contents_->read(file->first, file->second, where);
}

SMDEBUG_INLINE void opened_archive::read_each(std::span<const std::string> keys, object_sink sink) const {
    std::vector<object_range> whole;
    whole.reserve(keys.size());
    for (const std::string& key : keys) {
        whole.push_back({key, {0, UINT64_MAX}});
    }
    read_ranges(whole, [&](std::size_t i, const std::optional<byte_buffer>& bytes) {
        sink(i, bytes ? std::optional{bytes->view()} : std::nullopt);
    });
}

SMDEBUG_INLINE void opened_archive::read_ranges(std::span<const object_range> ranges, range_sink sink) const {
    std::vector<contents::wanted_part> parts;
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < ranges.size(); ++i) {
        if (const auto* const file = find(ranges[i].key)) {
            parts.push_back({.key = file->first, .of = &file->second, .where = ranges[i].where});
            places.push_back(i);
        }
    }
    std::size_t next = 0;
    const auto missing_before = [&](std::size_t place) {
        for (; next < place; ++next) {
            sink(next, std::nullopt);
        }
    };
    contents_->read_many(parts, [&](std::size_t i, byte_buffer bytes) {
        missing_before(places[i]);
        ++next;
        sink(places[i], std::move(bytes));
    });
    missing_before(ranges.size());
}

SMDEBUG_INLINE std::unique_ptr<smdebug::detail::opened_object> opened_archive::open(std::string_view key) const {
    const auto* const file = find(key);
    return file == nullptr ? nullptr : contents::open(contents_, file->first, file->second);
}

SMDEBUG_INLINE std::vector<std::string> opened_archive::list(std::string_view prefix, std::string_view after) const {
    const auto& members = contents_->members().members;
    const std::string from = folder_ + std::string{std::max(prefix, after)};
    const std::string within = folder_ + std::string{prefix};
    std::vector<std::string> keys;
    for (auto entry = members.lower_bound(from); entry != members.end() && entry->first.starts_with(within); ++entry) {
        std::string key = entry->first.substr(folder_.size());
        if (key != after) {
            keys.push_back(std::move(key));
        }
    }
    return keys;
}

SMDEBUG_INLINE std::optional<std::uint64_t> opened_archive::size(std::string_view key) const {
    const auto* const file = find(key);
    return file == nullptr || file->second.how == packing::nowhere ? std::nullopt : std::optional{file->second.size};
}

}  // namespace detail
}  // namespace archive
}  // namespace v1
}  // namespace smdebug
