// The bodies of <smdebug/reduce/active_nodes.hpp>.
#pragma once

#include <smdebug/reduce/active_nodes.hpp>
#include <smdebug/tensor/half.hpp>
#include <smdebug/tensor/reals.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace reduce {
namespace detail {

/// The largest value of T that is not above a number, which is not NaN.
template <std::floating_point T>
[[nodiscard]] inline T largest_not_above(double number) noexcept {
    if constexpr (sizeof(T) < sizeof(double)) {
        const T nearest = smdebug::detail::nearest_float(number);
        return static_cast<double>(nearest) > number ? std::nextafter(nearest, -std::numeric_limits<T>::infinity())
                                                     : nearest;
    } else {
        return number;
    }
}

/// Whether elements of type T are active: two comparisons in T where it is a float, else in double.
template <class T>
class activity_test {
public:
    explicit activity_test(const active_range& range) noexcept
        : above_(largest_not_above<limit>(range.above)),
          last_(range.below ? largest_not_above<limit>(std::nextafter(*range.below, -infinity)) : infinity_of_limit) {}

    [[nodiscard]] bool operator()(T value) const noexcept {
        const auto number = static_cast<limit>(value);
        return (number > above_) & (number <= last_);
    }

private:
    using limit = std::conditional_t<std::same_as<T, float>, float, double>;
    static constexpr double infinity = std::numeric_limits<double>::infinity();
    static constexpr limit infinity_of_limit = std::numeric_limits<limit>::infinity();

    limit above_;
    limit last_;  // the largest value that is active
};

/// The two 16-bit floats are compared by keys, which are integers in the order of the numbers: nothing is converted.
/// The keys of NaN lie beyond those of the infinities.
template <class T>
    requires std::same_as<T, float16> || std::same_as<T, bfloat16>
class activity_test<T> {
public:
    explicit activity_test(const active_range& range) noexcept
        : above_(key_not_above(range.above)),
          last_(key_not_above(range.below ? std::nextafter(*range.below, -infinity) : infinity)) {}

    [[nodiscard]] bool operator()(T value) const noexcept {
        const std::int16_t order = key(value);
        return (order > above_) & (order <= last_);
    }

private:
    static constexpr double infinity = std::numeric_limits<double>::infinity();

    [[nodiscard]] static std::int16_t key(T value) noexcept {
        const auto bits = static_cast<std::int16_t>(value.bits);
        return static_cast<std::int16_t>(bits ^ ((bits >> 15) & 0x7FFF));
    }
    // That of the largest value that is not above a number; of the two zeros 0.0 has the larger key.
    [[nodiscard]] static std::int16_t key_not_above(double number) noexcept {
        const T nearest{number + 0.0};
        const int step = static_cast<double>(static_cast<float>(nearest)) > number ? 1 : 0;
        return static_cast<std::int16_t>(key(nearest) - step);
    }

    std::int16_t above_;
    std::int16_t last_;
};

/// Adds to counts[j] the active ones among rows of `width` elements.  Goes down a band of columns at a time: its
/// counters stay in the L1 cache, and rows are read in pieces of some KB.
template <class T>
void count_active(const T* rows, std::size_t row_count, std::size_t width, const activity_test<T>& active,
                  std::uint32_t* counts) {
    constexpr std::size_t band = 1024;
    constexpr std::size_t lanes = 32;  // a known number of steps: compilers vectorise these at any level
    const activity_test<T> test = active;
    std::array<std::uint32_t, band> counters;  // aliases nothing
    for (std::size_t first = 0; first < width; first += band) {
        const std::size_t columns = std::min(band, width - first);
        std::copy_n(counts + first, columns, counters.begin());
        const T* row = rows + first;
        for (std::size_t i = 0; i < row_count; ++i, row += width) {
            std::size_t j = 0;
            for (; j + lanes <= columns; j += lanes) {
                for (std::size_t k = 0; k < lanes; ++k) {
                    counters[j + k] += test(row[j + k]) ? 1U : 0U;
                }
            }
            for (; j < columns; ++j) {
                counters[j] += test(row[j]) ? 1U : 0U;
            }
        }
        std::copy_n(counters.begin(), columns, counts + first);
    }
}

template <class T>
[[nodiscard]] std::size_t inactive_nodes_among(const tensor_view& values, layer_size layer, const active_range& range,
                                               std::size_t needed, std::size_t enough) {
    constexpr std::size_t short_row = 512;
    const activity_test<T> active{range};
    // Where rows are short, several make one.
    const std::size_t joined = std::clamp<std::size_t>(short_row / layer.nodes, 1, layer.samples);
    std::vector<std::uint32_t> counts(joined * layer.nodes);
    std::vector<std::byte> room;
    std::size_t first = 0;  // element of the next block
    const auto block_of = [&](std::size_t samples) {
        return aligned_elements<T>(values, first, samples * layer.nodes, room).data();
    };
    std::size_t left = layer.samples;
    std::size_t inactive = layer.nodes;
    for (std::size_t block = 4; left > 0; block *= 2) {
        const std::size_t rows = std::min(block, left / joined);
        const std::size_t samples = rows == 0 ? left : rows * joined;
        if (rows == 0) {
            count_active(block_of(samples), left, layer.nodes, active, counts.data());
        } else {
            count_active(block_of(samples), rows, joined * layer.nodes, active, counts.data());
        }
        first += samples * layer.nodes;
        left -= samples;
        for (std::size_t i = layer.nodes; i < counts.size(); ++i) {
            counts[i % layer.nodes] += std::exchange(counts[i], 0U);
        }
        const auto nodes = std::span{counts}.first(layer.nodes);
        inactive = static_cast<std::size_t>(
            std::count_if(nodes.begin(), nodes.end(), [&](std::uint32_t count) { return count < needed; }));
        if (inactive < enough) {  // there will not be more
            return inactive;
        }
    }
    return inactive;
}

SMDEBUG_INLINE std::size_t inactive_nodes(const tensor_view& values, layer_size layer, const active_range& range,
                                          std::size_t needed, std::size_t enough) {
    std::size_t inactive = 0;
    visit_dtype(values.type, [&]<class T>() {
        if constexpr (!requires { typename T::value_type; }) {  // not complex
            inactive = inactive_nodes_among<T>(values, layer, range, needed, enough);
        }
    });
    return inactive;
}

}  // namespace detail
}  // namespace reduce
}  // namespace v1
}  // namespace smdebug
