// The bodies of <smdebug/archive/directory/contents.hpp>.
#pragma once

#include <smdebug/archive/directory/contents.hpp>
#include <smdebug/archive/directory/kept_index.hpp>
#include <smdebug/archive/directory/member.hpp>
#include <smdebug/archive/directory/tar.hpp>
#include <smdebug/archive/stream/codecs.hpp>
#include <smdebug/archive/stream/decoded_source.hpp>
#include <smdebug/core/error.hpp>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

namespace smdebug::inline v1::archive::detail {

// By its checksum, or, if that is wrong, by its magic: members after a damaged head can still be read.
[[nodiscard]] inline bool looks_like_tar(byte_view head) {
    return is_tar_head(head) || (head.size() >= 512 && as_text(head.subspan(257)).starts_with("ustar"));
}

SMDEBUG_INLINE format format_of(byte_view head) noexcept {
    const auto begins = [&](std::string_view magic) { return as_text(head).starts_with(magic); };
    if (begins("\x1F\x8B")) {
        return format::gzip;
    }
    const std::uint32_t first = head.size() >= 4 ? load_le<std::uint32_t>(head.data()) : 0;
    if (first == 0xFD2FB528U || (first & 0xFFFFFFF0U) == 0x184D2A50U) {  // a frame, or a skippable one
        return format::zstd;
    }
    if (begins("PK\x03\x04") || begins("PK\x05\x06")) {
        return format::zip;
    }
    return looks_like_tar(head) ? format::tar : format::unknown;
}

SMDEBUG_INLINE std::string_view compression_not_read(byte_view head) noexcept {
    struct row {
        std::string_view magic;
        std::string_view name;
    };
    using namespace std::string_view_literals;
    constexpr std::array rows{row{"BZh"sv, "bzip2"},
                              row{"\xFD"
                                  "7zXZ\0"sv,
                                  "xz"},
                              row{"7z\xBC\xAF\x27\x1C"sv, "7z"},
                              row{"\x04\x22\x4D\x18"sv, "lz4"},
                              row{"\x02\x21\x4C\x18"sv, "lz4"},
                              row{"\x1F\x9D"sv, "compress (.Z)"},
                              row{"\x1F\xA0"sv, "compress (.Z)"},
                              row{"LZIP"sv, "lzip"},
                              row{"\x89LZO"sv, "lzop"},
                              row{"LRZI"sv, "lrzip"},
                              row{"070701"sv, "cpio"},
                              row{"070702"sv, "cpio"},
                              row{"070707"sv, "cpio"},
                              row{"\xC7\x71"sv, "cpio"},
                              row{"\x71\xC7"sv, "cpio"},
                              row{"Rar!\x1A\x07"sv, "rar"},
                              row{"!<arch>\n"sv, "ar"},
                              row{"MSCF"sv, "cab"},
                              row{"\x5D\0\0"sv, "lzma"}};
    const auto known =
        std::find_if(rows.begin(), rows.end(), [&](const row& each) { return as_text(head).starts_with(each.magic); });
    return known == rows.end() ? std::string_view{} : known->name;
}

SMDEBUG_INLINE std::string what_is_read(byte_view head) {
    const std::string kinds = "tar, tar.gz, tar.zst and zip are read";
    if (as_text(head).starts_with(lfs_pointer_begin)) {
        return std::string{lfs_pointer_text};
    }
    const std::string_view other = compression_not_read(head);
    return other.empty() ? kinds
                         : "it is packed by " + std::string{other} + ", which is not read; " + kinds +
                               ": unpack it, or pack it again as one of these";
}

SMDEBUG_INLINE contents::contents(std::shared_ptr<const byte_source> archive, const archive_options& options,
                                  indexes how, member_names names)
    : archive_(std::move(archive)), plain_(archive_), options_(options) {
    const byte_buffer head = archive_->read({0, 512});
    const format outer = format_of(head.view());
    // A zip may also follow a program that unpacks itself.
    if (outer == format::zip || (outer == format::unknown && has_zip_end(*archive_))) {
        kind_ = "zip";
        directory_ = read_zip(*archive_, options_, names);
        return;
    }
    std::shared_ptr<const codec> unpacks;
    kind_ = "tar";
    if (outer == format::gzip) {
        kind_ = "tar.gz";
        unpacks = deflate_codec(deflate_wrap::gzip);
    } else if (outer == format::zstd) {
        kind_ = "tar.zst";
        unpacks = zstd_codec();
    }
    std::optional<index_places> places;
    if (how == indexes::used && may_have_index()) {
        places.emplace(archive_, options_.index_folder);
    }
    if (!places || !take_index(*places, unpacks)) {
        if (unpacks != nullptr) {
            decoded_ = std::make_shared<decoded_source>(archive_, std::move(unpacks), options_);
            plain_ = decoded_;
        }
        read_directory(outer);
        if (places && places->keeps()) {
            keep_index(*places);
        }
    }
    options_.in_passing.reset();
}

SMDEBUG_INLINE void contents::read_directory(format outer) {
    const byte_buffer inside = plain_->read({0, 512});
    const bool is_empty =
        std::all_of(inside.view().begin(), inside.view().end(), [](std::byte one) { return one == std::byte{0}; });
    if (!looks_like_tar(inside.view()) && !(is_empty && inside.size() == 512)) {
        throw unsupported(archive_->name() + (outer == format::unknown ? " is" : ", inflated, is") +
                              " no archive of a known format: " + what_is_read(inside.view()) +
                              (archive_->size() == 0 ? "; it is empty" : ""),
                          {.where = archive_->name()});
    }
    directory_ = read_tar(*plain_, options_, [&](std::string_view key, const member& of) {
        if (decoded_ != nullptr) {
            pass(key, of);
        }
    });
}

SMDEBUG_INLINE bool contents::may_have_index() const {
    return archive_->size() >= least_indexed_bytes && !archive_->version().empty();
}

SMDEBUG_INLINE bool contents::take_index(const index_places& places, const std::shared_ptr<const codec>& unpacks) {
    std::optional<archive_identity> of;
    for (std::size_t place = 0; place < index_places::count; ++place) {
        const std::shared_ptr<const byte_source> file = places.find(place);
        if (file == nullptr) {
            continue;
        }
        if (!of) {
            of = identity_of(*archive_);
        }
        std::optional<kept_index> kept = read_index(file, *of, kind_, unpacks, options_);
        if (!kept) {
            continue;
        }
        const auto points = static_cast<std::size_t>(std::count_if(
            kept->spans.begin(), kept->spans.end(), [](const stream_span& each) { return each.point != nullptr; }));
        if (options_.in_passing != nullptr && 2 * points < kept->spans.size()) {
            return false;  // reading all of it is faster in one pass
        }
        directory_ = std::move(kept->members);
        if (unpacks != nullptr) {
            kept_stream stream{.spans = std::move(kept->spans),
                               .is_wrong = [places, place] { return places.drop(place); }};
            decoded_ = std::make_shared<decoded_source>(archive_, unpacks, options_, std::move(stream));
            plain_ = decoded_;
        }
        return true;
    }
    return false;
}

SMDEBUG_INLINE void contents::keep_index(const index_places& places) const {
    try {
        places.keep(index());
    } catch (const error&) {
        return;  // later reads meet the damage, too
    }
}

SMDEBUG_INLINE std::vector<std::byte> contents::index() const {
    const std::vector<stream_span> spans = decoded_ != nullptr ? decoded_->spans() : std::vector<stream_span>{};
    // A member that can be inflated only from its beginning is inflated whole by any read: better now, during the pass
    // for the directory.
    const bool begins_later =
        !spans.empty() &&
        std::any_of(spans.begin() + 1, spans.end(), [](const stream_span& each) { return each.point != nullptr; });
    // Each head costs a read; in a remote storage, a request.
    const std::size_t least_members = archive_->batches_ranges() ? 16 : 1000;
    const bool is_worth_it = decoded_ != nullptr ? begins_later : directory_.members.size() >= least_members;
    if (kind_ == "zip" || !directory_.damage.empty() || !directory_.problems.empty() || !may_have_index() ||
        !is_worth_it) {
        return {};
    }
    return written({.of = identity_of(*archive_), .kind = std::string{kind_}, .members = directory_, .spans = spans});
}

class contents::opened_member final : public opened_object {
public:
    /// `keep`: owns the memory of `all`, or null.
    opened_member(const contents& all, std::string_view key, const member& of, std::shared_ptr<const contents> keep)
        : all_(all), key_(key), of_(of), keep_(std::move(keep)) {}

