// The hash by which rules and learning compare tensors without keeping them: 128 bits of dtype, shape and bytes.
// A second one beside the digest: it is never written to a run, so that it is free to use one 32-bit multiplication
// for eight bytes, which all vectors have, where the digest, whose definition is fixed, takes two of 64 bits.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/dtype.hpp>
#include <smdebug/reduce/digest.hpp>
#include <smdebug/tensor/tensor_view.hpp>

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>

namespace smdebug::inline v1::reduce::detail {

/// Different tensors collide by chance at most once in 2^64 pairs.  No protection against malice.
struct tensor_hash {
    std::uint64_t low = 0;
    std::uint64_t high = 0;
    [[nodiscard]] friend bool operator==(const tensor_hash&, const tensor_hash&) = default;
};

// Bytes are taken in stripes of eight words, the last one filled up with zeros.  Each word adds the product of its
// halves, after a key was mixed in that differs from stripe to stripe of a block, to its own sum, and itself to its
// neighbour's, as in XXH3: one multiplication of 32 bits for eight bytes, which all vectors have.  After each block
// every sum is mixed.
inline constexpr std::size_t words_of_a_stripe = 8;
inline constexpr std::size_t stripe_size = words_of_a_stripe * sizeof(std::uint64_t);
inline constexpr std::size_t stripes_of_a_block = 16;
inline constexpr std::uint64_t sum_factor = 0x9E3779B1U;

/// The key of word j of stripe i of a block is at i + j.  `Tag`: as of mixed().
template <class Tag>
inline constexpr auto hash_keys = [] {
    std::array<std::uint64_t, stripes_of_a_block + words_of_a_stripe> keys{};
    for (std::size_t i = 0; i < keys.size(); ++i) {
        keys[i] = mixed<tensor_hash>((i + 1) * digest_stride);
    }
    return keys;
}();

/// The sums of a tensor; zeros at the beginning.
using hash_sums = std::span<std::uint64_t, words_of_a_stripe>;

/// Adds stripes, of which the first is number `first` of its tensor.  `Tag`: as of mixed().
template <class Tag>
inline void add_stripes(hash_sums sums, const std::byte* at, std::size_t stripes, std::size_t first) noexcept {
    for (std::size_t i = first; i < first + stripes; ++i, at += stripe_size) {
        const std::size_t in_block = i % stripes_of_a_block;
        for (std::size_t j = 0; j < words_of_a_stripe; ++j) {
            const auto word = load_le<std::uint64_t>(at + j * sizeof(std::uint64_t));
            const std::uint64_t x = word ^ hash_keys<Tag>[in_block + j];
            sums[j] += (x & 0xFFFFFFFFU) * (x >> 32U);
            sums[j ^ 1U] += word;
        }
        if (in_block + 1 == stripes_of_a_block) {
            for (std::size_t j = 0; j < words_of_a_stripe; ++j) {
                sums[j] = (sums[j] ^ (sums[j] >> 47U) ^ hash_keys<Tag>[j]) * sum_factor;
            }
        }
    }
}

/// Optional for a kernel: hash_stripes() does what add_stripes() does.
template <class Kernel>
concept stripe_hasher = requires(const Kernel& kernel, hash_sums sums, byte_view stripes, std::size_t first) {
    { kernel.hash_stripes(sums, stripes, first) } -> std::same_as<void>;
};

__extension__ using wide_product = unsigned __int128;

/// Both halves of a product of 128 bits: every bit of either factor reaches every bit of the result.
[[nodiscard]] inline std::uint64_t folded_product(std::uint64_t a, std::uint64_t b) noexcept {
    const wide_product product = static_cast<wide_product>(a) * b;
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64U);
}

/// The hash of a numeric tensor; strings hash like a tensor without elements.  0.0 and -0.0 differ, and so do NaN
/// patterns.  The same by every kernel and on every machine of this byte order.
/// Cost: one pass over the bytes, faster than memory gives them.
template <stripe_hasher Kernel>
[[nodiscard]] tensor_hash tensor_hash_by(const Kernel& kernel, const tensor_view& tensor) noexcept {
    std::array<std::uint64_t, words_of_a_stripe> sums{};
    const std::size_t stripes = tensor.bytes.size() / stripe_size;
    const std::size_t whole = stripes * stripe_size;
    kernel.hash_stripes(sums, tensor.bytes.first(whole), 0);
    if (const byte_view rest = tensor.bytes.subspan(whole); !rest.empty()) {
        std::array<std::byte, stripe_size> last{};
        std::copy(rest.begin(), rest.end(), last.begin());
        kernel.hash_stripes(sums, last, stripes);
    }
    constexpr auto& keys = hash_keys<tensor_hash>;
    tensor_hash hash{keys[0], keys[1]};
    const auto add = [&](std::uint64_t word) {
        hash.low = folded_product(hash.low ^ word, keys[2]);
        hash.high = folded_product(hash.high + word, keys[3]);
    };
    add(static_cast<std::uint64_t>(tensor.type));
    add(tensor.shape.size());
    for (const std::size_t extent : tensor.shape) {
        add(extent);
    }
    add(tensor.bytes.size());
    for (const std::uint64_t sum : sums) {
        add(sum);
    }
    return hash;
}

}  // namespace smdebug::inline v1::reduce::detail
