// Which of two ways of doing the same work takes less time, learned while doing it: what looking at a file costs depends
// on how it came into the page cache, on the kernel and on the machine, and nothing of that can be asked for.
#pragma once

#include <smdebug/core/form.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// Says for each piece of work in which of two ways to do it: both in turns at first, then the one that was faster, and
/// the other one now and then, more and more seldom while it is no faster, as the work may have changed.
/// A way's time is the least that an amount of work took lately: what disturbs a machine makes work slower, never faster.
class faster_way {
public:
    enum way : std::uint8_t { usual, other };

    /// The way for the next piece of work.
    [[nodiscard]] way next() const noexcept;

    /// Whether took() is to be told what the next piece of work takes; else passed() will do, and nobody need measure.
    [[nodiscard]] bool is_telling() const noexcept { return begins() || left_ <= recent; }
    void passed() noexcept { left_ -= left_ > 0 ? 1 : 0; }

    /// What a piece of work took, of so much work; of none it tells nothing.
    void took(way which, double seconds, std::uint64_t amount) noexcept;

private:
    static constexpr std::size_t turns = 2;                             // pieces of work that each way has at first
    static constexpr std::uint64_t telling = std::uint64_t{16} << 20U;  // of which one is enough: bytes take time
    static constexpr std::size_t recent = 3;
    static constexpr std::uint32_t first_pause = 48;  // pieces of work before the other way has one again
    static constexpr std::uint32_t longest_pause = 768;
    static constexpr double worth_it = 0.95;  // a way is left for another that takes less than this much of its time

    // The last costs of a way.
    struct lately {
        std::array<double, recent> costs{};
        std::size_t count = 0;

        void add(double cost) noexcept { costs[count++ % recent] = cost; }
        [[nodiscard]] double least() const noexcept {
            const auto known = static_cast<std::ptrdiff_t>(std::min(count, recent));
            return *std::min_element(costs.begin(), costs.begin() + known);
        }
    };

    [[nodiscard]] bool begins() const noexcept { return ways_[usual].count < turns || ways_[other].count < turns; }

    void choose(way which) noexcept;

    std::array<lately, 2> ways_{};
    way chosen_ = usual;
    std::uint32_t pause_ = first_pause;
    std::uint32_t left_ = 0;  // of the pause
};

}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/trial/read/impl/faster_way.ipp>
#endif
