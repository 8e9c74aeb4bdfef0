// The concepts of reduce/: what a reduction kernel is, and its results.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/dtype.hpp>
#include <smdebug/core/function_ref.hpp>
#include <smdebug/core/status.hpp>
#include <smdebug/reduce/name.hpp>
#include <smdebug/tensor/tensor_view.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <smdebug/core/strict_math/begin.ipp>
namespace smdebug::inline v1 {

/// A kernel's results: doubles for the reductions, exact counts.  Entries that were not computed are NaN.
struct reduction_values {
    std::array<double, 2 * reduction_count> value = filled_with_nan();
    std::uint64_t count = 0;  ///< elements
    std::uint64_t nan = 0;    ///< elements that are NaN (complex: either part)
    std::uint64_t pos_inf = 0;
    std::uint64_t neg_inf = 0;
    std::uint64_t zeros = 0;  ///< elements equal to 0, including -0.0
    reduction_set computed;   ///< the entries that are wanted and defined for the dtype

    [[nodiscard]] double operator()(reduction what, bool abs = false) const noexcept {
        return value[reduction_key{what, abs}.index()];
    }

private:
    [[nodiscard]] static constexpr std::array<double, 2 * reduction_count> filled_with_nan() noexcept {
        std::array<double, 2 * reduction_count> values{};
        values.fill(std::numeric_limits<double>::quiet_NaN());
        return values;
    }
};

/// Whether kernels of a type compute the same bits as the library's own, so that their results are interchangeable.
template <class Kernel>
inline constexpr bool gives_usual_bits = false;

/// reduce(view, set): computes the reductions.
template <class Kernel>
concept tensor_reducer = requires(const Kernel& kernel, const tensor_view& tensor, reduction_set wanted) {
    { kernel.reduce(tensor, wanted) } -> std::same_as<result<reduction_values>>;
};

/// Called with the bytes of a tensor, piece by piece from the first on, just before each piece is reduced: lets a
/// checksum, for example, run on each piece while it is in L1.
/// Must not throw.
using byte_watch = function_ref<void(byte_view)>;

/// Optional: reduce(view, set, watch) passes the bytes of `view`, in place, to `watch`: not always all of them (a
/// caller that needs all must process the rest afterwards), but never one twice.
template <class Kernel>
concept watched_reducer =
    requires(const Kernel& kernel, const tensor_view& tensor, reduction_set wanted, const byte_watch& watch) {
        { kernel.reduce(tensor, wanted, watch) } -> std::same_as<result<reduction_values>>;
    };

namespace detail {

/// Optional: reduce_into(view, set, watch, out) is reduce() with its result constructed in `out`, so that it is not
/// copied; `watch` may be null.  Errors: those of reduce(), and `out` is unchanged.
template <class Kernel>
concept in_place_reducer = requires(const Kernel& kernel, const tensor_view& tensor, reduction_set wanted,
                                    const byte_watch* watch, reduction_values& out) {
    { kernel.reduce_into(tensor, wanted, watch, out) } -> std::same_as<status>;
};

}  // namespace detail

/// Optional: reduce_repeated(view, repeats, set) returns for the elements of `view` and `repeats` more (see
/// repeated_block) what reduce() returns for all of them, to the last bit.
template <class Kernel>
concept repeating_reducer =
    requires(const Kernel& kernel, const tensor_view& values, std::size_t repeats, reduction_set wanted) {
        { kernel.reduce_repeated(values, repeats, wanted) } -> std::same_as<result<reduction_values>>;
    };

namespace detail {

/// Provides the bytes of a tensor from `begin` on: at least `least` of them; fewer if they are unavailable, and then
/// the tensor is given up.  Valid until the next call.  Must not throw.
using byte_feed = function_ref<byte_view(std::size_t begin, std::size_t least)>;

/// A tensor whose bytes are not contiguous in memory.
struct fed_tensor {
    dtype type = dtype::invalid;
    std::size_t size = 0;  ///< bytes
    byte_feed feed;        ///< called block by block, from the first on, and again for blocks that are read twice
};

/// Optional: reduce_fed(tensor, set) returns for such a tensor what reduce() returns for one in memory, to the last
/// bit.
/// Errors: truncated if the bytes ended too early, and those of reduce().
template <class Kernel>
concept fed_reducer = requires(const Kernel& kernel, const fed_tensor& tensor, reduction_set wanted) {
    { kernel.reduce_fed(tensor, wanted) } -> std::same_as<result<reduction_values>>;
};

}  // namespace detail

namespace detail {

/// Optional: mix_words(words, first) returns the sum of mixed words that reduce/digest.hpp defines; `words` is a whole
/// number of 64-bit words, at any alignment, and the first is word `first` of its tensor.  Must not throw.
template <class Kernel>
concept word_mixer = requires(const Kernel& kernel, byte_view words, std::uint64_t first) {
    { kernel.mix_words(words, first) } -> std::same_as<std::uint64_t>;
};

}  // namespace detail

/// name(): a kernel's name in benchmarks and in a trial's name.
template <class Kernel>
concept named_kernel = requires(const Kernel& kernel) {
    { kernel.name() } -> std::convertible_to<std::string>;
};

/// Computes a set of reductions over one tensor.  A type K models `reduction_kernel` when:
///  1. reduce(tensor, wanted) computes at least `wanted` in one pass over the bytes, which may lie at any alignment,
///     and says in `computed` what it has; population std and variance (divide by n); l1 and l2 are norms of the
///     flattened tensor at every rank, so abs_l1 = l1 and abs_l2 = l2;
///  2. NaN in gives NaN out; an empty tensor gives sum 0, prod 1, l1 = l2 = 0 and NaN for the rest;
///  3. integers and booleans are summed exactly and rounded once; |int8 -128| is 128; complex tensors have only the
///     abs forms, l1 and l2 (of magnitudes): the others stay out of `computed`;
///  4. string tensors give status::unsupported;
///  5. const calls may run concurrently.
/// Not promised: that two kernels agree to the last bit (the kernels of this library do among themselves).
template <class Kernel>
concept reduction_kernel = std::copy_constructible<Kernel> && tensor_reducer<Kernel> && named_kernel<Kernel>;

/// A result that is cached: numbers, or a small struct of numbers, cost least; others, such as a std::vector<double>,
/// an allocation each.
template <class Element>
concept measured_value = std::copyable<Element> && std::default_initializable<Element>;

/// measure(tensor_view) returns a result that depends only on the tensor's dtype, shape and elements.  Equal measures
/// of one type return equal results: cached results are found by `==`.
/// It is called on any thread, while an event file may be read in place: it must not block, nor write to the run.
/// Elements have any alignment: see for_each_real_block.
template <class Measure>
concept tensor_measure =
    std::copyable<Measure> && std::equality_comparable<Measure> && std::invocable<const Measure&, const tensor_view&> &&
    measured_value<std::invoke_result_t<const Measure&, const tensor_view&>>;

/// comparison(earlier, now) returns a result about two saves of one tensor.  Otherwise as a tensor_measure.
template <class Measure>
concept tensor_comparison =
    std::copyable<Measure> && std::equality_comparable<Measure> &&
    std::invocable<const Measure&, const tensor_view&, const tensor_view&> &&
    measured_value<std::invoke_result_t<const Measure&, const tensor_view&, const tensor_view&>>;

/// The result of a measure.
template <tensor_measure Measure>
using measured_by = std::invoke_result_t<const Measure&, const tensor_view&>;

/// The result of a comparison.
template <tensor_comparison Measure>
using compared_by = std::invoke_result_t<const Measure&, const tensor_view&, const tensor_view&>;

}  // namespace smdebug::inline v1
#include <smdebug/core/strict_math/end.ipp>
