// Histograms of tensors, in the form that TensorBoard reads (HistogramProto).
#pragma once

#include <smdebug/core/dtype.hpp>
#include <smdebug/core/status.hpp>
#include <smdebug/reduce/bins.hpp>
#include <smdebug/reduce/concepts.hpp>
#include <smdebug/reduce/name.hpp>
#include <smdebug/reduce/scalar_kernel.hpp>
#include <smdebug/reduce/subnormals.hpp>
#include <smdebug/reduce/wide_sum.hpp>
#include <smdebug/reduce/widen.hpp>
#include <smdebug/tensor/element.hpp>
#include <smdebug/tensor/flat_elements.hpp>
#include <smdebug/tensor/tensor_view.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include <smdebug/core/strict_math/begin.ipp>
namespace smdebug::inline v1 {

/// A histogram, its fields named as in TensorBoard's HistogramProto.
/// buckets[i] counts the elements from bucket_limits[i - 1] up to, not including, bucket_limits[i]; the last one
/// includes its limit.  buckets[0] is always 0: it is there because the proto has right limits only.
/// num = nan + below + above + the sum of buckets.
struct histogram {
    double min = std::numeric_limits<double>::quiet_NaN();
    double max = std::numeric_limits<double>::quiet_NaN();
    std::uint64_t num = 0;  ///< elements, including NaN and those outside of the bins
    double sum = 0;
    double sum_squares = 0;
    std::vector<double> bucket_limits;
    std::vector<std::uint64_t> buckets;
    std::uint64_t nan = 0;
    std::uint64_t below = 0;  ///< elements left of the bins
    std::uint64_t above = 0;  ///< elements right of the bins
};

struct histogram_options {
    bool abs = false;  ///< of |x|; the only form that complex tensors have
    bool trim = true;  ///< leaves out empty bins before the first and after the last with elements, as the package does
};

/// TensorFlow's default bins: 1e-12 * 1.1^k below 1e20, their negatives, and 0.
/// `open_ends` adds its outermost limits, the largest double and its negative; the Python package leaves them out, and
/// with them what lies beyond 1e20.
struct default_bins {
    bool open_ends = false;
};

/// `count` bins of equal width from the smallest to the largest element; half a unit to either side if they are equal.
struct equal_bins {
    std::size_t count = 10;
};

/// Bins between given edges, which must not fall.  Borrows them, for the call only.
struct edge_bins {
    std::span<const double> edges;
};

namespace reduce {

namespace detail {

/// A sum of parts: wide as long as it is finite, then what IEEE makes of it.
struct part_sum {
    detail::wide_sum wide;
    double plain = 0;

    template <class Tag>
    void add(double part) noexcept {
        wide = detail::plus<Tag>(wide, {part, 0});
        plain += part;
    }
    template <class Tag>
    [[nodiscard]] double value() const noexcept {
        return is_finite(wide.high) ? wide.high : plain;
    }
};

/// One tensor's histogram in one pass: piece by piece through the kernel and, still in cache, into the slots.
template <class Kernel, class Slots>
class histogram_walk {
public:
    histogram_walk(const tensor_view& tensor, const Slots& slots, bool abs, const Kernel& kernel)
        : tensor_(tensor),
          slots_(slots),
          abs_(abs),
          kernel_(kernel),
          counters_(2 * (slots.bins + detail::extra_slots)) {}

    /// ok, or why the kernel refused.
    [[nodiscard]] status run() {
        const detail::subnormals_kept here;
        const std::size_t size = size_of(tensor_.type);
        const std::size_t count = tensor_.count();
        for (std::size_t at = 0; at < count; at += piece) {
            const std::array<std::size_t, 1> shape{std::min(piece, count - at)};
            const tensor_view part{tensor_.type, shape, tensor_.bytes.subspan(at * size, shape[0] * size), {}};
            if (const status why = add_values(part); why != status::ok) {
                return why;
            }
            count_elements(part);
        }
        return status::ok;
    }

