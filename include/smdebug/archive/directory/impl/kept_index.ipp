// The bodies of <smdebug/archive/directory/kept_index.hpp>.
#pragma once

#include <smdebug/archive/directory/kept_index.hpp>
#include <smdebug/core/bytes.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/storage/posix/file.hpp>
#include <smdebug/storage/posix/output.hpp>
#include <smdebug/storage/uri.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <exception>
#include <limits>
#include <new>
#include <optional>
#include <span>
#include <utility>

namespace smdebug::inline v1::archive::detail {
namespace smdx {

// Raised whenever an older index would hold less, or something else, than the archive itself gives: it is then made
// anew.
inline constexpr std::uint64_t mark = 0x3230'7864'6d73U;  // "smdx02"
inline constexpr std::size_t head_bytes = 32;
inline constexpr std::uint64_t end_bytes = std::uint64_t{64} << 10U;
inline constexpr std::size_t most_point_bytes = std::size_t{64} << 10U;

using smdebug::detail::content_hash;

[[nodiscard]] inline std::uint64_t checksum_of(byte_view head, byte_view front) noexcept {
    return content_hash(front, content_hash(head.first(24)));
}

/// Encodes numbers, seven bits a byte, and texts, one after another.
class writer {
public:
    void number(std::uint64_t value) {
        for (; value >= 0x80U; value >>= 7U) {
            bytes_.push_back(static_cast<std::byte>(value | 0x80U));
        }
        bytes_.push_back(static_cast<std::byte>(value));
    }
    void fixed(std::uint64_t value) {
        bytes_.resize(bytes_.size() + 8);
        store_le(bytes_.data() + bytes_.size() - 8, value);
    }
    void text(std::string_view value) {
        number(value.size());
        const byte_view all = as_bytes(value);
        bytes_.insert(bytes_.end(), all.begin(), all.end());
    }
    [[nodiscard]] std::vector<std::byte>& bytes() noexcept { return bytes_; }

private:
    std::vector<std::byte> bytes_;
};

/// Decodes them.  After the first missing one everything is 0 or empty.
class reader {
public:
    explicit reader(byte_view bytes) noexcept : bytes_(bytes) {}

    [[nodiscard]] std::uint64_t number() noexcept {
        std::uint64_t value = 0;
        for (unsigned shift = 0; shift < 64; shift += 7) {
            if (bytes_.empty()) {
                break;
            }
            const auto one = std::to_integer<std::uint64_t>(bytes_.front());
            bytes_ = bytes_.subspan(1);
            const std::uint64_t digits = one & 0x7FU;
            if (shift == 63 && digits > 1) {
                break;
            }
            value |= digits << shift;
            if (one < 0x80U) {
                return value;
            }
        }
        fail();
        return 0;
    }
    [[nodiscard]] std::uint64_t fixed() noexcept {
        const byte_view one = take(8);
        return one.empty() ? 0 : load_le<std::uint64_t>(one.data());
    }
    [[nodiscard]] std::string_view text() noexcept { return as_text(take(number())); }
    /// The number of entries that follow; each takes at least so many bytes.
    [[nodiscard]] std::size_t count(std::size_t least_bytes) noexcept {
        const std::uint64_t value = number();
        if (value > bytes_.size() / least_bytes) {
            fail();
            return 0;
        }
        return static_cast<std::size_t>(value);
    }
    void fail() noexcept {
        bytes_ = {};
        is_right_ = false;
    }
    [[nodiscard]] bool is_right() const noexcept { return is_right_; }
    [[nodiscard]] bool is_at_end() const noexcept { return is_right_ && bytes_.empty(); }

private:
    [[nodiscard]] byte_view take(std::uint64_t length) noexcept {
        if (length > bytes_.size()) {
            fail();
            return {};
        }
        const byte_view taken = bytes_.first(std::size_t{length});
        bytes_ = bytes_.subspan(taken.size());
        return taken;
    }

    byte_view bytes_;
    bool is_right_ = true;
};

/// An access point that is not loaded from its file yet.
class kept_point final : public access_point {
public:
    kept_point(std::shared_ptr<const byte_source> file, byte_range where, std::uint64_t hash,
               std::shared_ptr<const codec> unpacks)
        : file_(std::move(file)), where_(where), hash_(hash), codec_(std::move(unpacks)) {}

