// Reduces one tensor with one kernel: picks lanes by dtype, walks the blocks, computes the results.
// The scalar and the SIMD kernel are this function with different sweeps, so they can differ only in a sweep;
// dispatched_kernel only picks one of them.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/dtype.hpp>
#include <smdebug/core/status.hpp>
#include <smdebug/reduce/accumulate.hpp>
#include <smdebug/reduce/concepts.hpp>
#include <smdebug/reduce/lanes.hpp>
#include <smdebug/reduce/name.hpp>
#include <smdebug/reduce/subnormals.hpp>
#include <smdebug/reduce/wide_sum.hpp>
#include <smdebug/reduce/widen.hpp>
#include <smdebug/tensor/element.hpp>
#include <smdebug/tensor/tensor_view.hpp>

#include <complex>
#include <concepts>
#include <cstddef>
#include <cstring>
#include <optional>
#include <type_traits>
#include <utility>

#include <smdebug/core/strict_math/begin.ipp>
#include <smdebug/core/strict_math/needs_nan.ipp>
// Tensors of one element: losses and other scalars, of which a run has millions.
// The general way would sweep a block, merge sixteen lanes and centre them to compute what one element shows.
namespace smdebug::inline v1::reduce::detail {

/// The element at `at` as the double nearest to it.
template <class Tag, class Conversion>
[[nodiscard]] inline double element_at(const std::byte* at) noexcept {
    typename Conversion::element element;
    std::memcpy(&element, at, sizeof(element));
    return static_cast<double>(Conversion::template convert<Tag>(element, 1));
}

/// The only element of a real tensor; nothing for any other size, and for complex numbers and strings.
template <class Tag>
[[nodiscard]] inline std::optional<double> single_element(const tensor_view& tensor) noexcept {
    const std::size_t size = size_of(tensor.type);
    if (size == 0 || tensor.bytes.size() < size || tensor.bytes.size() >= 2 * size) {
        return std::nullopt;
    }
    if (tensor.type == dtype::float32) {  // nearly all of them
        return element_at<Tag, conversion_of<float>>(tensor.bytes.data());
    }
    return visit_dtype(tensor.type, [&]<class Element>() -> std::optional<double> {
        if constexpr (requires { typename Element::value_type; }) {  // complex
            return std::nullopt;
        } else {
            return element_at<Tag, conversion_of<Element>>(tensor.bytes.data());
        }
    });
}

/// Fills in all values of one element, as lanes.hpp defines them: every sum is the element, its spread is 0.
template <class Tag>
inline void values_of_one(double element, reduction_values& out) noexcept {
    const double value = element + 0.0;  // + 0.0 turns -0 into 0
    const double size = magnitude<Tag>(value);
    const bool finite = is_finite(value);
    for (std::size_t i = 0; i < reduction_count; ++i) {
        out.value[i] = value;
        out.value[i + reduction_count] = size;
    }
    for (const bool abs : {false, true}) {
        out.value[reduction_key{reduction::std, abs}.index()] = finite ? 0 : not_a_number;
        out.value[reduction_key{reduction::variance, abs}.index()] = finite ? 0 : not_a_number;
    }
    out.value[reduction_key{reduction::l1}.index()] = size;
    out.value[reduction_key{reduction::l2}.index()] = size;
    out.count = 1;
    out.nan = value != value ? 1 : 0;
    out.pos_inf = value == infinity ? 1 : 0;
    out.neg_inf = value == -infinity ? 1 : 0;
    out.zeros = value == 0 ? 1 : 0;
    out.computed = reduction_set::all();
}

/// The parts of the walk that a set needs.  Sum and mean alone need only the plain sum.
template <class Tag>
[[nodiscard]] constexpr required_statistics demand_of(reduction_set wanted) noexcept {
    constexpr auto both = [](reduction what) { return reduction_set{what, false} | reduction_set{what, true}; };
    const auto wants = [&](reduction_set some) { return !(wanted & some).empty(); };
    required_statistics needed;
    needed.spread = wants(both(reduction::std) | both(reduction::variance));
    needed.sweep.product = wants(both(reduction::prod));
    needed.sweep.norms =
        needed.spread || wants(both(reduction::l1) | both(reduction::l2) | reduction_set{reduction::mean, true} |
                               reduction_set{reduction::sum, true});
    needed.sweep.smallest =
        needed.sweep.product || wants(reduction_set{reduction::min, true} | reduction_set::counts());
    needed.sweep.extrema = needed.sweep.smallest || wants(both(reduction::min) | both(reduction::max));
    return needed;
}
template <class Tag, required_statistics Wanted>
[[nodiscard]] constexpr fixed_demand<Wanted> demand_of(fixed_demand<Wanted> known) noexcept {
    return known;
}

/// The factor for lanes that keeps their squares inside a double's range; 1 if they are inside already.
/// Decided by the sum of squares: whether it overflows, or is so small that squares may have underflowed.  A plain sum
/// may overflow midway although the data are finite; then lanes are scaled down, too.
template <class Tag>
[[nodiscard]] inline double needed_scale(const totals& all, required_statistics wanted) noexcept {
    constexpr double too_large = 0x1p900;
    constexpr double too_small = 0x1p-900;
    if (!all.all_finite()) {
        return 1;
    }
    if (!is_finite(all.sum.high) || (wanted.sweep.norms && !(all.squares.high <= too_large))) {
        return 0x1p-600;
    }
    return wanted.sweep.norms && all.squares.high < too_small && all.magnitudes.high != 0 ? 0x1p600 : 1;
}

/// Walks, and calls use(totals&) with the result.
/// A walk over doubles may have to be repeated with the lanes scaled.  The second walk happens only for data beyond
/// 1e+-130; it provides the sums and the spread, while extrema, counts and product are those of the first.
template <class Sweeps, class Lane, class Demand, class Use>
inline void walk(element_source<Lane> source, Demand wanted, decltype(element_source<Lane>::widen) scaled_widen,
                 const byte_watch* watch, const Use& use) noexcept {
    block_walk<Sweeps, Lane, Demand> first{source, wanted};
    totals& all = first.run(watch);
    if (scaled_widen == nullptr || all.cut) {
        use(all);
        return;
    }
    source.scale = needed_scale<Sweeps>(all, wanted);
    if (source.scale != 1) {
        source.widen = scaled_widen;
        const required_statistics sums{.sweep = {.norms = wanted.sweep.norms}, .spread = wanted.spread};
        const totals again = block_walk<Sweeps, Lane, required_statistics>(source, sums).run(nullptr);
        all.scale = again.scale;
        all.sum = again.sum;
        all.magnitudes = again.magnitudes;
        all.squares = again.squares;
        all.plain = again.plain;
        all.absolute = again.absolute;
        all.cut = again.cut;
    }
    use(all);
}

/// Counts kinds of complex numbers: NaN if either part is, else infinite if either part is (counted as positive).
template <class Tag>
[[nodiscard]] inline element_counts complex_kinds(const std::byte* at, std::size_t count) noexcept {
    element_counts kinds;
    for (std::size_t i = 0; i < count; ++i) {
        const double re = lane_at<Tag, double>(at, 2 * i);
        const double im = lane_at<Tag, double>(at, 2 * i + 1);
        const bool nan = re != re || im != im;
        kinds.nan += nan ? 1U : 0U;
        kinds.pos_inf += !nan && !(is_finite(re) && is_finite(im)) ? 1U : 0U;
        kinds.zeros += re == 0 && im == 0 ? 1U : 0U;
    }
    return kinds;
}

/// Picks the lanes of a dtype and walks.
template <class Sweeps, class Demand>
class dtype_walk {
public:
    dtype_walk(const tensor_view& tensor, Demand wanted, const byte_watch* watch = nullptr,
               std::size_t repeats = 0) noexcept
        : type_(tensor.type),
          bytes_(tensor.bytes.data()),
          size_(tensor.bytes.size()),
          wanted_(wanted),
          watch_(watch),
          repeats_(repeats) {}
    dtype_walk(const smdebug::detail::fed_tensor& tensor, Demand wanted) noexcept
        : type_(tensor.type), size_(tensor.size), feed_(&tensor.feed), wanted_(wanted) {}

