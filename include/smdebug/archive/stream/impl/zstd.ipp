// The bodies of <smdebug/archive/stream/zstd.hpp>.
#pragma once

#include <smdebug/archive/stream/byte_source.hpp>
#include <smdebug/archive/stream/zstd.hpp>
#include <smdebug/core/error.hpp>

#include <zstd.h>

#include <cstddef>
#include <cstdint>
#include <new>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace smdebug::inline v1::archive::detail {
namespace zstd {

/// Before a frame.
struct place final : access_point {
    explicit place(std::uint64_t where) : offset(where) {}
    std::uint64_t offset;
    [[nodiscard]] std::size_t cost() const noexcept override { return sizeof(place); }
    [[nodiscard]] std::vector<std::byte> written() const override {
        std::vector<std::byte> bytes(sizeof offset);
        store_le(bytes.data(), offset);
        return bytes;
    }
};

class decompressor final : public decoder {
public:
    decompressor(std::shared_ptr<const byte_source> packed, std::uint64_t offset)
        : input_(std::move(packed), offset), stream_(ZSTD_createDStream()) {
        if (!stream_) {
            throw std::bad_alloc{};
        }
    }

    [[nodiscard]] std::size_t decode(std::span<std::byte> out, std::size_t enough) override {
        if (!what_.empty()) {
            return told_later(0, what_);
        }
        ZSTD_outBuffer to{out.data(), out.size(), 0};
        while (to.pos < to.size && (to.pos < enough || !between_frames_)) {
            const bool is_more = input_.more();
            if (!is_more && between_frames_) {
                break;
            }
            const byte_view packed = input_.view();
            ZSTD_inBuffer from{packed.data(), packed.size(), 0};
            const std::size_t before = to.pos;
            const std::size_t status = ZSTD_decompressStream(stream_.get(), &to, &from);
            input_.take(from.pos);
            if (ZSTD_isError(status) != 0U) {
                return told_later(to.pos, ZSTD_getErrorName(status));
            }
            between_frames_ = status == 0;
            if (!is_more && !between_frames_ && to.pos == before) {
                return told_later(to.pos, "the data end inside of a frame: they are cut");
            }
        }
        return to.pos;
    }

    [[nodiscard]] std::uint64_t consumed() const noexcept override { return input_.offset(); }
    [[nodiscard]] std::shared_ptr<const access_point> point() const override {
        return between_frames_ ? std::make_shared<place>(input_.offset()) : nullptr;
    }

private:
    struct free_stream {
        void operator()(ZSTD_DStream* stream) const noexcept { ZSTD_freeDStream(stream); }
    };

    // Bytes before the damage are returned first: the next call meets it again.
    std::size_t told_later(std::size_t made, const std::string& what) {
        if (what_.empty()) {
            what_ = what;
        }
        if (made > 0) {
            return made;
        }
        throw corrupt_data("the archive " + input_.source().name() + ", compressed by zstd: at byte " +
                               std::to_string(input_.offset()) + ": " + what_ + "; what comes before can be read",
                           {.where = input_.source().name(), .offset = input_.offset()});
    }

    packed_input input_;
    std::unique_ptr<ZSTD_DStream, free_stream> stream_;
    bool between_frames_ = true;
    std::string what_;
};

class format final : public codec {
public:
    [[nodiscard]] std::unique_ptr<decoder> begin(std::shared_ptr<const byte_source> packed,
                                                 const access_point* from) const override {
        return std::make_unique<decompressor>(std::move(packed),
                                              from != nullptr ? static_cast<const place*>(from)->offset : 0);
    }
    [[nodiscard]] std::optional<std::uint64_t> part_end(const byte_source& packed, std::uint64_t begin) const override {
        std::uint64_t end = begin;
        byte_buffer piece;
        std::uint64_t piece_begin = begin;
        while (end - begin < enough_for_part && end < packed.size()) {
            byte_buffer rest = piece.slice({end - piece_begin, piece.size()});
            std::size_t size = ZSTD_findFrameCompressedSize(rest.data(), rest.size());
            for (std::uint64_t length = 2 * enough_for_part; ZSTD_isError(size) != 0U && length <= most_for_part;) {
                piece = packed.read({end, length});
                piece_begin = end;
                size = ZSTD_findFrameCompressedSize(piece.data(), piece.size());
                length = piece.size() < length ? most_for_part + 1 : 4 * length;  // the whole input: more does not help
            }
            if (ZSTD_isError(size) != 0U || size == 0) {
                break;
            }
            end += size;
        }
        return end > begin ? std::optional{end} : std::nullopt;
    }
    [[nodiscard]] bool gains_by_threads() const noexcept override { return false; }  // 0.66 x on two, where gzip gains
    [[nodiscard]] std::shared_ptr<const access_point> part_point(std::uint64_t begin) const override {
        return std::make_shared<place>(begin);
    }
    [[nodiscard]] std::shared_ptr<const access_point> restore(byte_view written) const override {
        return written.size() == sizeof(std::uint64_t) ? std::make_shared<place>(load_le<std::uint64_t>(written.data()))
                                                       : nullptr;
    }
    [[nodiscard]] std::string_view name() const noexcept override { return "zstd"; }
};

}  // namespace zstd

SMDEBUG_INLINE std::shared_ptr<const codec> zstd_codec() { return std::make_shared<zstd::format>(); }

}  // namespace smdebug::inline v1::archive::detail
