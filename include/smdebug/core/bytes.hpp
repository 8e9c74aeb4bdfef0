// Bytes: borrowed views, owning buffers, ranges, little-endian loads, and a hash of them.
// The lowest layer: every other folder uses these types for bytes.
#pragma once

#if __cplusplus < 202002L
#error "smdebug needs C++20: -std=c++20 or newer (CMake: link smdebug::smdebug, which requires it)."
#elif defined(__clang__) && __clang_major__ < 14
#error "smdebug needs clang 14 or newer, or g++ 12 or newer."
#elif defined(__GNUC__) && !defined(__clang__) && __GNUC__ < 12
#error "smdebug needs g++ 12 or newer, or clang 14 or newer."
#endif

// Offsets and sizes in event files and archives are 64 bits wide, and elements are read in place from the file's bytes.
#if defined(__SIZEOF_POINTER__) && __SIZEOF_POINTER__ < 8
#error "smdebug needs a 64-bit target: runs are larger than what 32-bit addresses reach."
#elif defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "smdebug needs a little-endian target: tensors are read in place from files, which are little-endian."
#endif

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

namespace smdebug::inline v1 {

static_assert(std::endian::native == std::endian::little,
              "smdebug reads little-endian tensor data in place; a big-endian target is not supported yet");
static_assert(sizeof(std::size_t) == 8, "smdebug needs a 64-bit target: event files and tensors pass 4 GiB");

/// Bytes that are owned elsewhere.
using byte_view = std::span<const std::byte>;

/// A part of an object: `length` bytes from byte `offset` on.
struct byte_range {
    std::uint64_t offset = 0;
    std::uint64_t length = 0;
    friend constexpr bool operator==(const byte_range&, const byte_range&) = default;
};

/// All of an object, whatever its size.
inline constexpr byte_range whole_object{0, UINT64_MAX};

/// Read-only bytes together with whatever keeps them alive: a heap block, a mapped file, a cache entry.
/// Copying shares the bytes; a slice keeps the whole alive.  Cost: one reference count a copy.
class byte_buffer {
public:
    byte_buffer() = default;
    byte_buffer(std::shared_ptr<const void> owner, byte_view bytes) noexcept
        : owner_(std::move(owner)), bytes_(bytes) {}

    /// A buffer over a container of bytes (vector, string) that it takes over.
    template <class Container>
    [[nodiscard]] static byte_buffer take(Container container) {
        auto owner = std::make_shared<const Container>(std::move(container));
        const auto bytes = std::as_bytes(std::span{owner->data(), owner->size()});
        return byte_buffer{std::move(owner), bytes};
    }

    [[nodiscard]] byte_view view() const noexcept { return bytes_; }
    [[nodiscard]] const std::byte* data() const noexcept { return bytes_.data(); }
    [[nodiscard]] std::size_t size() const noexcept { return bytes_.size(); }
    [[nodiscard]] bool empty() const noexcept { return bytes_.empty(); }
    [[nodiscard]] const std::shared_ptr<const void>& owner() const noexcept { return owner_; }

