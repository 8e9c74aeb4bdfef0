// The bodies of <smdebug/reduce/content_hash.hpp>.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/reduce/content_hash.hpp>

#include <array>
#include <cstddef>
#include <cstring>

namespace smdebug {
inline namespace v1 {
namespace reduce {
namespace detail {

__extension__ using wide_product = unsigned __int128;

/// Both halves of a product of 128 bits: every bit of either factor reaches every bit of the answer.
[[nodiscard]] inline std::uint64_t folded_product(std::uint64_t a, std::uint64_t b) noexcept {
    const wide_product product = static_cast<wide_product>(a) * b;
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64U);
}

/// Lanes of folded products: each takes every fourth pair of words, so that none waits for another.
class lane_hash {
public:
    void add(std::uint64_t word) noexcept { states_[0] = folded_product(states_[0] ^ word, keys[1]); }

    void add(byte_view bytes) noexcept {
        const std::byte* from = bytes.data();
        std::size_t left = bytes.size();
        for (; left >= block; left -= block, from += block) {
            add_block(from);
        }
        std::array<std::byte, block> rest{};
        if (left > 0) {
            std::memcpy(rest.data(), from, left);
        }
        add_block(rest.data());
    }

    [[nodiscard]] content_hash finish() const noexcept {
        content_hash whole{keys[0], keys[1]};
        for (const std::uint64_t state : states_) {
            whole.low = folded_product(whole.low ^ state, keys[2]);
            whole.high = folded_product(whole.high + state, keys[3]);
        }
        return whole;
    }

private:
    static constexpr std::size_t lanes = 4;
    static constexpr std::size_t block = lanes * 2 * sizeof(std::uint64_t);
    // Fractions of the square roots of 2, 3, 5 and 7.
    static constexpr std::array<std::uint64_t, lanes> keys{0x6A09E667F3BCC909, 0xBB67AE8584CAA73B, 0x3C6EF372FE94F82B,
                                                           0xA54FF53A5F1D36F1};

    void add_block(const std::byte* from) noexcept {
        for (std::size_t lane = 0; lane < lanes; ++lane, from += 2 * sizeof(std::uint64_t)) {
            states_[lane] = folded_product(states_[lane] ^ load_le<std::uint64_t>(from),
                                           keys[lane] ^ load_le<std::uint64_t>(from + sizeof(std::uint64_t)));
        }
    }

    std::array<std::uint64_t, lanes> states_ = keys;
};

SMDEBUG_INLINE content_hash content_hash_of(const tensor_view& tensor) noexcept {
    lane_hash hash;
    hash.add(static_cast<std::uint64_t>(tensor.type));
    hash.add(tensor.shape.size());
    for (const std::size_t extent : tensor.shape) {
        hash.add(extent);
    }
    hash.add(tensor.bytes.size());
    hash.add(tensor.bytes);
    return hash.finish();
}

}  // namespace detail
}  // namespace reduce
}  // namespace v1
}  // namespace smdebug
