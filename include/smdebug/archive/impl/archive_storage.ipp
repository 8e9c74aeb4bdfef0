// The bodies of <smdebug/archive/archive_storage.hpp>.
#pragma once

#include <smdebug/archive/archive_storage.hpp>
#include <smdebug/archive/directory/member.hpp>
#include <smdebug/core/error.hpp>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>

namespace smdebug::inline v1 {
namespace archive::detail {

SMDEBUG_INLINE stored_source::stored_source(any_storage inner, std::string key)
    : inner_(std::move(inner)), key_(std::move(key)) {
    const std::optional<std::uint64_t> bytes = inner_.size(key_);
    if (!bytes) {
        throw not_found("there is no archive " + name(), {.where = name()});
    }
    size_ = *bytes;
    written_ = inner_.modified(key_);
    opened_ = inner_.open(key_);
    const object_range head{key_, {0, 1}};
    inner_.read_ranges({&head, 1}, [&](std::size_t, const std::optional<byte_buffer>&, const object_version& version) {
        version_ = version;
    });
}

SMDEBUG_INLINE byte_buffer stored_source::read(byte_range where) const {
    byte_buffer part;
    read_many({&where, 1}, [&](std::size_t, byte_buffer bytes) { part = std::move(bytes); });
    return part;
}

SMDEBUG_INLINE void stored_source::read_many(std::span<const byte_range> ranges, part_sink sink) const {
    std::vector<object_range> parts;
    parts.reserve(ranges.size());
    for (const byte_range& range : ranges) {
        parts.push_back({key_, cut(range)});
    }
    inner_.read_ranges(parts, [&](std::size_t i, std::optional<byte_buffer> bytes, const object_version& version) {
        if (!bytes || version.differs_from(version_) || bytes->size() < parts[i].where.length || changed()) {
            fail_changed(parts[i].where.offset);
        }
        return sink(i, std::move(*bytes));
    });
}

SMDEBUG_INLINE std::size_t stored_source::read_at(std::uint64_t offset, std::span<std::byte> into) const {
    if (opened_ == nullptr) {
        return byte_source::read_at(offset, into);
    }
    const byte_range part = cut({offset, into.size()});
    const std::size_t length = opened_->read_at(part.offset, into.first(static_cast<std::size_t>(part.length)));
    if (length < part.length || changed()) {
        fail_changed(part.offset);
    }
    return length;
}

SMDEBUG_INLINE std::string stored_source::version() const {
    if (!version_.tag.empty()) {
        return "tag " + version_.tag;
    }
    return written_ ? "time " + std::to_string(written_->time_since_epoch().count()) : std::string{};
}

SMDEBUG_INLINE std::shared_ptr<const byte_source> stored_source::sibling(std::string_view more) const {
    std::string key = key_ + std::string{more};
    return inner_.size(key) ? std::make_shared<const stored_source>(inner_, std::move(key)) : nullptr;
}

SMDEBUG_INLINE void stored_source::fail_changed(std::uint64_t offset) const {
    throw unavailable("the archive " + name() + " has changed while it was read: open it again",
                      {.where = name(), .offset = offset});
}

SMDEBUG_INLINE byte_range stored_source::cut(byte_range where) const noexcept {
    const std::uint64_t begin = where.offset < size_ ? where.offset : size_;
    return {begin, where.length < size_ - begin ? where.length : size_ - begin};
}

SMDEBUG_INLINE bool stored_source::changed() const {
    if (!version_.tag.empty()) {
        return false;  // each read returns the version
    }
    return inner_.size(key_) != size_ || inner_.modified(key_) != written_;
}

}  // namespace archive::detail

SMDEBUG_INLINE archive_storage::archive_storage(any_storage inner, std::string key, std::string_view folder,
                                                const archive_options& options) {
    const auto source = std::make_shared<archive::detail::stored_source>(std::move(inner), std::move(key));
    *this = archive_storage{std::make_shared<archive::detail::contents>(source, options), source->name(), folder};
}

SMDEBUG_INLINE archive_storage archive::detail::folder_of(std::shared_ptr<const contents> all, std::string path,
                                                          std::string_view folder) {
    return {std::move(all), std::move(path), folder};
}

SMDEBUG_INLINE archive_storage::archive_storage(std::shared_ptr<const archive::detail::contents> all, std::string path,
                                                std::string_view folder)
    : contents_(std::move(all)), path_(std::move(path)), name_(path_) {
    folder.remove_prefix(std::min(folder.find_first_not_of('/'), folder.size()));
    folder_ = archive::detail::key_of(folder);
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

SMDEBUG_INLINE const std::pair<const std::string, archive::detail::member>* archive_storage::find(
    std::string_view key) const {
    const auto& members = contents_->members().members;
    const auto entry = folder_.empty() ? members.find(key) : members.find(folder_ + std::string{key});
    return entry == members.end() ? nullptr : &*entry;
}

SMDEBUG_INLINE byte_buffer archive_storage::read(std::string_view key, byte_range where) const {
    const auto* const file = find(key);
    if (file == nullptr) {
        throw not_found("there is no " + std::string{key} + " in " + name_, {.where = std::string{key}});
    }
    return contents_->read(file->first, file->second, where);
}

SMDEBUG_INLINE void archive_storage::read_each(std::span<const std::string> keys, object_sink sink) const {
    std::vector<object_range> whole;
    whole.reserve(keys.size());
    for (const std::string& key : keys) {
        whole.push_back({key, whole_object});
    }
    read_ranges(whole, [&](std::size_t i, const std::optional<byte_buffer>& bytes, const object_version& version) {
        return sink(i, bytes ? std::optional{bytes->view()} : std::nullopt, version);
    });
}

SMDEBUG_INLINE void archive_storage::read_ranges(std::span<const object_range> ranges, range_sink sink) const {
    std::vector<archive::detail::contents::wanted_part> parts;
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < ranges.size(); ++i) {
        if (const auto* const file = find(ranges[i].key)) {
            parts.push_back({.key = file->first, .of = &file->second, .where = ranges[i].where});
            places.push_back(i);
        }
    }
    std::size_t next = 0;
    const auto missing_before = [&](std::size_t place) {
        bool goes_on = true;
        for (; goes_on && next < place; ++next) {
            goes_on = sink(next, std::nullopt, {});
        }
        return goes_on;
    };
    bool goes_on = true;
    contents_->read_many(parts, [&](std::size_t i, byte_buffer bytes) {
        goes_on = missing_before(places[i]) && sink(next++, std::move(bytes), {});
        return goes_on;
    });
    if (goes_on) {
        static_cast<void>(missing_before(ranges.size()));
    }
}

SMDEBUG_INLINE std::unique_ptr<opened_object> archive_storage::open(std::string_view key) const {
    const auto* const file = find(key);
    return file == nullptr ? nullptr : archive::detail::contents::open(contents_, file->first, file->second);
}

SMDEBUG_INLINE std::vector<std::string> archive_storage::list(std::string_view prefix, std::string_view after) const {
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

SMDEBUG_INLINE std::optional<std::uint64_t> archive_storage::size(std::string_view key) const {
    const auto* const file = find(key);
    return file == nullptr || file->second.how == archive::detail::packing::nowhere ? std::nullopt
                                                                                    : std::optional{file->second.size};
}

SMDEBUG_INLINE std::vector<std::optional<std::uint64_t>> archive_storage::stored_places(
    std::span<const std::string> keys) const {
    std::vector<const std::pair<const std::string, archive::detail::member>*> files;
    files.reserve(keys.size());
    for (const std::string& key : keys) {
        files.push_back(find(key));
    }
    return contents_->stored_places(files);
}

SMDEBUG_INLINE std::vector<std::string> archive_storage::damage() const {
    std::vector<std::string> places;
    for (const archive::detail::damaged_place& one : contents_->members().damage) {
        places.push_back("at byte " + std::to_string(one.offset) + ": " + one.what);
    }
    return places;
}

SMDEBUG_INLINE std::vector<problem> archive_storage::problems() const {
    std::vector<problem> all;
    for (const archive::detail::damaged_place& one : contents_->members().damage) {
        all.push_back({.kind = problem_kind::damaged,
                       .where = path_ + ", byte " + std::to_string(one.offset),
                       .what = "the archive is damaged: " + one.what});
    }
    for (const problem& one : contents_->members().problems) {
        all.push_back({.kind = one.kind, .where = path_ + one.where, .what = one.what});
    }
    return all;
}

namespace archive::detail {

SMDEBUG_INLINE std::optional<opened_runs> open_runs(const any_storage& folder, const std::string& key,
                                                    std::string_view inside, const archive_options& options) {
    const auto source = std::make_shared<stored_source>(folder, key);
    const byte_buffer head = source->read({0, 512});
    if (format_of(head.view()) == format::unknown && !has_zip_end(*source)) {
        const bool is_known =
            !compression_not_read(head.view()).empty() || as_text(head.view()).starts_with(lfs_pointer_begin);
        if (is_known) {
            throw unsupported(source->name() + ": " + what_is_read(head.view()), {.where = source->name()});
        }
        return std::nullopt;
    }
    const archive_storage whole = folder_of(std::make_shared<contents>(source, options), source->name(), inside);
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

}  // namespace archive::detail
}  // namespace smdebug::inline v1
