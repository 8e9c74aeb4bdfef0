// The bodies of <smdebug/archive/stream/decoded_source.hpp>.
#pragma once

#include <smdebug/archive/stream/decoded_source.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/storage/cache/content_hash.hpp>

#include <algorithm>
#include <utility>

namespace smdebug {
inline namespace v1 {
namespace archive {
namespace detail {

/// Its bytes have no values yet.
[[nodiscard]] inline std::shared_ptr<std::byte[]> new_block(std::size_t length) {
    return std::shared_ptr<std::byte[]>{new std::byte[length]};
}

/// `length` bytes at the front of a block; a block that is mostly empty is not kept.
[[nodiscard]] inline byte_buffer buffer_of(std::shared_ptr<std::byte[]> block, std::size_t length, std::size_t room) {
    if (length < room / 2) {
        const auto small = new_block(length);
        std::copy_n(block.get(), length, small.get());
        block = small;
    }
    const byte_view bytes{block.get(), length};
    return byte_buffer{std::move(block), bytes};
}

SMDEBUG_INLINE byte_buffer decoded_source::read(byte_range where) const {
    std::optional<std::size_t> number = where.length == 0 ? std::nullopt : span_at(where.offset);
    if (!number) {
        return {};
    }
    std::vector<std::byte> joined;
    std::uint64_t place = where.offset;
    std::uint64_t left = where.length;
    while (number) {
        std::uint64_t begin = 0;
        {
            const std::lock_guard lock{guard_};
            begin = spans_[*number].begin;
        }
        const byte_buffer part = span(*number).slice({place - begin, left});
        if (joined.empty() && part.size() == left) {
            return part;
        }
        joined.insert(joined.end(), part.view().begin(), part.view().end());
        place += part.size();
        left -= part.size();
        number = left == 0 ? std::nullopt : span_at(place);
    }
    return byte_buffer::take(std::move(joined));
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
        std::count_if(spans_.begin(), spans_.end(), [](const span_of_stream& one) { return one.point != nullptr; });
    return {.spans = spans_.size(), .points = static_cast<std::size_t>(points), .decoded = decoded_};
}

SMDEBUG_INLINE std::optional<std::size_t> decoded_source::span_at(std::uint64_t offset) const {
    while (true) {
        {
            const std::lock_guard lock{guard_};
            if (offset < length_) {
                const auto behind =
                    std::upper_bound(spans_.begin(), spans_.end(), offset,
                                     [](std::uint64_t place, const span_of_stream& one) { return place < one.begin; });
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
        const auto block = new_block(most_span_bytes);
        const std::size_t length = frontier_->decode({block.get(), most_span_bytes}, span_bytes);
        check_growth(seen + length, frontier_->consumed());
        const byte_buffer bytes = buffer_of(block, length, most_span_bytes);
        const std::uint64_t sum = smdebug::detail::content_hash(bytes.view());
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
        frontier_.reset();  // it may work the next time
        throw;
    }
}

SMDEBUG_INLINE std::unique_ptr<decoder> decoded_source::decoder_behind_all() const {
    std::size_t count = 0;
    {
        const std::lock_guard lock{guard_};
        count = spans_.size();
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
        span_of_stream wanted;
        {
            const std::lock_guard lock{guard_};
            wanted = spans_[from.number];
            ++decoded_;
        }
        const auto block = new_block(wanted.length);
        std::size_t length = 0;
        while (length < wanted.length) {
            const std::size_t more =
                from.by->decode({block.get() + length, wanted.length - length}, wanted.length - length);
            if (more == 0) {
                break;
            }
            length += more;
        }
        const byte_buffer bytes{block, {block.get(), length}};
        if (length != wanted.length || smdebug::detail::content_hash(bytes.view()) != wanted.sum) {
            throw unavailable("the archive " + name() + " has changed while it was read: open it again",
                              {.where = name(), .offset = from.by->consumed()});
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

SMDEBUG_INLINE decoded_source::standing decoded_source::take_decoder(std::size_t number) const {
    std::shared_ptr<const access_point> point;
    std::size_t nearest = 0;
    {
        const std::lock_guard lock{guard_};
        nearest = number;
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
    return {.number = nearest, .by = codec_->begin(packed_, point.get())};
}

SMDEBUG_INLINE byte_buffer decoded_source::kept(std::size_t number) const {
    const auto place = places_.find(number);
    if (place == places_.end()) {
        return {};
    }
    recent_.splice(recent_.begin(), recent_, place->second);
    return recent_.front().bytes;
}

SMDEBUG_INLINE void decoded_source::keep(std::size_t number, const byte_buffer& bytes) const {
    if (places_.contains(number)) {
        return;
    }
    recent_.push_front({number, bytes});
    places_.emplace(number, recent_.begin());
    kept_bytes_ += bytes.size();
    while (kept_bytes_ > options_.memory_bytes && recent_.size() > 2) {
        kept_bytes_ -= recent_.back().bytes.size();
        places_.erase(recent_.back().number);
        recent_.pop_back();
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

}  // namespace detail
}  // namespace archive
}  // namespace v1
}  // namespace smdebug
