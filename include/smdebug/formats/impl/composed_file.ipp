// The bodies of <smdebug/formats/composed_file.hpp>.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/formats/composed_file.hpp>

#include <algorithm>

namespace smdebug {
inline namespace v1 {
namespace detail {

SMDEBUG_INLINE std::shared_ptr<const opened_object> part_objects::open(const place& where, std::uint64_t end) const {
    {
        const std::lock_guard lock{mutex_};
        const auto known =
            std::find_if(open_.begin(), open_.end(), [&](const auto& one) { return one.first == where.name; });
        if (known != open_.end() && known->second->size() >= end) {
            std::rotate(known, known + 1, open_.end());
            return open_.back().second;
        }
        if (known != open_.end()) {
            open_.erase(known);
        }
    }
    std::shared_ptr<const opened_object> opened = store_of(where).open(key_of(where));
    if (opened) {
        const std::lock_guard lock{mutex_};
        if (open_.size() >= most_open) {
            open_.erase(open_.begin());
        }
        open_.emplace_back(where.name, opened);
    }
    return opened;
}

SMDEBUG_INLINE std::size_t part_objects::read_at(const place& where, std::uint64_t offset,
                                                 std::span<std::byte> into) const {
    if (const auto object = open(where, offset + into.size())) {
        return object->read_at(offset, into);
    }
    const byte_buffer bytes = store_of(where).read(key_of(where), {.offset = offset, .length = into.size()});
    std::copy(bytes.view().begin(), bytes.view().end(), into.begin());
    return bytes.size();
}

SMDEBUG_INLINE byte_buffer part_objects::part(const place& where, std::uint64_t offset, std::uint64_t most) const {
    const auto object = open(where, offset + most);
    if (!object) {
        return {};
    }
    const byte_buffer bytes = object->part(offset, most);
    using both = std::pair<std::shared_ptr<const opened_object>, std::shared_ptr<const void>>;
    return byte_buffer{std::make_shared<const both>(object, bytes.owner()), bytes.view()};
}

SMDEBUG_INLINE composed_file::composed_file(std::shared_ptr<const part_objects> objects,
                                            std::shared_ptr<const presented_file> file,
                                            std::map<std::uint32_t, part_objects::place> places)
    : objects_(std::move(objects)), file_(std::move(file)), places_(std::move(places)) {
    ends_.reserve(file_->pieces.size());
    std::uint64_t end = 0;
    for (const event_piece& piece : file_->pieces) {
        end += piece.size;
        ends_.push_back(end);
    }
}

SMDEBUG_INLINE std::pair<std::size_t, std::uint64_t> composed_file::piece_at(std::uint64_t offset) const {
    const auto end = std::upper_bound(ends_.begin(), ends_.end(), offset);
    const auto place = static_cast<std::size_t>(end - ends_.begin());
    return {place, place == 0 ? 0 : ends_[place - 1]};
}

SMDEBUG_INLINE byte_buffer composed_file::made(std::uint64_t maker) const {
    {
        const std::lock_guard lock{mutex_};
        if (made_last_ == maker) {
            return last_made_;
        }
    }
    byte_buffer bytes = byte_buffer::take(file_->makers[static_cast<std::size_t>(maker)]());
    const std::lock_guard lock{mutex_};
    made_last_ = maker;
    last_made_ = bytes;
    return bytes;
}

SMDEBUG_INLINE std::size_t composed_file::read_piece(const event_piece& piece, std::uint64_t from,
                                                     std::span<std::byte> into) const {
    if (piece.object == event_piece::written) {
        std::copy_n(file_->written.begin() + static_cast<std::ptrdiff_t>(piece.offset + from), into.size(),
                    into.begin());
        return into.size();
    }
    if (piece.object == event_piece::made) {
        const byte_buffer bytes = made(piece.offset);
        const byte_view wanted = bytes.slice({.offset = from, .length = into.size()}).view();
        std::copy(wanted.begin(), wanted.end(), into.begin());
        return wanted.size();
    }
    return objects_->read_at(places_.at(piece.object), piece.offset + from, into);
}

SMDEBUG_INLINE std::size_t composed_file::read_at(std::uint64_t offset, std::span<std::byte> into) const {
    std::size_t done = 0;
    auto [place, begin] = piece_at(offset);
    while (done < into.size() && place < file_->pieces.size()) {
        const event_piece& piece = file_->pieces[place];
        const std::uint64_t from = offset + done - begin;
        const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(piece.size - from, into.size() - done));
        const std::size_t read = read_piece(piece, from, into.subspan(done, count));
        done += read;
        if (read < count) {
            break;  // the object is shorter than it was
        }
        begin += piece.size;
        ++place;
    }
    return done;
}

SMDEBUG_INLINE byte_buffer composed_file::part(std::uint64_t offset, std::uint64_t most) const {
    const auto [place, begin] = piece_at(offset);
    if (place >= file_->pieces.size()) {
        return {};
    }
    const event_piece& piece = file_->pieces[place];
    const std::uint64_t from = offset - begin;
    const std::uint64_t count = std::min(most, piece.size - from);
    if (piece.object == event_piece::written || piece.object == event_piece::made) {
        return {};
    }
    return objects_->part(places_.at(piece.object), piece.offset + from, count);
}

SMDEBUG_INLINE byte_buffer composed_file::read(byte_range where) const {
    const std::uint64_t begin = std::min(where.offset, size());
    const std::uint64_t count = std::min(where.length, size() - begin);
    if (count == 0) {
        return {};
    }
    // Not filled with zeros first.
    std::shared_ptr<std::byte[]> bytes = std::make_shared_for_overwrite<std::byte[]>(static_cast<std::size_t>(count));
    const std::size_t read = read_at(begin, {bytes.get(), static_cast<std::size_t>(count)});
    const byte_view view{bytes.get(), read};
    return byte_buffer{std::move(bytes), view};
}

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