    /// Calls use(const totals&).  Errors: unsupported for strings.
    template <class Use>
    [[nodiscard]] status run(const Use& use) const noexcept {
        if (!is_numeric(type_)) {
            return status::unsupported;
        }
        visit_dtype(type_, [&]<class Element>() {
            if constexpr (std::same_as<Element, float>) {
                walk<Sweeps, float>(in_place<float>(), wanted_, nullptr, watch_, use);
            } else if constexpr (std::same_as<Element, double>) {
                walk<Sweeps, double>(in_place<double>(), wanted_, &Sweeps::template widen<from_double>, watch_, use);
            } else if constexpr (long_integer<Element>) {
                auto source = source_of<from_integer<Element, double>>();
                source.exact = &integer_sweeps<Sweeps>::template sums<Element>;
                source.differences = &integer_sweeps<Sweeps>::template differences<Element>;
                walk<Sweeps>(source, wanted_, nullptr, watch_, use);
            } else if constexpr (std::same_as<Element, std::complex<double>>) {
                auto source = source_of<from_complex<double>>();
                source.kinds = &complex_kinds<Sweeps>;
                walk<Sweeps, double>(source, wanted_, source.widen, watch_, use);
            } else {
                walk<Sweeps>(source_of<conversion_of<Element>>(), wanted_, nullptr, watch_, use);
            }
        });
        return status::ok;
    }

private:
    template <class Lane>
    [[nodiscard]] element_source<Lane> in_place() const noexcept {
        element_source<Lane> source;
        source.bytes = bytes_;
        source.feed = feed_;
        source.count = size_ / sizeof(Lane);
        source.repeats = repeats_;
        return source;
    }