    /// Elements in each slot, see bins.hpp.
    [[nodiscard]] std::uint64_t in_slot(std::size_t slot) const noexcept {
        const std::uint64_t found = counters_[2 * slot] + counters_[2 * slot + 1];
        return slot == slots_.bins + 2   ? found - on_last_edge_
               : slot == slots_.bins + 1 ? found + on_last_edge_
                                         : found;
    }
    [[nodiscard]] std::uint64_t on_last_edge() const noexcept { return on_last_edge_; }
    /// Infinities, which are outside of bins with open ends.
    [[nodiscard]] std::uint64_t pos_inf() const noexcept { return abs_ ? pos_inf_ + neg_inf_ : pos_inf_; }
    [[nodiscard]] std::uint64_t neg_inf() const noexcept { return abs_ ? 0 : neg_inf_; }

    /// Computes everything but the buckets.
    [[nodiscard]] histogram without_buckets() const {
        histogram all;
        all.num = tensor_.count();
        all.nan = nan_;
        if (all.num != 0 && nan_ == 0) {
            all.min = min_;
            all.max = max_;
        }
        all.sum = sum_.template value<Slots>();
        all.sum_squares = squares_.template value<Slots>();
        // The kernel counts all NaN, slots reliably only the positive ones.
        const std::uint64_t positive_nan = in_slot(slots_.bins + 3);
        all.below = in_slot(0) + in_slot(1) - (nan_ - positive_nan);
        all.above = in_slot(slots_.bins + 2);
        return all;
    }

private:
    static constexpr std::size_t piece = 8192;
    static constexpr std::size_t lanes_at_once = 2048;

    [[nodiscard]] status add_values(const tensor_view& part) {
        const reduction_set wanted = reduction_set{reduction::min, abs_} | reduction_set{reduction::max, abs_} |
                                     reduction_set{reduction::sum, abs_} | reduction_set{reduction::l2} |
                                     reduction_set::counts();
        const result<reduction_values> found = kernel_.reduce(part, wanted);
        if (!found) {
            return found.code();
        }
        const reduction_values& values = *found;
        const double norm = values(reduction::l2);
        min_ = std::min(min_, values(reduction::min, abs_));
        max_ = std::max(max_, values(reduction::max, abs_));
        sum_.template add<Slots>(values(reduction::sum, abs_));
        squares_.template add<Slots>(detail::rounded<Slots>(norm * norm));
        nan_ += values.nan;
        pos_inf_ += values.pos_inf;
        neg_inf_ += values.neg_inf;
        return status::ok;
    }

    void count_elements(const tensor_view& part) {
        const std::byte* at = part.bytes.data();
        const std::size_t count = part.count();
        if (!is_numeric(part.type)) {
            return;
        }
        visit_dtype(part.type, [&]<class Element>() {
            if constexpr (std::floating_point<Element>) {
                count_lanes<Element>(at, count);
            } else {
                count_widened<detail::conversion_of<Element>>(at, count);
            }
        });
    }

    template <class Conversion>
    void count_widened(const std::byte* from, std::size_t count) {
        using lane = typename Conversion::lane;
        lane lanes[lanes_at_once];
        for (std::size_t at = 0; at < count; at += lanes_at_once) {
            const std::size_t length = std::min(lanes_at_once, count - at);
            detail::widen<Slots, Conversion>(from + at * sizeof(typename Conversion::element), length, 1, lanes);
            count_lanes<lane>(reinterpret_cast<const std::byte*>(lanes), length);
        }
    }

    template <class Lane>
    void count_lanes(const std::byte* at, std::size_t count) {
        abs_ ? count_lanes_as<Lane, true>(at, count) : count_lanes_as<Lane, false>(at, count);
    }

    template <class Lane, bool Abs>
    void count_lanes_as(const std::byte* at, std::size_t count) {
        const Slots slots = slots_;
        std::uint64_t* const counters = counters_.data();
        const std::uint64_t above = in_slot(slots.bins + 2);
        const auto slot_of = [&](Lane number) {
            if constexpr (requires { typename Slots::number_type; }) {
                return slots(static_cast<typename Slots::number_type>(number));
            } else {
                return slots(number);
            }
        };
        for (std::size_t i = 0; i < count; ++i) {
            // Two counters in turn: equal neighbours would wait for each other.
            ++counters[2 * slot_of(number_at<Lane, Abs>(at, i)) + (i & 1U)];
        }
        if constexpr (!Slots::holds_last_edge) {
            if (in_slot(slots.bins + 2) != above) {
                for (std::size_t i = 0; i < count; ++i) {
                    on_last_edge_ +=
                        static_cast<double>(number_at<Lane, Abs>(at, i)) == detail::default_edges.back() ? 1U : 0U;
                }
            }
        }
    }

