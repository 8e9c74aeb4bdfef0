// The digest of a tensor: 64 bits of its dtype, shape and bits, the same on every CPU; two tensors with equal digests
// are taken for equal.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/dtype.hpp>
#include <smdebug/reduce/concepts.hpp>
#include <smdebug/tensor/tensor_view.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace smdebug::inline v1 {
namespace reduce::detail {

// The definition.
//
// The content of a tensor is its elements in C order, little-endian, a boolean as one byte, a complex number as re, im:
// n bytes.  Its words w_0, w_1, ... are the 64-bit little-endian numbers that these bytes are, the last one filled up
// with zero bytes.  All arithmetic is modulo 2^64:
//
//   mix(x):  x ^= x >> 30;  x *= 0xBF58476D1CE4E5B9;  x ^= x >> 27;  x *= 0x94D049BB133111EB;  x ^= x >> 31
//   s = the sum of mix(w_i + (i + 1) * 0x9E3779B97F4A7C15) over all words
//   h = s;  for each v of (dtype number, rank, extents ..., n):  h = mix((h ^ v) + 0x9E3779B97F4A7C15)
//
// and h, as a signed number, is the digest.  mix is the finalizer of splitmix64: it maps each word to another one, so
// that a change of one word always changes the digest.  Words are mixed independently of each other, so that vectors
// and GPUs compute many at a time, and a tensor may be hashed piece by piece.
inline constexpr std::uint64_t digest_stride = 0x9E3779B97F4A7C15U;
inline constexpr std::uint64_t first_factor = 0xBF58476D1CE4E5B9U;
inline constexpr std::uint64_t second_factor = 0x94D049BB133111EBU;

/// `Tag` keeps code that is compiled for different CPUs apart.
template <class Tag>
[[nodiscard]] constexpr std::uint64_t mixed(std::uint64_t x) noexcept {
    x = (x ^ (x >> 30U)) * first_factor;
    x = (x ^ (x >> 27U)) * second_factor;
    return x ^ (x >> 31U);
}

/// The sum of the mixed words at `at`, any alignment; the first is word `first` of its tensor.
template <class Tag>
[[nodiscard]] inline std::uint64_t sum_of_mixed(const std::byte* at, std::size_t words, std::uint64_t first) noexcept {
    constexpr std::size_t size = sizeof(std::uint64_t);
    constexpr std::size_t side_by_side = 4;  // one alone would wait for each of its multiplications
    std::array<std::uint64_t, side_by_side> sums{};
    std::uint64_t key = (first + 1) * digest_stride;
    for (; words >= side_by_side; words -= side_by_side, at += side_by_side * size) {
        for (std::size_t i = 0; i < side_by_side; ++i) {
            sums[i] += mixed<Tag>(load_le<std::uint64_t>(at + i * size) + key + i * digest_stride);
        }
        key += side_by_side * digest_stride;
    }
    for (; words > 0; --words, at += size, key += digest_stride) {
        sums[0] += mixed<Tag>(load_le<std::uint64_t>(at) + key);
    }
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

/// Mixes words with plain loops: the default where no kernel is given.
struct plain_mixer {
    [[nodiscard]] std::uint64_t mix_words(byte_view words, std::uint64_t first) const noexcept {
        return sum_of_mixed<plain_mixer>(words.data(), words.size() / sizeof(std::uint64_t), first);
    }
};

/// The digest of a tensor whose mixed words have that sum.
[[nodiscard]] inline std::int64_t digest_of_sum(std::uint64_t sum, std::uint64_t bytes, dtype type,
                                                std::span<const std::size_t> shape) noexcept {
    std::uint64_t hash = sum;
    const auto add = [&](std::uint64_t value) { hash = mixed<plain_mixer>((hash ^ value) + digest_stride); };
    add(static_cast<std::uint64_t>(type));
    add(shape.size());
    for (const std::size_t extent : shape) {
        add(extent);
    }
    add(bytes);
    return static_cast<std::int64_t>(hash);
}

/// A digest whose content comes in pieces of any length, in order.
/// Borrows: the kernel.
template <smdebug::detail::word_mixer Kernel>
class running_digest {
public:
    explicit running_digest(const Kernel& kernel) noexcept : kernel_(&kernel) {}

    /// Cost: one pass over the bytes.
    void add(byte_view piece) noexcept {
        constexpr std::size_t size = sizeof(std::uint64_t);
        const std::uint64_t begun = bytes_ % size;
        bytes_ += piece.size();
        if (begun != 0) {
            const byte_view head = piece.first(std::min<std::size_t>(size - begun, piece.size()));
            piece = piece.subspan(head.size());
            std::copy(head.begin(), head.end(), rest_.begin() + static_cast<std::ptrdiff_t>(begun));
            if (begun + head.size() < size) {
                return;
            }
            mix(rest_);
        }
        const byte_view whole = piece.first(piece.size() / size * size);
        if (!whole.empty()) {
            mix(whole);
        }
        const byte_view tail = piece.subspan(whole.size());
        rest_ = {};
        std::copy(tail.begin(), tail.end(), rest_.begin());
    }

    /// The bytes that were added.
    [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }

    /// The digest of a tensor of that dtype and shape with these bytes.
    [[nodiscard]] std::int64_t value(dtype type, std::span<const std::size_t> shape) const noexcept {
        const bool is_whole = bytes_ % sizeof(std::uint64_t) == 0;
        return digest_of_sum(sum_ + (is_whole ? 0 : kernel_->mix_words(rest_, words_)), bytes_, type, shape);
    }

private:
    void mix(byte_view words) noexcept {
        sum_ += kernel_->mix_words(words, words_);
        words_ += words.size() / sizeof(std::uint64_t);
    }

    const Kernel* kernel_;
    std::uint64_t sum_ = 0;
    std::uint64_t words_ = 0;
    std::uint64_t bytes_ = 0;
    std::array<std::byte, sizeof(std::uint64_t)> rest_{};  // the word that is not complete, filled up with zeros
};

}  // namespace reduce::detail

/// Whether tensors of a dtype have a digest: numbers and booleans; not text.
[[nodiscard]] constexpr bool has_digest(dtype type) noexcept { return size_of(type) != 0; }

/// The digest of a tensor whose dtype has one: eight bytes that stand for its dtype, shape and bits, the same on every
/// machine; docs/guarantees.md defines them.  0.0 and -0.0 differ, and so do NaN patterns.  Tensors that differ in one
/// word of 64 bits have different digests; others collide by chance at one pair in 2^64.  No protection against malice.
/// `kernel` makes no difference to the result: `default_kernel{}` of reduce/default_kernel.hpp computes with the CPU's
/// vectors, two to five times as fast as plain loops.  Cost: one pass over the bytes.
template <detail::word_mixer Kernel = reduce::detail::plain_mixer>
[[nodiscard]] std::int64_t digest_of(const tensor_view& tensor, const Kernel& kernel = {}) noexcept {
    reduce::detail::running_digest<Kernel> digest{kernel};
    digest.add(tensor.bytes);
    return digest.value(tensor.type, tensor.shape);
}

}  // namespace smdebug::inline v1