    [[nodiscard]] std::uint64_t size() const noexcept override { return of_.size; }
    [[nodiscard]] std::size_t read_at(std::uint64_t offset, std::span<std::byte> into) const override {
        return all_.read_at(key_, of_, offset, into);
    }
    [[nodiscard]] byte_buffer part(std::uint64_t offset, std::uint64_t most) const override {
        return all_.part(key_, of_, offset, most);
    }
    [[nodiscard]] const object_notes* notes() const noexcept override {
        const auto entry = all_.notes_.find(of_.where.offset);
        return entry == all_.notes_.end() ? nullptr : entry->second.get();
    }

private:
    const contents& all_;
    std::string_view key_;
    const member& of_;
    std::shared_ptr<const contents> keep_;
};

SMDEBUG_INLINE void contents::pass(std::string_view key, const member& of) {
    constexpr std::uint64_t small = std::uint64_t{1} << 20U;
    const bool is_event_file = key.ends_with(".tfevents");
    if (!reads_pieces(of)) {
        return;
    }
    try {
        if (is_event_file && options_.in_passing != nullptr) {
            const opened_member going_by{*this, key, of, nullptr};
            if (auto written = options_.in_passing->pass(key, going_by)) {
                notes_.insert_or_assign(of.where.offset, std::move(written));
            }
        } else if (!is_event_file && of.size <= small && small_bytes_ + of.size <= options_.memory_bytes / 2) {
            byte_buffer bytes = plain_->read({of.where.offset, of.size});
            if (bytes.size() == of.size) {
                // A copy: a view would keep the whole piece alive.
                small_.insert_or_assign(of.where.offset, byte_buffer::take(std::vector<std::byte>(bytes.view().begin(),
                                                                                                  bytes.view().end())));
                small_bytes_ += of.size;
            }
        }
    } catch (const corrupt_data&) {
        // The walk reaches that place, too, and so does any read of the member.
    }
}

SMDEBUG_INLINE std::unique_ptr<opened_object> contents::open(std::shared_ptr<const contents> all, std::string_view key,
                                                             const member& of) {
    const contents& from = *all;
    return reads_pieces(of) ? std::make_unique<opened_member>(from, key, of, std::move(all)) : nullptr;
}

SMDEBUG_INLINE void contents::throw_damaged(std::string_view key, std::uint64_t offset, const std::string& why) const {
    throw corrupt_data("the archive " + archive_->name() + ": its member " + std::string{key} +
                           " cannot be read, at byte " + std::to_string(offset) + ": " + why,
                       {.where = archive_->name() + "!/" + std::string{key}, .offset = offset});
}

template <class Doing>
auto contents::reading(std::string_view key, const member& of, Doing&& doing) const {
    try {
        return doing();
    } catch (const corrupt_data& why) {
        throw_damaged(key, why.offset().value_or(of.where.offset), std::string{why.message()});
    }
}

SMDEBUG_INLINE void contents::check_length(std::string_view key, std::uint64_t begin, std::uint64_t length,
                                           std::uint64_t wanted) const {
    if (length < wanted) {
        throw_damaged(key, begin + length, "the archive ends there: it is cut");
    }
}

SMDEBUG_INLINE std::uint64_t contents::wanted_of(std::string_view key, const member& of, byte_range where) const {
    if (of.how == packing::refused) {
        throw unsupported(
            "the archive " + archive_->name() + ": its member " + std::string{key} + " is not read, as " + of.why,
            {.where = archive_->name() + "!/" + std::string{key}});
    }
    if (of.how == packing::nowhere) {
        throw corrupt_data(
            "the archive " + archive_->name() + ": its member " + std::string{key} + " is not there: " + of.why,
            {.where = archive_->name() + "!/" + std::string{key}});
    }
    return where.offset < of.size ? std::min(where.length, of.size - where.offset) : 0;
}

SMDEBUG_INLINE std::size_t contents::read_at(std::string_view key, const member& of, std::uint64_t offset,
                                             std::span<std::byte> into) const {
    const std::uint64_t wanted = wanted_of(key, of, {offset, into.size()});
    const std::uint64_t begin = of.where.offset + offset;
    const std::size_t done =
        reading(key, of, [&] { return plain_->read_at(begin, into.first(static_cast<std::size_t>(wanted))); });
    check_length(key, begin, done, wanted);
    return done;
}

SMDEBUG_INLINE byte_buffer contents::part(std::string_view key, const member& of, std::uint64_t offset,
                                          std::uint64_t most) const {
    return reading(key, of, [&] { return plain_->part(of.where.offset + offset, wanted_of(key, of, {offset, most})); });
}

SMDEBUG_INLINE byte_buffer contents::read(std::string_view key, const member& of, byte_range where) const {
    const std::uint64_t wanted = wanted_of(key, of, where);
    if (wanted == 0) {
        if (of.behind_own_head && of.size == 0) {  // the directory says it is empty: so do its own head and checksum
            static_cast<void>(unpacked_of(key, of));
            check_whole(key, of, {0, 0}, {});
        }
        return {};
    }
    if (const auto kept = small_.find(of.where.offset); kept != small_.end()) {
        return kept->second.slice({where.offset, wanted});
    }
    const std::uint64_t begin = of.where.offset + where.offset;
    const byte_buffer bytes = reading(key, of, [&] {
        return of.behind_own_head ? unpacked_of(key, of)->read({where.offset, wanted}) : plain_->read({begin, wanted});
    });
    check_length(key, begin, bytes.size(), wanted);
    check_whole(key, of, {where.offset, wanted}, bytes);
    return bytes;
}

SMDEBUG_INLINE void contents::read_many(std::span<const wanted_part> parts, part_sink sink) const {
    const bool together =
        plain_ == archive_ && std::all_of(parts.begin(), parts.end(), [](const wanted_part& one) {
            return one.of->how == packing::stored && !one.of->behind_own_head && one.where.offset < one.of->size;
        });
    if (!together) {
        for (std::size_t i = 0; i < parts.size(); ++i) {
            if (!sink(i, read(parts[i].key, *parts[i].of, parts[i].where))) {
                return;
            }
        }
        return;
    }
    std::vector<byte_range> ranges;
    ranges.reserve(parts.size());
    for (const wanted_part& one : parts) {
        ranges.push_back(
            {one.of->where.offset + one.where.offset, std::min(one.where.length, one.of->size - one.where.offset)});
    }
    archive_->read_many(ranges, [&](std::size_t i, byte_buffer bytes) {
        check_length(parts[i].key, ranges[i].offset, bytes.size(), ranges[i].length);
        return sink(i, std::move(bytes));
    });
}

SMDEBUG_INLINE std::vector<std::optional<std::uint64_t>> contents::stored_places(
    std::span<const std::pair<const std::string, member>* const> files) const {
    constexpr std::uint64_t most_together = std::uint64_t{32} << 10U;  // of heads of small members, in one read
    std::vector<std::optional<std::uint64_t>> places(files.size());
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < files.size(); ++i) {
        if (files[i] != nullptr && files[i]->second.behind_own_head && files[i]->second.how == packing::stored) {
            order.push_back(i);
        }
    }
    const auto begin_of = [&](std::size_t i) { return files[order[i]]->second.where.offset; };
    const auto end_of = [&](std::size_t i) { return begin_of(i) + zip_head_bytes(files[order[i]]->first); };
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return files[a]->second.where.offset < files[b]->second.where.offset;
    });
    std::vector<byte_range> reads;
    std::vector<std::size_t> firsts;  // the first head of each read
    for (std::size_t i = 0; i < order.size(); ++i) {
        if (reads.empty() || end_of(i) - reads.back().offset > most_together) {
            reads.push_back({begin_of(i), 0});
            firsts.push_back(i);
        }
        reads.back().length = std::max(reads.back().length, end_of(i) - reads.back().offset);
    }
    firsts.push_back(order.size());
    const auto take = [&](std::size_t read, byte_view bytes) {
        for (std::size_t i = firsts[read]; i < firsts[read + 1]; ++i) {
            const auto& [key, file] = *files[order[i]];
            const std::size_t skipped = std::min(bytes.size(), std::size_t{begin_of(i) - reads[read].offset});
            const std::uint64_t begin = zip_content_begin(*archive_, key, file, bytes.subspan(skipped));
            if (file.size != file.where.length || begin > archive_->size() || file.size > archive_->size() - begin) {
                throw_damaged(key, file.where.offset, "its sizes do not fit to its place");
            }
            places[order[i]] = begin;
        }
    };
    if (archive_->batches_ranges()) {
        archive_->read_many(reads, [&](std::size_t i, const byte_buffer& bytes) {
            take(i, bytes.view());
            return true;
        });
        return places;
    }
    std::vector<std::byte> bytes;  // the archive is kept open, and not looked up by its path for each
    for (std::size_t i = 0; i < reads.size(); ++i) {
        bytes.resize(std::size_t{reads[i].length});
        take(i, byte_view{bytes}.first(archive_->read_at(reads[i].offset, bytes)));
    }
    return places;
}

