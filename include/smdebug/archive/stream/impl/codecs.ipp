// The bodies of <smdebug/archive/stream/codecs.hpp>.
#pragma once

#include <smdebug/archive/stream/byte_source.hpp>
#include <smdebug/archive/stream/codecs.hpp>
#include <smdebug/core/error.hpp>

#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <new>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace smdebug::inline v1::archive::detail {
namespace deflate {

inline constexpr std::size_t window_bytes = 32'768;
inline constexpr int raw_bits = -15;
inline constexpr int gzip_bits = 15 + 16;

/// Where decoding can begin.
struct place final : access_point {
    std::uint64_t offset = 0;  ///< of the next whole byte
    int bits = 0;              ///< unused bits of the byte before it
    int byte = 0;              ///< that byte
    bool at_head = false;      ///< before a member's head: no window, no bits
    std::unique_ptr<std::array<unsigned char, window_bytes>> window;
    unsigned window_length = 0;

    [[nodiscard]] std::size_t cost() const noexcept override { return sizeof(place) + (window ? window_bytes : 0); }

    // offset (8 bytes) | bits | byte | whether at a head | whether the window is deflated | its length (4) | window
    static constexpr std::size_t head_bytes = 16;
    [[nodiscard]] std::vector<std::byte> written() const override {
        const byte_view plain = window ? std::as_bytes(std::span{*window}).first(window_length) : byte_view{};
        uLongf length = compressBound(window_length);
        std::vector<std::byte> bytes(head_bytes + length);
        // The parameters of a model hardly compress: the fastest level suffices.
        const bool is_packed = compress2(reinterpret_cast<Bytef*>(bytes.data() + head_bytes), &length,
                                         reinterpret_cast<const Bytef*>(plain.data()), window_length, 1) == Z_OK &&
                               length < plain.size();
        if (!is_packed) {
            std::copy(plain.begin(), plain.end(), bytes.begin() + head_bytes);
        }
        bytes.resize(head_bytes + (is_packed ? length : plain.size()));
        store_le(bytes.data(), offset);
        bytes[8] = static_cast<std::byte>(bits);
        bytes[9] = static_cast<std::byte>(byte);
        bytes[10] = static_cast<std::byte>(at_head);
        bytes[11] = static_cast<std::byte>(is_packed);
        store_le(bytes.data() + 12, static_cast<std::uint32_t>(window_length));
        return bytes;
    }
    [[nodiscard]] static std::shared_ptr<const place> restored(byte_view bytes) {
        if (bytes.size() < head_bytes) {
            return nullptr;
        }
        const auto number = [&](std::size_t i) { return std::to_integer<int>(bytes[i]); };
        auto made = std::make_shared<place>();
        made->offset = load_le<std::uint64_t>(bytes.data());
        made->bits = number(8);
        made->byte = number(9);
        made->at_head = number(10) == 1;
        made->window_length = load_le<std::uint32_t>(bytes.data() + 12);
        const byte_view rest = bytes.subspan(head_bytes);
        const bool has_bits = made->bits <= 7 && (!made->at_head || made->bits == 0);
        if (!has_bits || number(10) > 1 || number(11) > 1 || made->window_length > window_bytes ||
            (made->at_head && made->window_length > 0)) {
            return nullptr;
        }
        made->window = made->at_head ? nullptr : std::make_unique<std::array<unsigned char, window_bytes>>();
        if (number(11) == 0) {
            if (rest.size() != made->window_length) {
                return nullptr;
            }
            if (!rest.empty()) {
                std::memcpy(made->window->data(), rest.data(), rest.size());
            }
            return made;
        }
        uLongf length = made->window_length;
        const bool is_whole = length > 0 &&
                              uncompress(made->window->data(), &length, reinterpret_cast<const Bytef*>(rest.data()),
                                         rest.size()) == Z_OK &&
                              length == made->window_length;
        return is_whole ? made : nullptr;
    }
};

class inflater final : public decoder {
public:
    inflater(std::shared_ptr<const byte_source> packed, deflate_wrap wrap, const place* from)
        : input_(std::move(packed), from != nullptr ? from->offset : 0), wrap_(wrap) {
        const bool at_head = wrap_ == deflate_wrap::gzip && (from == nullptr || from->at_head);
        without_head_ = !at_head;
        if (inflateInit2(&stream_, at_head ? gzip_bits : raw_bits) != Z_OK) {
            throw std::bad_alloc{};
        }
        if (from != nullptr && !at_head) {
            if (from->bits > 0) {
                inflatePrime(&stream_, from->bits, from->byte >> (8 - from->bits));
            }
            if (from->window_length > 0) {
                inflateSetDictionary(&stream_, from->window->data(), from->window_length);
            }
        }
        at_head_ = at_head;
        in_member_ = !at_head;
    }
    inflater(const inflater&) = delete;
    inflater& operator=(const inflater&) = delete;
    ~inflater() override { inflateEnd(&stream_); }