    [[nodiscard]] std::size_t cost() const noexcept override { return sizeof(kept_point); }
    [[nodiscard]] std::vector<std::byte> written() const override {
        const byte_buffer bytes = file_->read(where_);
        if (bytes.size() != where_.length || content_hash(bytes.view()) != hash_) {
            throw corrupt_data("the index " + file_->name() + " is damaged",
                               {.where = file_->name(), .offset = where_.offset});
        }
        return {bytes.view().begin(), bytes.view().end()};
    }
    [[nodiscard]] std::shared_ptr<const access_point> loaded(
        std::shared_ptr<const access_point> /*self*/) const override {
        try {
            return codec_->restore(written());
        } catch (const error&) {
            return nullptr;
        }
    }

private:
    std::shared_ptr<const byte_source> file_;
    byte_range where_;
    std::uint64_t hash_;
    std::shared_ptr<const codec> codec_;
};

inline void put_members(writer& to, const directory& from) {
    to.number(from.members.size());
    std::string_view before;
    for (const auto& [key, file] : from.members) {
        // Neighbouring names have common prefixes.
        const auto shared = static_cast<std::size_t>(
            std::mismatch(before.begin(), before.end(), key.begin(), key.end()).first - before.begin());
        to.number(shared);
        to.text(std::string_view{key}.substr(shared));
        to.number(file.where.offset);
        to.number(file.size);
        to.number(file.how == packing::refused ? 1 : file.how == packing::nowhere ? 2 : 0);
        if (file.how != packing::stored) {
            to.text(file.why);
        }
        before = key;
    }
}

/// `length`: the size of what the offsets refer to.
[[nodiscard]] inline directory take_members(reader& from, std::uint64_t length, std::uint64_t most) {
    directory made;
    const std::size_t count = from.count(5);
    if (count > most) {
        from.fail();
        return made;
    }
    std::string key;
    for (std::size_t i = 0; i < count && from.is_right(); ++i) {
        const std::uint64_t shared = from.number();
        const std::string_view rest = from.text();
        member file{.where = {.offset = from.number()}};
        file.size = from.number();
        file.where.length = file.size;
        const std::uint64_t how = from.number();
        if (how == 1 || how == 2) {
            file.how = how == 1 ? packing::refused : packing::nowhere;
            file.why = from.text();
        }
        std::string next = key.substr(0, static_cast<std::size_t>(std::min<std::uint64_t>(shared, key.size())));
        next += rest;
        const bool is_inside = file.where.offset <= length && file.size <= length - file.where.offset;
        if (!from.is_right() || shared > key.size() || how > 2 || !is_inside || next.empty() || next <= key ||
            key_of(next) != next) {
            from.fail();
            return made;
        }
        key = std::move(next);
        made.members.emplace_hint(made.members.end(), key, std::move(file));
    }
    return made;
}

}  // namespace smdx

SMDEBUG_INLINE archive_identity identity_of(const byte_source& archive) {
    archive_identity made{.size = archive.size(), .version = archive.version()};
    const std::uint64_t part = std::min(made.size, smdx::end_bytes);
    const std::array<byte_range, 2> ends{byte_range{0, part}, byte_range{made.size - part, part}};
    archive.read_many(ends, [&](std::size_t, const byte_buffer& bytes) {
        made.hash_of_ends = smdx::content_hash(bytes.view(), made.hash_of_ends);
    });
    return made;
}

SMDEBUG_INLINE std::vector<std::byte> written(const kept_index& index) {
    smdx::writer front;
    front.number(index.of.size);
    front.text(index.of.version);
    front.fixed(index.of.hash_of_ends);
    front.text(index.kind);
    front.number(index.spans.size());
    std::vector<std::byte> points;
    for (const stream_span& each : index.spans) {
        const std::vector<std::byte> point = each.point != nullptr ? each.point->written() : std::vector<std::byte>{};
        front.number(each.length);
        front.fixed(each.sum);
        front.number(point.size());
        front.fixed(smdx::content_hash(point));
        points.insert(points.end(), point.begin(), point.end());
    }
    smdx::put_members(front, index.members);
    std::vector<std::byte> all(smdx::head_bytes);
    const std::array<std::uint64_t, 3> numbers{smdx::mark, front.bytes().size(),
                                               all.size() + front.bytes().size() + points.size()};
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        store_le(all.data() + 8 * i, numbers[i]);
    }
    store_le(all.data() + 24, smdx::checksum_of(all, front.bytes()));
    all.reserve(static_cast<std::size_t>(numbers[2]));
    all.insert(all.end(), front.bytes().begin(), front.bytes().end());
    all.insert(all.end(), points.begin(), points.end());
    return all;
}

