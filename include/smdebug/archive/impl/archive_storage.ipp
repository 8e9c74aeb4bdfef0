// The bodies of <smdebug/archive/archive_storage.hpp>.
#pragma once

#include <smdebug/archive/archive_storage.hpp>
#include <smdebug/archive/directory/member.hpp>
#include <smdebug/core/error.hpp>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>

namespace smdebug::inline v1::archive::detail {

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
        whole.push_back({key, whole_object});
    }
    read_ranges(whole, [&](std::size_t i, const std::optional<byte_buffer>& bytes, const object_version& version) {
        sink(i, bytes ? std::optional{bytes->view()} : std::nullopt, version);
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
            sink(next, std::nullopt, {});
        }
    };
    contents_->read_many(parts, [&](std::size_t i, byte_buffer bytes) {
        missing_before(places[i]);
        ++next;
        sink(places[i], std::move(bytes), {});
    });
    missing_before(ranges.size());
}

SMDEBUG_INLINE std::unique_ptr<opened_object> opened_archive::open(std::string_view key) const {
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

SMDEBUG_INLINE std::optional<opened_runs> open_runs(const any_storage& folder, const std::string& key,
                                                    std::string_view inside, const archive_options& options) {
    const auto source = std::make_shared<stored_source<any_storage>>(folder, key);
    const byte_buffer head = source->read({0, 512});
    if (format_of(head.view()) == format::unknown && !has_zip_end(*source)) {
        const bool is_known =
            !compression_not_read(head.view()).empty() || as_text(head.view()).starts_with(lfs_pointer_begin);
        if (is_known) {
            throw unsupported(source->name() + ": " + what_is_read(head.view()), {.where = source->name()});
        }
        return std::nullopt;
    }
    const archive_storage<any_storage> whole{std::make_shared<opened_archive>(source, inside, options)};
    opened_runs all{.name = folder.name() + "/" + key, .damage = whole.damage()};
    const std::vector<std::string> found = whole.runs();
    if (!inside.empty() || found.empty()) {
        all.runs.push_back({.inside = std::string{inside}, .store = any_storage{whole}});
        return all;
    }
    for (const std::string& run : found) {
        all.runs.push_back({.inside = run, .store = any_storage{whole.within(run)}});
    }
    return all;
}

SMDEBUG_INLINE std::string damage_text(const opened_runs& all) {
    std::string text = "the archive " + all.name + " is damaged: ";
    for (const std::string& place : all.damage) {
        text += (&place == all.damage.data() ? "" : "; ") + place;
    }
    return text;
}

SMDEBUG_INLINE any_storage only_run(opened_runs all, const archive_options& options) {
    if (!all.damage.empty() && !options.skip_damaged) {
        throw corrupt_data(
            damage_text(all) + ". To read what can be read around that, set archive_options::skip_damaged",
            {.where = all.name});
    }
    if (all.runs.size() > 1) {
        constexpr std::size_t most_named = 5;
        std::string names;
        for (std::size_t i = 0; i < std::min(all.runs.size(), most_named); ++i) {
            names += (i == 0 ? "" : ", ") + all.name + "!/" + all.runs[i].inside;
        }
        throw value_error("the archive " + all.name + " has " + std::to_string(all.runs.size()) +
                              " runs; name one of them: " + names + (all.runs.size() > most_named ? ", ..." : ""),
                          {.where = all.name});
    }
    return std::move(all.runs.front().store);
}

}  // namespace smdebug::inline v1::archive::detail
