// Bins of histograms: their edges, and how a number finds its bin.
// TensorFlow's default bins are looked up in a table by the leading bits, so a search of 1549 edges is one comparison.
#pragma once

#include <smdebug/reduce/wide_sum.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>
#include <vector>

#include <smdebug/core/strict_math/begin.ipp>
namespace smdebug::inline v1::reduce::detail {

// Numbers fall into slots: 1 below all bins, 2 to n + 1 the n bins, n + 2 above all bins; NaN in 0 or n + 3.
// A bin holds its left edge; the last one holds its right edge, too.
inline constexpr std::size_t first_bin_slot = 2;
inline constexpr std::size_t extra_slots = 4;

/// f(v) for 1e-12 and its multiples by powers of 1.1, each rounded, below 1e20.
template <class Function>
constexpr void for_each_default_edge(const Function& f) {
    for (double v = 1e-12; v < 1e20; v *= 1.1) {
        f(v);
    }
}

inline constexpr std::size_t default_edge_count = [] {
    std::size_t count = 0;
    for_each_default_edge([&](double) { ++count; });
    return count;
}();

/// The positive edges of the default bins.
inline constexpr std::array<double, default_edge_count> default_edges = [] {
    std::array<double, default_edge_count> edges{};
    std::size_t count = 0;
    for_each_default_edge([&](double v) { edges[count++] = v; });
    return edges;
}();

/// The positive edges by a number's leading bits: exponent and four more.  Such a cell is at most 1/16 wide, so it
/// contains at most one edge, as edges are a tenth apart.
template <std::floating_point Lane>
struct default_cells {
    using bits_type = std::conditional_t<(sizeof(Lane) > 4), std::uint64_t, std::uint32_t>;
    static constexpr unsigned shift = std::numeric_limits<Lane>::digits - 1 - 4;
    static constexpr bits_type infinity_bits = std::bit_cast<bits_type>(std::numeric_limits<Lane>::infinity());
    static constexpr bits_type first =
        std::bit_cast<bits_type>(static_cast<Lane>(0x1p-40F)) >> shift;  // just below 1e-12
    static constexpr bits_type last = std::bit_cast<bits_type>(static_cast<Lane>(0x1p67F)) >> shift;  // just above 1e20
    static constexpr std::size_t count = last - first + 1;

    struct cell {
        bits_type edge;       ///< the cell's edge; numbers from here on have one more edge below them
        std::int32_t passed;  ///< edges below the cell
    };

    /// The bits of the first Lane that is not below the edge.
    [[nodiscard]] static constexpr bits_type first_at(double edge) noexcept {
        const auto near = static_cast<Lane>(edge);
        return std::bit_cast<bits_type>(near) + (static_cast<double>(near) < edge ? 1U : 0U);
    }

    [[nodiscard]] static constexpr std::array<cell, count> make() noexcept {
        std::array<cell, count> cells{};
        std::size_t passed = 0;
        for (std::size_t i = 0; i + 1 < count; ++i) {
            const auto next = static_cast<bits_type>((first + i + 1) << shift);
            cells[i] = {std::numeric_limits<bits_type>::max(), static_cast<std::int32_t>(passed)};
            if (passed < default_edge_count && first_at(default_edges[passed]) < next) {
                cells[i].edge = first_at(default_edges[passed++]);
            }
        }
        cells[count - 1] = {infinity_bits + 1, static_cast<std::int32_t>(passed)};  // NaN lies beyond infinity
        return cells;
    }

    static constexpr std::array<cell, count> table = make();

    /// Whether no edge is a Lane.  Then it does not matter which of two bins contains an edge.
    static constexpr bool between_edges = std::none_of(default_edges.begin(), default_edges.end(), [](double edge) {
        return static_cast<double>(static_cast<Lane>(edge)) == edge;
    });
};
/// Slots of the default bins: the positive edges, 0, and their mirror images.
struct default_slots {
    static constexpr std::size_t bins = 2 * default_edge_count;
    static constexpr bool holds_last_edge = false;  ///< numbers equal to the last edge are found above; corrected later

    [[nodiscard]] static std::vector<double> edges() {
        std::vector<double> all(default_edges.rbegin(), default_edges.rend());
        std::transform(all.begin(), all.end(), all.begin(), std::negate<>{});
        all.push_back(0);
        all.insert(all.end(), default_edges.begin(), default_edges.end());
        return all;
    }