    template <class Conversion>
    [[nodiscard]] element_source<typename Conversion::lane> source_of() const noexcept {
        auto source = in_place<typename Conversion::lane>();
        source.element_size = sizeof(typename Conversion::element);
        source.count = size_ / source.element_size;
        source.widen = &Sweeps::template widen<Conversion>;
        return source;
    }

    dtype type_;
    const std::byte* bytes_ = nullptr;
    std::size_t size_;
    const smdebug::detail::byte_feed* feed_ = nullptr;
    [[no_unique_address]] Demand wanted_;
    const byte_watch* watch_ = nullptr;
    std::size_t repeats_ = 0;
};

/// Fills `out` with the values of a tensor: the members of `wanted`, a reduction_set or a fixed_demand, and those that
/// come at no extra cost.
/// Cost: one pass over the bytes, no allocation; 20 KB of stack.  Errors: status::unsupported for strings, and `out` is
/// unchanged.
/// `watch`: null, or see watched_reducer.  `repeats`: elements after those in the bytes, see repeated_block.
template <class Sweeps, class Wanted>
[[nodiscard]] inline status reduce_into(const tensor_view& tensor, Wanted wanted, const byte_watch* watch,
                                        std::size_t repeats, reduction_values& out) noexcept {
    const subnormals_kept here;
    // Its bytes need not be passed to `watch`: nothing is gained.
    if (const std::optional<double> only = single_element<Sweeps>(tensor)) {
        values_of_one<Sweeps>(*only, out);
        return status::ok;
    }
    const auto needed = demand_of<Sweeps>(wanted);
    using demand_type = std::remove_const_t<decltype(needed)>;
    const bool complex = is_complex(tensor.type);
    return dtype_walk<Sweeps, demand_type>(tensor, needed, watch, repeats).run([&](const totals& all) noexcept {
        finish<Sweeps>(all, needed, complex, out);
    });
}

/// The values that reduce_into() fills in, or its status, as a result.
template <class Sweeps, class Wanted>
[[nodiscard]] inline result<reduction_values> reduce_tensor(const tensor_view& tensor, Wanted wanted,
                                                            const byte_watch* watch = nullptr,
                                                            std::size_t repeats = 0) noexcept {
    result<reduction_values> found{std::in_place};
    if (const status outcome = reduce_into<Sweeps>(tensor, wanted, watch, repeats, *found); outcome != status::ok) {
        found = outcome;
    }
    return found;
}

/// Computes a set that is known at compile time: its code computes only this set.
template <class Sweeps, reduction_set Wanted>
[[nodiscard]] inline result<reduction_values> reduce_tensor(const tensor_view& tensor) noexcept {
    return reduce_tensor<Sweeps>(tensor, fixed_demand<demand_of<Sweeps>(Wanted)>{});
}

/// At least the values `wanted` of a tensor whose bytes come from a feed.  Errors: truncated, too, see fed_reducer.
template <class Sweeps>
[[nodiscard]] inline result<reduction_values> reduce_fed_tensor(const smdebug::detail::fed_tensor& tensor,
                                                                reduction_set wanted) noexcept {
    if (tensor.size < 2 * size_of(tensor.type)) {  // one element, or none
        const byte_view bytes = tensor.size > 0 ? tensor.feed(0, tensor.size) : byte_view{};
        return bytes.size() < tensor.size
                   ? result<reduction_values>{status::truncated}
                   : reduce_tensor<Sweeps>({tensor.type, {}, bytes.first(tensor.size), {}}, wanted);
    }
    const subnormals_kept here;
    const required_statistics needed = demand_of<Sweeps>(wanted);
    result<reduction_values> found{std::in_place};
    bool cut = false;
    const status walked = dtype_walk<Sweeps, required_statistics>(tensor, needed).run([&](const totals& all) noexcept {
        cut = all.cut;
        finish<Sweeps>(all, needed, is_complex(tensor.type), *found);
    });
    if (walked != status::ok || cut) {
        found = cut ? status::truncated : walked;
    }
    return found;
}

/// At least the values `wanted` of a tensor with `repeats` more elements, see repeated_block: a block of them is swept
/// once.
template <class Sweeps>
[[nodiscard]] inline result<reduction_values> reduce_repeated_tensor(const tensor_view& values, std::size_t repeats,
                                                                     reduction_set wanted) noexcept {
    static_assert(repeated_block == block_size);
    return reduce_tensor<Sweeps>(values, wanted, nullptr, repeats);
}

}  // namespace smdebug::inline v1::reduce::detail
#include <smdebug/core/strict_math/end.ipp>