namespace smdx {

/// The front of a file, if it is whole.
[[nodiscard]] inline std::optional<byte_buffer> front_of(const byte_source& file) {
    const std::uint64_t size = file.size();
    const byte_buffer begin = file.read({0, end_bytes});
    if (begin.size() < head_bytes || load_le<std::uint64_t>(begin.data()) != mark ||
        load_le<std::uint64_t>(begin.data() + 16) != size) {
        return std::nullopt;
    }
    const auto length = load_le<std::uint64_t>(begin.data() + 8);
    if (length > size - head_bytes) {
        return std::nullopt;
    }
    byte_buffer front =
        head_bytes + length <= begin.size() ? begin.slice({head_bytes, length}) : file.read({head_bytes, length});
    const bool is_whole =
        front.size() == length && load_le<std::uint64_t>(begin.data() + 24) == checksum_of(begin.view(), front.view());
    return is_whole ? std::optional{std::move(front)} : std::nullopt;
}

/// The spans, and in `length` the size of the stream that they cover.
[[nodiscard]] inline std::vector<stream_span> take_spans(reader& from, const std::shared_ptr<const byte_source>& file,
                                                         std::uint64_t points,
                                                         const std::shared_ptr<const codec>& unpacks,
                                                         std::uint64_t& length) {
    std::vector<stream_span> spans(from.count(18));
    const std::uint64_t end = file->size();
    for (stream_span& each : spans) {
        const std::uint64_t span_bytes = from.number();
        each.begin = length;
        each.sum = from.fixed();
        const std::uint64_t point_bytes = from.number();
        const std::uint64_t hash = from.fixed();
        const bool is_right = from.is_right() && span_bytes > 0 && span_bytes <= decoded_source::most_span_bytes &&
                              point_bytes <= most_point_bytes && point_bytes <= end - points;
        if (!is_right) {
            from.fail();
            return {};
        }
        each.length = static_cast<std::size_t>(span_bytes);
        length += span_bytes;
        if (point_bytes > 0) {
            each.point = std::make_shared<kept_point>(file, byte_range{points, point_bytes}, hash, unpacks);
            points += point_bytes;
        }
    }
    if (points != end) {
        from.fail();
    }
    return spans;
}

[[nodiscard]] inline std::optional<kept_index> index_in(const std::shared_ptr<const byte_source>& file,
                                                        const archive_identity& of, std::string_view kind,
                                                        const std::shared_ptr<const codec>& unpacks,
                                                        const archive_options& options) {
    const std::optional<byte_buffer> front = front_of(*file);
    if (!front) {
        return std::nullopt;
    }
    reader from{front->view()};
    kept_index made;
    made.of.size = from.number();
    made.of.version = from.text();
    made.of.hash_of_ends = from.fixed();
    made.kind = from.text();
    if (!from.is_right() || made.of != of || made.kind != kind) {
        return std::nullopt;
    }
    std::uint64_t length = 0;
    made.spans = take_spans(from, file, head_bytes + front->size(), unpacks, length);
    if (unpacks == nullptr) {
        if (!made.spans.empty()) {
            return std::nullopt;
        }
        length = of.size;
    } else if (length > options.most_bytes ||
               (length > decoded_source::any_ratio_bytes && length / options.most_ratio > of.size)) {
        return std::nullopt;  // reading the archive again reports that
    }
    made.members = take_members(from, length, options.most_members);
    return from.is_at_end() ? std::optional{std::move(made)} : std::nullopt;
}

}  // namespace smdx

SMDEBUG_INLINE std::optional<kept_index> read_index(const std::shared_ptr<const byte_source>& file,
                                                    const archive_identity& of, std::string_view kind,
                                                    const std::shared_ptr<const codec>& unpacks,
                                                    const archive_options& options) {
    try {
        return smdx::index_in(file, of, kind, unpacks, options);
    } catch (const error&) {
        return std::nullopt;
    } catch (const std::bad_alloc&) {
        return std::nullopt;
    }
}

/// A file that stays open: replacing it by another one has no effect here.
class open_file final : public byte_source {
public:
    open_file(smdebug::detail::posix::file file, std::string path) : file_(std::move(file)), path_(std::move(path)) {}

    [[nodiscard]] byte_buffer read(byte_range where) const override { return file_.read(where); }
    [[nodiscard]] std::uint64_t size() const override { return file_.size(); }
    [[nodiscard]] std::string name() const override { return path_; }

private:
    smdebug::detail::posix::file file_;
    std::string path_;
};

/// The name of an index in a folder that holds many.
[[nodiscard]] inline std::string index_name(const std::string& archive) {
    // A relative path means another archive in another working directory.
    const std::string whole =
        archive.find("://") == std::string::npos ? smdebug::detail::posix::absolute_path(archive) : archive;
    return smdebug::detail::posix::hashed_name(whole, smdebug::detail::archive_index_extension);
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
            return archive_->sibling(smdebug::detail::archive_index_extension);
        }
        if (path_.empty() || !smdebug::detail::posix::facts_of(path_)) {
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
    std::string which = archive_->name().append(smdebug::detail::archive_index_extension);
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

}  // namespace smdebug::inline v1::archive::detail