    /// The part of this buffer that `where` names, cut at the buffer's end; shares ownership.
    [[nodiscard]] byte_buffer slice(byte_range where) const noexcept {
        const std::size_t begin = where.offset < size() ? std::size_t{where.offset} : size();
        const std::size_t left = size() - begin;
        const std::size_t count = where.length < left ? std::size_t{where.length} : left;
        return byte_buffer{owner_, bytes_.subspan(begin, count)};
    }

private:
    std::shared_ptr<const void> owner_;
    byte_view bytes_;
};

/// A little-endian scalar at `from`, which needs no alignment.  The caller has checked that its bytes are there.
template <class Scalar>
    requires std::is_trivially_copyable_v<Scalar>
[[nodiscard]] inline Scalar load_le(const std::byte* from) noexcept {
    Scalar value;
    std::memcpy(&value, from, sizeof(Scalar));
    return value;
}

/// Stores a scalar at `to` as load_le() reads it.
template <class Scalar>
    requires std::is_trivially_copyable_v<Scalar>
inline void store_le(std::byte* to, const Scalar& value) noexcept {
    std::memcpy(to, &value, sizeof(Scalar));
}

/// Text as bytes and bytes as text; both borrow.
[[nodiscard]] inline byte_view as_bytes(std::string_view text) noexcept {
    return std::as_bytes(std::span{text.data(), text.size()});
}
[[nodiscard]] inline std::string_view as_text(byte_view bytes) noexcept {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

namespace detail {

/// The sum, or the largest number if it overflows.
[[nodiscard]] constexpr std::uint64_t bounded_sum(std::uint64_t a, std::uint64_t b) noexcept {
    return a <= UINT64_MAX - b ? a + b : UINT64_MAX;
}

/// Whether two texts are equal.  Inlined, as names are too short for a call of memcmp() to be worth it.
[[nodiscard]] inline bool is_same_text(std::string_view a, std::string_view b) noexcept {
    constexpr std::size_t word = sizeof(std::uint64_t);
    if (a.size() != b.size()) {
        return false;
    }
    if (a.size() < word) {
        return a == b;
    }
    const auto differ = [&](std::size_t at) {
        return std::memcmp(a.data() + at, b.data() + at, word) != 0;  // two loads
    };
    for (std::size_t at = 0; at < a.size() - word; at += word) {
        if (differ(at)) {
            return false;
        }
    }
    return !differ(a.size() - word);  // overlaps the words before
}

/// The usual limit on a record of an event file: protobuf's limit for a message is 2 GiB, and the record's frame adds
/// to that.
inline constexpr std::uint64_t usual_most_record_bytes = (std::uint64_t{1} << 31U) + 64;

/// XXH64 of `bytes`. Cost: one pass, at some GB/s.
[[nodiscard]] inline std::uint64_t content_hash(byte_view bytes, std::uint64_t seed = 0) noexcept {
    constexpr std::uint64_t p1 = 0x9E3779B185EBCA87U;
    constexpr std::uint64_t p2 = 0xC2B2AE3D27D4EB4FU;
    constexpr std::uint64_t p3 = 0x165667B19E3779F9U;
    constexpr std::uint64_t p4 = 0x85EBCA77C2B2AE63U;
    constexpr std::uint64_t p5 = 0x27D4EB2F165667C5U;
    const auto round = [](std::uint64_t lane, std::uint64_t word) { return std::rotl(lane + word * p2, 31) * p1; };

    const std::byte* next = bytes.data();
    std::size_t left = bytes.size();
    std::uint64_t hash = seed + p5;
    if (left >= 32) {
        std::uint64_t lanes[] = {seed + p1 + p2, seed + p2, seed, seed - p1};
        for (; left >= 32; left -= 32, next += 32) {
            for (std::size_t i = 0; i < 4; ++i) {
                lanes[i] = round(lanes[i], load_le<std::uint64_t>(next + 8 * i));
            }
        }
        hash = std::rotl(lanes[0], 1) + std::rotl(lanes[1], 7) + std::rotl(lanes[2], 12) + std::rotl(lanes[3], 18);
        for (const std::uint64_t lane : lanes) {
            hash = (hash ^ round(0, lane)) * p1 + p4;
        }
    }
    hash += bytes.size();
    for (; left >= 8; left -= 8, next += 8) {
        hash = std::rotl(hash ^ round(0, load_le<std::uint64_t>(next)), 27) * p1 + p4;
    }
    if (left >= 4) {
        hash = std::rotl(hash ^ (load_le<std::uint32_t>(next) * p1), 23) * p2 + p3;
        left -= 4;
        next += 4;
    }
    for (; left > 0; --left, ++next) {
        hash = std::rotl(hash ^ (std::to_integer<std::uint64_t>(*next) * p5), 11) * p1;
    }
    hash = (hash ^ (hash >> 33U)) * p2;
    hash = (hash ^ (hash >> 29U)) * p3;
    return hash ^ (hash >> 32U);
}

}  // namespace detail
}  // namespace smdebug::inline v1