    /// Cost: one load and one comparison, no branch.
    template <std::floating_point Lane>
    [[nodiscard]] std::size_t operator()(Lane number) const noexcept {
        using cells = default_cells<Lane>;
        using bits_type = typename cells::bits_type;
        constexpr bits_type sign = ~(~bits_type{0} >> 1U);
        constexpr auto zero = static_cast<std::int32_t>(default_edge_count + first_bin_slot);
        const auto bits = std::bit_cast<bits_type>(number);
        const bits_type negative = bits > sign ? 1 : 0;  // -0.0 is not
        bits_type size = bits & ~sign;
        if constexpr (!cells::between_edges) {
            size -= negative;  // a negative edge belongs to the bin on its right, which is nearer to 0
        }
        const bits_type place = std::min(std::max<bits_type>(size >> cells::shift, cells::first), cells::last);
        const auto& cell = cells::table[static_cast<std::size_t>(place - cells::first)];
        const std::int32_t passed = cell.passed + (size >= cell.edge ? 1 : 0);
        return static_cast<std::size_t>(zero + (passed ^ -static_cast<std::int32_t>(negative)));
    }
};

/// Slots of bins between given edges, at least two and not falling.  Borrows the edges.
class edge_slots {
public:
    static constexpr bool holds_last_edge = true;

    explicit edge_slots(std::span<const double> edges) noexcept : bins(edges.size() - 1), edges_(edges) {}

    /// Cost: log2(bins) comparisons, no branch.
    using number_type = double;
    [[nodiscard]] std::size_t operator()(double number) const noexcept {
        const double* from = edges_.data();
        std::size_t left = edges_.size();
        while (left > 1) {
            const std::size_t half = left / 2;
            from += half & (std::size_t{0} - (from[half - 1] <= number ? 1U : 0U));  // a choice becomes a branch
            left -= half;
        }
        const auto passed = static_cast<std::size_t>(from - edges_.data()) + (*from <= number ? 1U : 0U);
        if (passed == bins + 1 || number != number) {
            return number == edges_.back() ? bins + 1 : bins + (number == number ? 2 : 3);
        }
        return passed + 1;
    }

    std::size_t bins;

private:
    std::span<const double> edges_;
};

/// Edges of bins of equal width, rounded as numpy.linspace does.  `count` is at least 1, last - first finite.
template <class Tag>
[[nodiscard]] inline std::vector<double> equal_edges(double first, double last, std::size_t count) {
    const double width = last - first;
    const auto bins = static_cast<double>(count);
    const double step = width / bins;
    std::vector<double> edges(count + 1);
    for (std::size_t i = 0; i < count; ++i) {
        const auto place = static_cast<double>(i);
        edges[i] = rounded<Tag>(step == 0 ? place / bins * width : place * step) + first;
    }
    edges[count] = last;
    return edges;
}

/// Slots of bins of equal width: numpy's estimate, corrected by the edges.  Borrows them.
class equal_slots {
public:
    static constexpr bool holds_last_edge = true;

    explicit equal_slots(std::span<const double> edges) noexcept
        : bins(edges.size() - 1), edges_(edges), scale_(static_cast<double>(bins) / (edges.back() - edges.front())) {}

    /// Whether the estimate is usable; false for denormal widths.
    [[nodiscard]] bool usable() const noexcept { return is_finite(scale_); }

    using number_type = double;
    [[nodiscard]] std::size_t operator()(double number) const noexcept {
        if (!(number >= edges_.front() && number <= edges_.back())) {
            return number < edges_.front() ? 1 : bins + (number == number ? 2 : 3);
        }
        auto bin = std::min(static_cast<std::size_t>((number - edges_.front()) * scale_), bins - 1);
        while (number < edges_[bin]) {
            --bin;
        }
        while (bin + 1 < bins && number >= edges_[bin + 1]) {
            ++bin;
        }
        return bin + first_bin_slot;
    }

    std::size_t bins;

private:
    std::span<const double> edges_;
    double scale_;
};

}  // namespace smdebug::inline v1::reduce::detail
#include <smdebug/core/strict_math/end.ipp>
