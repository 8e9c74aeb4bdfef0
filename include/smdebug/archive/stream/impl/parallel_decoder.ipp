// The bodies of <smdebug/archive/stream/parallel_decoder.hpp>.
#pragma once

#include <smdebug/archive/stream/parallel_decoder.hpp>
#include <smdebug/core/error.hpp>

#include <algorithm>
#include <cstring>

namespace smdebug {
inline namespace v1 {
namespace archive {
namespace detail {

SMDEBUG_INLINE parallel_decoder::part parallel_decoder::decode_part(std::uint64_t begin, std::uint64_t end) const {
    constexpr std::size_t piece = std::size_t{1} << 20U;
    part made{.begin = begin, .end = end};
    try {
        // From the stream's beginning, so that offsets in messages are those of the archive.
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
        // Who goes on alone gives what comes before the damage, and tells of it.
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
            look_ahead();  // while this one is taken
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

}  // namespace detail
}  // namespace archive
}  // namespace v1
}  // namespace smdebug
