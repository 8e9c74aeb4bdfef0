// The bodies of <smdebug/reduce/difference_norms.hpp>.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/dtype.hpp>
#include <smdebug/reduce/difference_norms.hpp>
#include <smdebug/reduce/pair_blocks.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <span>

namespace smdebug {
inline namespace v1 {
namespace reduce {
namespace detail {

/// Sums of terms, in lanes: fast for long tensors, and more exact than one sum.
class lane_sum {
public:
    /// Adds term(0) to term(count - 1).
    void add(std::size_t count, auto&& term) noexcept {
        std::array<double, lanes> sums = sums_;  // a local one stays in registers
        const std::size_t whole = count - count % lanes;
        for (std::size_t i = 0; i < whole; i += lanes) {
            std::array<double, lanes> terms;
            for (std::size_t lane = 0; lane < lanes; ++lane) {
                terms[lane] = term(i + lane);
            }
            for (std::size_t lane = 0; lane < lanes; ++lane) {
                sums[lane] += terms[lane];
            }
        }
        sums_ = sums;
        for (std::size_t i = whole; i < count; ++i) {
            sums_[i % lanes] += term(i);
        }
    }
    [[nodiscard]] double total() const noexcept {
        double sum = 0;
        for (const double each : sums_) {
            sum += each;
        }
        return sum;
    }

private:
    static constexpr std::size_t lanes = 8;
    std::array<double, lanes> sums_{};
};

/// Floats as they lie in a file, aligned or not.
struct floats_in_bytes {
    const std::byte* from = nullptr;
    std::size_t count = 0;

    [[nodiscard]] std::size_t size() const noexcept { return count; }
    [[nodiscard]] double operator[](std::size_t i) const noexcept { return load_le<float>(from + i * sizeof(float)); }
};

/// Calls visit(a's elements, b's elements) for parts of two tensors.  Each but the last is a multiple of the lanes.
template <class Visit>
void for_each_part(const tensor_view& a, const tensor_view& b, Visit&& visit) {
    if (a.type == dtype::float32 && b.type == dtype::float32) {  // most are, and need no room to be widened in
        for (std::size_t begin = 0, size = a.count(); begin < size; begin += pair_block) {
            const auto part = [&](const tensor_view& of) {
                return floats_in_bytes{of.bytes.data() + begin * sizeof(float), std::min(pair_block, size - begin)};
            };
            visit(part(a), part(b));
        }
        return;
    }
    for_each_pair_block(a, b, [&](std::size_t, std::span<const double> of_a, std::span<const double> of_b) {
        visit(of_a, of_b);
        return true;
    });
}

/// Both norms, of numbers that are multiplied by `scale` before they are squared.
SMDEBUG_INLINE difference_norms scaled_l2(const tensor_view& a, const tensor_view& b, double scale) {
    lane_sum difference;
    lane_sum first;
    for_each_part(a, b, [&](auto of_a, auto of_b) {
        const auto squared = [scale](double value) { return value * scale * (value * scale); };
        difference.add(of_a.size(), [&](std::size_t i) { return squared(of_b[i] - of_a[i]); });
        first.add(of_a.size(), [&](std::size_t i) { return squared(of_a[i]); });
    });
    return {std::sqrt(difference.total()) / scale, std::sqrt(first.total()) / scale};
}

SMDEBUG_INLINE difference_norms l2_of_difference(const tensor_view& a, const tensor_view& b) {
    difference_norms found = scaled_l2(a, b, 1);
    if (a.type != dtype::float64 && b.type != dtype::float64) {
        return found;
    }
    // Squares of doubles may leave their range where the doubles did not.
    constexpr double smallest = 1e-140;
    if (std::isinf(found.difference) || std::isinf(found.first)) {
        const difference_norms scaled = scaled_l2(a, b, 1e-200);
        found.difference = std::isinf(found.difference) ? scaled.difference : found.difference;
        found.first = std::isinf(found.first) ? scaled.first : found.first;
    }
    if (found.difference < smallest || found.first < smallest) {
        const difference_norms scaled = scaled_l2(a, b, 1e200);
        found.difference = found.difference < smallest ? scaled.difference : found.difference;
        found.first = found.first < smallest ? scaled.first : found.first;
    }
    return found;
}

SMDEBUG_INLINE difference_norms mean_abs_of_difference(const tensor_view& a, const tensor_view& b) {
    lane_sum difference;
    lane_sum first;
    for_each_pair_block(a, b, [&](std::size_t, std::span<const double> of_a, std::span<const double> of_b) {
        difference.add(of_a.size(), [&](std::size_t i) { return std::abs(of_b[i] - of_a[i]); });
        first.add(of_a.size(), [&](std::size_t i) { return std::abs(of_a[i]); });
        return true;
    });
    const auto count = static_cast<double>(a.count());
    return {difference.total() / count, first.total() / count};
}

SMDEBUG_INLINE double mean_relative_difference(const tensor_view& a, const tensor_view& b, double epsilon) {
    lane_sum ratios;
    for_each_pair_block(a, b, [&](std::size_t, std::span<const double> of_a, std::span<const double> of_b) {
        ratios.add(of_a.size(),
                   [&](std::size_t i) { return std::abs(of_b[i] - of_a[i]) / (std::abs(of_a[i]) + epsilon); });
        return true;
    });
    return ratios.total() / static_cast<double>(a.count());
}

}  // namespace detail
}  // namespace reduce
}  // namespace v1
}  // namespace smdebug