    template <class Lane, bool Abs>
    [[nodiscard]] static Lane number_at(const std::byte* at, std::size_t i) noexcept {
        Lane number;
        std::memcpy(&number, at + i * sizeof(Lane), sizeof(Lane));
        return Abs ? std::fabs(number) : number;
    }

    const tensor_view& tensor_;
    const Slots& slots_;
    bool abs_;
    const Kernel& kernel_;
    std::vector<std::uint64_t> counters_;
    std::uint64_t on_last_edge_ = 0;
    double min_ = detail::infinity;
    double max_ = -detail::infinity;
    part_sum sum_;
    part_sum squares_;
    std::uint64_t nan_ = 0;
    std::uint64_t pos_inf_ = 0;
    std::uint64_t neg_inf_ = 0;
};

}  // namespace detail

/// Converts limits and counts of bins to HistogramProto's form.
inline void set_buckets(histogram& all, std::vector<double> edges, const std::vector<std::uint64_t>& counts,
                        bool trim) {
    std::size_t first = 0;
    std::size_t last = counts.size();
    if (trim) {
        while (first < last && counts[first] == 0) {
            ++first;
        }
        while (last > first && counts[last - 1] == 0) {
            --last;
        }
        if (first == last) {
            return;
        }
    }
    const auto at = [](std::size_t place) { return static_cast<std::ptrdiff_t>(place); };
    all.bucket_limits.assign(edges.begin() + at(first), edges.begin() + at(last) + 1);
    all.buckets.push_back(0);
    all.buckets.insert(all.buckets.end(), counts.begin() + at(first), counts.begin() + at(last));
}

template <class Kernel, class Slots>
[[nodiscard]] inline result<histogram> histogram_in(const tensor_view& tensor, const Slots& slots,
                                                    std::vector<double> edges, bool open_ends,
                                                    histogram_options options, const Kernel& kernel) {
    if (size_of(tensor.type) == 0 || (is_complex(tensor.type) && !options.abs)) {
        return status::unsupported;
    }
    detail::histogram_walk<Kernel, Slots> walk(tensor, slots, options.abs, kernel);
    if (const status why = walk.run(); why != status::ok) {
        return why;
    }
    histogram all = walk.without_buckets();
    std::vector<std::uint64_t> counts;
    for (std::size_t bin = 0; bin < slots.bins; ++bin) {
        counts.push_back(walk.in_slot(bin + detail::first_bin_slot));
    }
    if (open_ends) {
        constexpr double largest = std::numeric_limits<double>::max();
        edges.insert(edges.begin(), -largest);
        edges.push_back(largest);
        // In default_slots the last inner edge is inside; with a bin to its right it belongs there.
        const std::uint64_t moved = walk.on_last_edge();
        counts.back() -= moved;
        counts.insert(counts.begin(), all.below - walk.neg_inf());
        counts.push_back(all.above - walk.pos_inf() + moved);
        all.below = walk.neg_inf();
        all.above = walk.pos_inf();
    }
    set_buckets(all, std::move(edges), counts, options.trim);
    return all;
}

}  // namespace reduce

/// The histogram of a tensor's elements, in the default bins, bins of equal width, or bins between given edges.
/// Shapes:  any, flattened; an empty tensor has no elements in any bin, min and max NaN, sums 0.
/// Units:   the tensor's, as doubles: every element is converted to double first (complex: its magnitude, with `abs`
///          only), and limits are doubles.
/// Values:  counts are exact: each element is in the bin that comparing it with the edges gives.  min, max, sum as the
///          kernel reduces them; sum_squares within 2^-45 (f64: 2^-50).  Finite sums that overflow are infinite.
/// NaN:     is in no bin and counts in `nan` and `num`; min, max and the sums are NaN then.  Infinities are in `below`
///          or `above` (given edges may include them).  TensorBoard shows such a histogram badly; an exporter should
///          check `nan`, `below`, `above`.
/// Borrows: its arguments, for the call only.
/// Cost:    one pass; for equal bins two, as their range comes first.  60 KB of memory for the default bins.
/// Errors:  unsupported for strings, for complex tensors without `abs`, and for invalid bins: see each overload.
/// Source:  the Python package's histogram summaries (values as float64 through numpy.histogram, then trimmed): the
///          same limits and buckets, min and max; sums differ by the rounding of numpy's.  If no element is in a bin,
///          the trimmed buckets are empty here; the package then writes no event, and none for an empty tensor.
template <reduction_kernel Kernel = scalar_kernel>
[[nodiscard]] result<histogram> histogram_of(const tensor_view& tensor, default_bins bins = {},
                                             histogram_options options = {}, const Kernel& kernel = Kernel{}) {
    return reduce::histogram_in(tensor, reduce::detail::default_slots{}, reduce::detail::default_slots::edges(),
                                bins.open_ends, options, kernel);
}

/// Errors besides: unsupported for fewer than two edges, for edges that fall, and for NaN among them.
template <reduction_kernel Kernel = scalar_kernel>
[[nodiscard]] result<histogram> histogram_of(const tensor_view& tensor, edge_bins bins, histogram_options options = {},
                                             const Kernel& kernel = Kernel{}) {
    const auto falls = [](double a, double b) { return !(a <= b); };
    if (bins.edges.size() < 2 || std::adjacent_find(bins.edges.begin(), bins.edges.end(), falls) != bins.edges.end()) {
        return status::unsupported;
    }
    return reduce::histogram_in(tensor, reduce::detail::edge_slots{bins.edges}, {bins.edges.begin(), bins.edges.end()},
                                false, options, kernel);
}

/// Errors besides: unsupported for no bins, and if the smallest or largest element is infinite or NaN or their distance
/// overflows; numpy raises then.  An empty tensor has its bins from 0 to 1.
template <reduction_kernel Kernel = scalar_kernel>
[[nodiscard]] result<histogram> histogram_of(const tensor_view& tensor, equal_bins bins, histogram_options options = {},
                                             const Kernel& kernel = Kernel{}) {
    const auto range =
        kernel.reduce(tensor, reduction_set{reduction::min, options.abs} | reduction_set{reduction::max, options.abs});
    if (!range) {
        return range.code();
    }
    double first = tensor.count() == 0 ? 0 : (*range)(reduction::min, options.abs);
    double last = tensor.count() == 0 ? 1 : (*range)(reduction::max, options.abs);
    if (first == last) {
        first -= 0.5;
        last += 0.5;
    }
    if (bins.count == 0 || !is_finite(last - first)) {
        return status::unsupported;
    }
    const std::vector<double> edges = reduce::detail::equal_edges<reduce::detail::equal_slots>(first, last, bins.count);
    const reduce::detail::equal_slots slots{edges};
    if (!slots.usable()) {
        return reduce::histogram_in(tensor, reduce::detail::edge_slots{edges}, edges, false, options, kernel);
    }
    return reduce::histogram_in(tensor, slots, edges, false, options, kernel);
}

/// The histogram of numbers as a hook saves them: a std::vector or std::span of float, an xtensor expression, an Eigen
/// matrix.
///
///     const auto counted = smd::histogram_of(std::vector<float>{3, 1, 2}, smd::equal_bins{3});
///
/// Cost:    in addition, a copy of elements that are not contiguous.
template <element_source Values, class Bins = default_bins, reduction_kernel Kernel = scalar_kernel>
    requires(std::same_as<Bins, default_bins> || std::same_as<Bins, edge_bins> || std::same_as<Bins, equal_bins>)
[[nodiscard]] result<histogram> histogram_of(const Values& values, Bins bins = {}, histogram_options options = {},
                                             const Kernel& kernel = Kernel{}) {
    return histogram_of(detail::flat_elements<Values>{values}.view(), bins, options, kernel);
}

}  // namespace smdebug::inline v1
#include <smdebug/core/strict_math/end.ipp>
