// The bodies of <smdebug/reduce/allclose.hpp>.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/dtype.hpp>
#include <smdebug/core/float_kinds.hpp>
#include <smdebug/reduce/allclose.hpp>
#include <smdebug/tensor/tensor_value.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <span>

#include <smdebug/core/strict_math/begin.ipp>
namespace smdebug::inline v1::reduce::detail {

SMDEBUG_INLINE std::span<const double> widened(const tensor_view& tensor, std::size_t begin, std::size_t count,
                                               std::array<double, pair_block>& room) {
    const std::byte* const elements = tensor.bytes.data();
    if (tensor.type == dtype::float64 && reinterpret_cast<std::uintptr_t>(elements) % alignof(double) == 0) {
        return {reinterpret_cast<const double*>(elements) + begin, count};
    }
    visit_dtype(tensor.type, [&]<class Element>() {
        if constexpr (!requires { typename Element::value_type; }) {  // not complex
            const std::byte* from = elements + begin * sizeof(Element);
            for (std::size_t i = 0; i < count; ++i, from += sizeof(Element)) {
                room[i] = to_double(load_le<Element>(from));
            }
        }
    });
    return std::span{room}.first(count);
}

SMDEBUG_INLINE bool tolerance::close(double value, double reference) const noexcept {
    const double apart = std::abs(value - reference);
    // An infinite reference would allow everything by the formula, so the distance must also be finite.
    return value == reference || (apart <= allowed(reference) && smdebug::is_finite(apart)) ||
           (equal_nan && smdebug::is_nan(value) && smdebug::is_nan(reference));
}

SMDEBUG_INLINE bool surely_close(std::span<const double> values, std::span<const double> references, double rtol,
                                 double atol) noexcept {
    std::uint64_t far = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
        const double beyond = std::abs(values[i] - references[i]) - (atol + rtol * std::abs(references[i]));
        far |= static_cast<std::uint64_t>(!(beyond <= 0));
    }
    return far == 0;
}

SMDEBUG_INLINE std::optional<std::size_t> first_difference(const tensor_view& values, const tensor_view& references,
                                                           const tolerance& within) {
    std::optional<std::size_t> found;
    for_each_pair_block(values, references,
                        [&](std::size_t begin, std::span<const double> value, std::span<const double> reference) {
                            if (surely_close(value, reference, within.rtol, within.atol)) {
                                return true;
                            }
                            for (std::size_t i = 0; !found && i < value.size(); ++i) {
                                if (!within.close(value[i], reference[i])) {
                                    found = begin + i;
                                }
                            }
                            return !found;
                        });
    return found;
}

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
    [[nodiscard]] double total() const noexcept { return std::accumulate(sums_.begin(), sums_.end(), 0.0); }

private:
    static constexpr std::size_t lanes = 8;
    std::array<double, lanes> sums_{};
};

/// Floats in place in a file, aligned or not.
struct floats_in_bytes {
    const std::byte* from = nullptr;
    std::size_t count = 0;

    [[nodiscard]] std::size_t size() const noexcept { return count; }
    [[nodiscard]] double operator[](std::size_t i) const noexcept {
        return static_cast<double>(load_le<float>(from + i * sizeof(float)));
    }
};

/// Calls visit(a's elements, b's elements) for parts of two tensors.  Each part but the last is a multiple of the
/// lanes.
template <class Visit>
void for_each_part(const tensor_view& a, const tensor_view& b, Visit&& visit) {
    if (a.type == dtype::float32 && b.type == dtype::float32) {  // the usual case, which needs no buffer for widening
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

/// Both norms, of numbers multiplied by `scale` before they are squared.
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
    // Squares of doubles may leave the range although the doubles are inside.
    constexpr double smallest = 1e-140;
    if (smdebug::is_infinite(found.difference) || smdebug::is_infinite(found.first)) {
        const difference_norms scaled = scaled_l2(a, b, 1e-200);
        found.difference = smdebug::is_infinite(found.difference) ? scaled.difference : found.difference;
        found.first = smdebug::is_infinite(found.first) ? scaled.first : found.first;
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

}  // namespace smdebug::inline v1::reduce::detail
#include <smdebug/core/strict_math/end.ipp>