    [[nodiscard]] std::size_t decode(std::span<std::byte> out, std::size_t enough) override {
        // Even without input zlib may have more output, or find the end in bits that it holds.  Between two blocks it
        // may need several calls that make no visible progress.
        constexpr int most_idle_calls = 16;
        int idle_calls = 0;
        std::size_t made = 0;
        at_block_ = false;
        while (made < out.size() && !over_) {
            if (!input_.more()) {
                if (!in_member_) {
                    over_ = true;
                    break;
                }
                if (idle_calls == most_idle_calls) {
                    if (made > 0) {
                        return made;  // the next call reports it
                    }
                    damaged("ends inside of its compressed data: it is cut");
                }
            }
            if (at_head_ && !begin_member(made)) {
                return made;
            }
            const byte_view packed = input_.view();
            const std::size_t room = std::min<std::size_t>(out.size() - made, std::numeric_limits<uInt>::max());
            // zlib does not write to what it reads.
            stream_.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(packed.data()));
            stream_.avail_in = static_cast<uInt>(packed.size());
            stream_.next_out = reinterpret_cast<Bytef*>(out.data() + made);
            stream_.avail_out = static_cast<uInt>(room);
            const int status = inflate(&stream_, Z_BLOCK);
            const std::size_t used = packed.size() - stream_.avail_in;
            if (used > 0) {
                last_byte_ = std::to_integer<int>(packed[used - 1]);
            }
            input_.take(used);
            const std::size_t given = room - stream_.avail_out;
            made += given;
            idle_calls = used == 0 && given == 0 ? idle_calls + 1 : 0;
            if (status == Z_STREAM_END) {
                end_member();
            } else if (status == Z_MEM_ERROR) {
                throw std::bad_alloc{};
            } else if (status != Z_OK && status != Z_BUF_ERROR) {
                if (made > 0) {
                    return made;  // the next call meets it again
                }
                damaged(stream_.msg != nullptr ? stream_.msg : "is not what it says");
            }
            at_block_ = !at_head_ && (stream_.data_type & 128) != 0 && (stream_.data_type & 64) == 0;
            if (made >= enough && (at_block_ || at_head_)) {
                break;
            }
        }
        return made;
    }

    [[nodiscard]] std::uint64_t consumed() const noexcept override { return input_.offset(); }

    [[nodiscard]] std::shared_ptr<const access_point> point() const override {
        if (!at_block_ && !at_head_) {
            return nullptr;
        }
        auto here = std::make_shared<place>();
        here->offset = input_.offset();
        here->at_head = at_head_;
        if (!at_head_) {
            here->bits = stream_.data_type & 7;
            here->byte = last_byte_;
            here->window = std::make_unique<std::array<unsigned char, window_bytes>>();
            inflateGetDictionary(const_cast<z_stream*>(&stream_), here->window->data(), &here->window_length);
        }
        return here;
    }

private:
    // Before a member's head: either a valid head or the end must follow.  Returns false if neither does, which the
    // next call reports.
    bool begin_member(std::size_t made) {
        if (first_member_) {
            first_member_ = false;
        } else if (std::to_integer<int>(input_.view().front()) != 0x1F) {
            if (made > 0) {
                return false;
            }
            if (only_zeros_left()) {  // padding, as tapes and some tools leave it
                over_ = true;
                return false;
            }
            damaged("has other bytes behind its compressed data");
        }
        at_head_ = false;
        in_member_ = true;
        return true;
    }

    void end_member() {
        if (wrap_ == deflate_wrap::none) {
            over_ = true;
            in_member_ = false;
            return;
        }
        if (without_head_) {  // checksum and length, which the decoder that had the head checks
            for (std::size_t left = 8; left > 0;) {
                if (!input_.more()) {
                    break;
                }
                const std::size_t count = std::min(left, input_.view().size());
                input_.take(count);
                left -= count;
            }
            without_head_ = false;
        }
        inflateReset2(&stream_, gzip_bits);
        first_member_ = false;
        at_head_ = true;
        in_member_ = false;
    }