// The checksum covers the whole member: it is checked when the whole member is read.
SMDEBUG_INLINE void contents::check_whole(std::string_view key, const member& of, byte_range where,
                                          const byte_buffer& bytes) const {
    if (of.behind_own_head && where.offset == 0 && where.length == of.size && crc32_of(bytes.view()) != of.sum) {
        throw_damaged(key, of.where.offset, "its bytes have another checksum than the archive's directory says");
    }
}

SMDEBUG_INLINE std::shared_ptr<const byte_source> contents::unpacked_of(std::string_view key, const member& of) const {
    {
        const std::lock_guard lock{guard_};
        if (const auto* const known = recent_.find(of.where.offset)) {
            return *known;
        }
    }
    std::shared_ptr<const byte_source> bytes = open_member(key, of);
    const std::lock_guard lock{guard_};
    if (recent_.look(of.where.offset) == nullptr) {
        recent_.put(of.where.offset, bytes);
    }
    return bytes;
}

SMDEBUG_INLINE std::shared_ptr<const byte_source> contents::open_member(std::string_view key, const member& of) const {
    const std::uint64_t begin = zip_content_begin(*archive_, key, of);
    auto packed = std::make_shared<part_source>(archive_, byte_range{begin, of.where.length});
    if (of.how == packing::stored) {
        if (of.size != of.where.length) {
            throw_damaged(key, of.where.offset, "it is stored, but its two sizes differ");
        }
        return packed;
    }
    archive_options share = options_;
    share.memory_bytes /= most_open_members;
    if (of.how == packing::zstd) {
        return std::make_shared<decoded_source>(std::move(packed), zstd_codec(), share);
    }
    return std::make_shared<decoded_source>(std::move(packed), deflate_codec(deflate_wrap::none), share);
}

}  // namespace smdebug::inline v1::archive::detail
