// Heterogeneous look-up: searches unordered containers of strings by a view, without making a string.
#pragma once

#include <smdebug/core/bytes.hpp>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>

namespace smdebug::inline v1::detail {

/// The Hash of a container of strings whose KeyEqual is std::equal_to<>.
struct text_hash {
    using is_transparent = void;
    [[nodiscard]] std::size_t operator()(std::string_view text) const noexcept {
        return std::hash<std::string_view>{}(text);
    }
};

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
        std::array<std::uint64_t, 4> lanes{seed + p1 + p2, seed + p2, seed, seed - p1};
        for (; left >= 32; left -= 32, next += 32) {
            for (std::size_t i = 0; i < lanes.size(); ++i) {
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

}  // namespace smdebug::inline v1::detail