    [[nodiscard]] bool only_zeros_left() {
        while (input_.more()) {
            const byte_view left = input_.view();
            if (std::any_of(left.begin(), left.end(), [](std::byte one) { return one != std::byte{0}; })) {
                return false;
            }
            input_.take(left.size());
        }
        return true;
    }

    [[noreturn]] void damaged(const std::string& what) const {
        throw corrupt_data("the archive " + input_.source().name() + ", compressed by deflate: at byte " +
                               std::to_string(input_.offset()) + " " + what + "; what comes before can be read",
                           {.where = input_.source().name(), .offset = input_.offset()});
    }

    packed_input input_;
    deflate_wrap wrap_;
    z_stream stream_{};
    int last_byte_ = 0;
    bool without_head_ = false;  // began inside a member: its checksum is not checked
    bool at_head_ = false;       // the next byte is the first one of a member's head, or there is none
    bool first_member_ = true;
    bool in_member_ = false;
    bool at_block_ = false;
    bool over_ = false;
};

/// The size of a member as its head, which begins with these bytes, stores it; 0 if it stores none.
[[nodiscard]] inline std::uint64_t told_size(byte_view head) {
    constexpr std::size_t fixed = 12;
    const bool has_fields = head.size() >= fixed && head[0] == std::byte{0x1F} && head[1] == std::byte{0x8B} &&
                            head[2] == std::byte{8} && (head[3] & std::byte{4}) != std::byte{0};
    if (!has_fields) {
        return 0;
    }
    byte_view fields = head.subspan(fixed);
    fields = fields.first(std::min<std::size_t>(fields.size(), load_le<std::uint16_t>(head.data() + 10)));
    while (fields.size() >= 4) {
        const std::string_view name = as_text(fields.first(2));
        const std::size_t length = load_le<std::uint16_t>(fields.data() + 2);
        if (fields.size() - 4 < length) {
            return 0;
        }
        if (name == "BC" && length == 2) {
            return std::uint64_t{load_le<std::uint16_t>(fields.data() + 4)} + 1;
        }
        if (name == "SD" && length == 4) {
            return std::uint64_t{load_le<std::uint32_t>(fields.data() + 4)} + 1;
        }
        fields = fields.subspan(4 + length);
    }
    return 0;
}

class format final : public codec {
public:
    explicit format(deflate_wrap wrap) noexcept : wrap_(wrap) {}

    [[nodiscard]] std::unique_ptr<decoder> begin(std::shared_ptr<const byte_source> packed,
                                                 const access_point* from) const override {
        return std::make_unique<inflater>(std::move(packed), wrap_, static_cast<const place*>(from));
    }
    [[nodiscard]] std::optional<std::uint64_t> part_end(const byte_source& packed, std::uint64_t begin) const override {
        constexpr std::uint64_t head_bytes = 512;  // more than such heads have
        std::uint64_t end = begin;
        byte_buffer piece;
        std::uint64_t piece_begin = begin;
        while (wrap_ == deflate_wrap::gzip && end - begin < enough_for_part) {
            if (end - piece_begin + head_bytes > piece.size()) {
                piece = packed.read({end, enough_for_part});
                piece_begin = end;
            }
            const std::uint64_t size = told_size(piece.slice({end - piece_begin, head_bytes}).view());
            if (size == 0 || size > most_for_part || size > packed.size() - end) {
                break;
            }
            end += size;
        }
        return end > begin ? std::optional{end} : std::nullopt;
    }
    [[nodiscard]] bool gains_by_threads() const noexcept override { return true; }
    [[nodiscard]] std::shared_ptr<const access_point> part_point(std::uint64_t begin) const override {
        auto before = std::make_shared<place>();
        before->offset = begin;
        before->at_head = true;
        return before;
    }
    [[nodiscard]] std::shared_ptr<const access_point> restore(byte_view written) const override {
        std::shared_ptr<const place> made = place::restored(written);
        return made != nullptr && made->at_head && wrap_ == deflate_wrap::none ? nullptr : made;
    }
    [[nodiscard]] std::string_view name() const noexcept override {
        return wrap_ == deflate_wrap::gzip ? "gzip" : "deflate";
    }

private:
    deflate_wrap wrap_;
};

}  // namespace deflate

SMDEBUG_INLINE std::shared_ptr<const codec> deflate_codec(deflate_wrap wrap) {
    return std::make_shared<deflate::format>(wrap);
}

SMDEBUG_INLINE std::uint32_t crc32_of(byte_view bytes) noexcept {
    return static_cast<std::uint32_t>(crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

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
