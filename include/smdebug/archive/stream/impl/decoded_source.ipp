// The bodies of <smdebug/archive/stream/decoded_source.hpp>.
#pragma once

#include <smdebug/archive/stream/decoded_source.hpp>
#include <smdebug/core/bytes.hpp>
#include <smdebug/core/error.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

namespace smdebug::inline v1::archive::detail {

/// The bytes at the front of a block; a block that is mostly empty is not kept.
[[nodiscard]] inline byte_buffer buffer_of(std::shared_ptr<std::byte[]> block, std::size_t length, std::size_t room) {
    if (length < room / 4) {
        return byte_buffer::take(std::vector<std::byte>(block.get(), block.get() + length));
    }
    const byte_view bytes{block.get(), length};
    return byte_buffer{std::move(block), bytes};
}

/// A checksum without protection against intent: two sums in each of 16 lanes, which any compiler vectorizes.  A
/// cryptographic hash takes several times as long, and would noticeably slow down inflating.
[[nodiscard]] inline std::uint64_t sum_of(byte_view bytes) noexcept {
    constexpr std::size_t lanes = 16;
    std::array<std::uint32_t, lanes> first{};
    std::array<std::uint32_t, lanes> second{};
    const auto add = [&](const std::byte* from) {
        std::array<std::uint32_t, lanes> words{};
        std::memcpy(words.data(), from, sizeof words);
        for (std::size_t i = 0; i < lanes; ++i) {
            first[i] += words[i];
            second[i] += first[i];
        }
    };
    while (bytes.size() >= sizeof first) {
        add(bytes.data());
        bytes = bytes.subspan(sizeof first);
    }
    std::array<std::byte, sizeof first> rest{};
    std::copy(bytes.begin(), bytes.end(), rest.begin());
    add(rest.data());
    return smdebug::detail::content_hash(std::as_bytes(std::span{first}),
                                         smdebug::detail::content_hash(std::as_bytes(std::span{second})));
}

SMDEBUG_INLINE decoded_source::decoded_source(std::shared_ptr<const byte_source> packed,
                                              std::shared_ptr<const codec> format, archive_options options,
                                              kept_stream kept)
    : decoded_source(std::move(packed), std::move(format), std::move(options)) {
    is_wrong_ = std::move(kept.is_wrong);
    spans_ = std::move(kept.spans);
    for (stream_span& each : spans_) {
        each.begin = length_;
        length_ += each.length;
    }
    complete_ = true;
}

SMDEBUG_INLINE std::vector<stream_span> decoded_source::spans() const {
    const std::lock_guard lock{guard_};
    return complete_ ? spans_ : std::vector<stream_span>{};
}

SMDEBUG_INLINE byte_buffer decoded_source::first_part(byte_range where) const {
    const std::optional<std::size_t> number = where.length == 0 ? std::nullopt : span_at(where.offset);
    if (!number) {
        return {};
    }
    std::uint64_t begin = 0;
    {
        const std::lock_guard lock{guard_};
        begin = spans_[*number].begin;
    }
    return span(*number).slice({where.offset - begin, where.length});
}

SMDEBUG_INLINE void decoded_source::each_part(byte_range where, function_ref<void(byte_buffer)> take) const {
    while (where.length > 0) {
        byte_buffer bytes = first_part(where);
        if (bytes.empty()) {
            return;
        }
        where.offset += bytes.size();
        where.length -= bytes.size();
        take(std::move(bytes));
    }
}

SMDEBUG_INLINE byte_buffer decoded_source::part(std::uint64_t offset, std::uint64_t most) const {
    return first_part({offset, most});
}

SMDEBUG_INLINE byte_buffer decoded_source::read(byte_range where) const {
    byte_buffer only;
    std::vector<std::byte> joined;
    each_part(where, [&](byte_buffer part) {
        if (only.empty() && joined.empty()) {
            only = std::move(part);
            return;
        }
        if (joined.empty()) {
            joined.assign(only.view().begin(), only.view().end());
        }
        joined.insert(joined.end(), part.view().begin(), part.view().end());
    });
    return joined.empty() ? only : byte_buffer::take(std::move(joined));
}

SMDEBUG_INLINE std::size_t decoded_source::read_at(std::uint64_t offset, std::span<std::byte> into) const {
    std::size_t done = 0;
    each_part({offset, into.size()}, [&](const byte_buffer& part) {
        std::copy(part.view().begin(), part.view().end(), into.begin() + static_cast<std::ptrdiff_t>(done));
        done += part.size();
    });
    return done;
}

SMDEBUG_INLINE std::uint64_t decoded_source::size() const {
    while (grow()) {
    }
    const std::lock_guard lock{guard_};
    if (broken_) {
        std::rethrow_exception(broken_);
    }
    return length_;
}

SMDEBUG_INLINE decoded_source::counts decoded_source::counted() const {
    const std::lock_guard lock{guard_};
    const auto points =
        std::count_if(spans_.begin(), spans_.end(), [](const stream_span& one) { return one.point != nullptr; });
    return {.spans = spans_.size(), .points = static_cast<std::size_t>(points), .decoded = decoded_};
}

SMDEBUG_INLINE std::optional<std::size_t> decoded_source::span_at(std::uint64_t offset) const {
    while (true) {
        {
            const std::lock_guard lock{guard_};
            if (offset < length_) {
                const auto behind =
                    std::upper_bound(spans_.begin(), spans_.end(), offset,
                                     [](std::uint64_t place, const stream_span& one) { return place < one.begin; });
                return static_cast<std::size_t>(behind - spans_.begin()) - 1;
            }
            if (complete_) {
                return std::nullopt;
            }
            if (broken_) {
                std::rethrow_exception(broken_);
            }
        }
        static_cast<void>(grow());
    }
}

SMDEBUG_INLINE bool decoded_source::grow() const {
    const std::uint64_t seen = [&] {
        const std::lock_guard lock{guard_};
        return length_;
    }();
    const std::lock_guard alone{growing_};
    {
        const std::lock_guard lock{guard_};
        if (complete_ || broken_) {
            return false;
        }
        if (length_ != seen) {
            return true;  // another thread did it meanwhile
        }
    }
    try {
        if (!frontier_) {
            frontier_ = decoder_behind_all();
        }
        std::shared_ptr<const access_point> point = frontier_->point();
        const std::shared_ptr<std::byte[]> block = blocks_.take();
        const std::size_t length = frontier_->decode({block.get(), most_span_bytes}, span_bytes);
        check_growth(seen + length, frontier_->consumed());
        const byte_buffer bytes = buffer_of(block, length, most_span_bytes);
        const std::uint64_t sum = sum_of(bytes.view());
        const std::lock_guard lock{guard_};
        if (length == 0) {
            complete_ = true;
            frontier_.reset();
            return false;
        }
        ++decoded_;
        const std::size_t number = spans_.size();
        if (number % point_stride_ != 0) {
            point.reset();
        }
        point_bytes_ += point ? point->cost() : 0;
        spans_.push_back({.begin = seen, .length = length, .sum = sum, .point = std::move(point)});
        length_ += length;
        thin_points();
        keep(number, bytes);
        return true;
    } catch (const corrupt_data&) {
        const std::lock_guard lock{guard_};
        broken_ = std::current_exception();
        frontier_.reset();
        return false;
    } catch (...) {
        frontier_.reset();  // may succeed the next time
        throw;
    }
}

SMDEBUG_INLINE std::unique_ptr<decoder> decoded_source::decoder_behind_all() const {
    std::size_t count = 0;
    {
        const std::lock_guard lock{guard_};
        count = spans_.size();
    }
    if (count == 0 && options_.threads > 1 && codec_->gains_by_threads()) {
        return std::make_unique<parallel_decoder>(packed_, codec_, options_.threads);
    }
    if (count == 0) {
        return codec_->begin(packed_, nullptr);
    }
    static_cast<void>(decode_again(count - 1));
    return take_decoder(count).by;
}

SMDEBUG_INLINE void decoded_source::check_growth(std::uint64_t bytes, std::uint64_t consumed) const {
    const bool too_large = bytes > options_.most_bytes;
    const bool too_dense = bytes > any_ratio_bytes && bytes / options_.most_ratio > consumed;
    if (too_large || too_dense) {
        throw corrupt_data(
            "the archive " + name() + " inflates to more than " +
                (too_large ? std::to_string(options_.most_bytes) + " bytes"
                           : std::to_string(options_.most_ratio) + " times its size") +
                ": it is taken for one that is meant to fill memory; archive_options say how much is allowed",
            {.where = name(), .offset = consumed});
    }
}

SMDEBUG_INLINE byte_buffer decoded_source::span(std::size_t number) const {
    {
        std::unique_lock lock{guard_};
        while (true) {
            if (byte_buffer bytes = kept(number); !bytes.empty()) {
                return bytes;
            }
            if (std::find(under_way_.begin(), under_way_.end(), number) == under_way_.end()) {
                break;
            }
            over_.wait(lock);
        }
        under_way_.push_back(number);
    }
    const auto end = [&] {
        std::erase(under_way_, number);
        over_.notify_all();
    };
    try {
        byte_buffer bytes = decode_again(number);
        const std::lock_guard lock{guard_};
        keep(number, bytes);
        end();
        return bytes;
    } catch (...) {
        const std::lock_guard lock{guard_};
        end();
        throw;
    }
}

SMDEBUG_INLINE byte_buffer decoded_source::decode_again(std::size_t number) const {
    standing from = take_decoder(number);
    while (true) {
        stream_span wanted;
        {
            const std::lock_guard lock{guard_};
            wanted = spans_[from.number];
            ++decoded_;
        }
        const std::shared_ptr<std::byte[]> block = blocks_.take();
        std::size_t length = 0;
        try {
            while (length < wanted.length) {
                const std::size_t more =
                    from.by->decode({block.get() + length, wanted.length - length}, wanted.length - length);
                if (more == 0) {
                    break;
                }
                length += more;
            }
        } catch (const corrupt_data&) {
            length = 0;  // it was not damaged when it was inflated for the first time
        }
        const byte_buffer bytes = buffer_of(block, length, most_span_bytes);
        if (length != wanted.length || sum_of(bytes.view()) != wanted.sum) {
            fail_changed(from.by->consumed());
        }
        const std::size_t done = from.number++;
        const std::lock_guard lock{guard_};
        if (done != number) {
            keep(done, bytes);
            continue;
        }
        decoders_.push_back(std::move(from));
        if (decoders_.size() > most_decoders) {
            decoders_.erase(decoders_.begin());
        }
        return bytes;
    }
}

SMDEBUG_INLINE void decoded_source::fail_changed(std::uint64_t consumed) const {
    throw unavailable("the archive " + name() +
                          (is_wrong_ ? " is not what was kept of it: " + is_wrong_()
                                     : std::string{" has changed while it was read: open it again"}),
                      {.where = name(), .offset = consumed});
}

SMDEBUG_INLINE decoded_source::standing decoded_source::take_decoder(std::size_t number) const {
    while (true) {
        std::shared_ptr<const access_point> point;
        std::size_t nearest = number;
        {
            const std::lock_guard lock{guard_};
            while (nearest > 0 && (nearest == spans_.size() || !spans_[nearest].point)) {
                --nearest;
            }
            point = nearest == spans_.size() ? nullptr : spans_[nearest].point;
            auto best = decoders_.end();
            for (auto one = decoders_.begin(); one != decoders_.end(); ++one) {
                if (one->number <= number && one->number >= nearest &&
                    (best == decoders_.end() || one->number > best->number)) {
                    best = one;
                }
            }
            if (best != decoders_.end()) {
                standing found = std::move(*best);
                decoders_.erase(best);
                return found;
            }
        }
        std::shared_ptr<const access_point> loaded = point ? point->loaded(point) : nullptr;
        if (loaded != point) {
            const std::lock_guard lock{guard_};
            const std::size_t cost = loaded != nullptr ? loaded->cost() : 0;
            if (spans_[nearest].point == point && point_bytes_ + cost <= most_point_bytes) {
                spans_[nearest].point = loaded;  // for the next time; if it fails to load, the point before it is used
                point_bytes_ += cost;
            }
        }
        if (loaded != nullptr || point == nullptr) {
            return {.number = nearest, .by = codec_->begin(packed_, loaded.get())};
        }
    }
}

SMDEBUG_INLINE byte_buffer decoded_source::kept(std::size_t number) const {
    const byte_buffer* const known = recent_.find(number);
    return known != nullptr ? *known : byte_buffer{};
}

SMDEBUG_INLINE void decoded_source::keep(std::size_t number, const byte_buffer& bytes) const {
    if (recent_.look(number) == nullptr) {
        recent_.put(number, bytes, bytes.size());
    }
}

SMDEBUG_INLINE void decoded_source::thin_points() const {
    while (point_bytes_ > most_point_bytes) {
        point_stride_ *= 2;
        for (std::size_t i = 0; i < spans_.size(); ++i) {
            if (i % point_stride_ != 0 && spans_[i].point) {
                point_bytes_ -= spans_[i].point->cost();
                spans_[i].point.reset();
            }
        }
        if (point_stride_ > spans_.size()) {
            return;
        }
    }
}

SMDEBUG_INLINE parallel_decoder::part parallel_decoder::decode_part(std::uint64_t begin, std::uint64_t end) const {
    constexpr std::size_t piece = std::size_t{1} << 20U;
    part made{.begin = begin, .end = end};
    try {
        // Read from the stream's beginning, so that offsets in messages are those of the archive.
        const auto until_end = std::make_shared<part_source>(packed_, byte_range{0, end});
        const std::unique_ptr<decoder> by = codec_->begin(until_end, codec_->part_point(begin).get());
        std::vector<std::byte> bytes;
        while (bytes.size() <= most_part_bytes) {
            const std::size_t before = bytes.size();
            bytes.resize(before + piece);
            const std::size_t more = by->decode(std::span{bytes}.subspan(before), piece);
            bytes.resize(before + more);
            if (more == 0) {
                made.bytes = std::move(bytes);
                break;
            }
        }
    } catch (const corrupt_data&) {
        // The single decoder returns the bytes before the damage, and reports the damage.
    }
    return made;
}

SMDEBUG_INLINE void parallel_decoder::look_ahead() {
    while (!no_more_ && ahead_.size() < threads_) {
        const std::optional<std::uint64_t> end = codec_->part_end(*packed_, next_begin_);
        if (!end) {
            no_more_ = true;
            return;
        }
        ahead_.push_back(std::async(std::launch::async,
                                    [this, begin = next_begin_, behind = *end] { return decode_part(begin, behind); }));
        next_begin_ = *end;
    }
}

SMDEBUG_INLINE bool parallel_decoder::next_part() {
    look_ahead();
    if (!ahead_.empty()) {
        part made = ahead_.front().get();
        ahead_.pop_front();
        if (made.bytes) {
            ++parts_;
            current_ = std::move(made);
            taken_ = 0;
            look_ahead();  // while the current part is consumed
            return true;
        }
        next_begin_ = made.begin;
        no_more_ = true;
        ahead_.clear();
    }
    alone_ = codec_->begin(packed_, next_begin_ > 0 ? codec_->part_point(next_begin_).get() : nullptr);
    current_ = {};
    return false;
}

SMDEBUG_INLINE std::size_t parallel_decoder::decode(std::span<std::byte> out, std::size_t enough) {
    std::size_t made = 0;
    while (alone_ == nullptr) {
        const std::size_t left = current_.bytes ? current_.bytes->size() - taken_ : 0;
        if (left == 0 && (made >= enough || (!next_part() && made > 0))) {
            return made;
        }
        if (alone_ != nullptr) {
            break;
        }
        const std::size_t count = std::min(current_.bytes->size() - taken_, out.size() - made);
        if (count > 0) {
            std::memcpy(out.data() + made, current_.bytes->data() + taken_, count);
        }
        taken_ += count;
        made += count;
        if (made == out.size()) {
            return made;
        }
    }
    return made > 0 ? made : alone_->decode(out, enough);
}

SMDEBUG_INLINE std::uint64_t parallel_decoder::consumed() const noexcept {
    return alone_ != nullptr ? alone_->consumed() : current_.end;
}

SMDEBUG_INLINE std::shared_ptr<const access_point> parallel_decoder::point() const {
    if (alone_ != nullptr) {
        return alone_->point();
    }
    const bool is_between = !current_.bytes || taken_ == current_.bytes->size();
    return is_between ? codec_->part_point(current_.end) : nullptr;
}

}  // namespace smdebug::inline v1::archive::detail
