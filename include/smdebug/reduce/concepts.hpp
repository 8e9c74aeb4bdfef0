// The front door of reduce/: what a reduction kernel is, and what it answers.
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
#include <string>

namespace smdebug {
inline namespace v1 {

/// What a kernel answers: doubles for the reductions, exact counts.  Entries that were not computed are NaN.
struct reduction_values {
    std::array<double, 2 * reduction_count> value = filled_with_nan();
    std::uint64_t count = 0;  ///< elements
    std::uint64_t nan = 0;    ///< elements that are NaN (complex: either part)
    std::uint64_t pos_inf = 0;
    std::uint64_t neg_inf = 0;
    std::uint64_t zeros = 0;  ///< elements equal to 0, -0.0 among them
    reduction_set computed;   ///< what of the above was asked for and has a meaning for the dtype

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

/// Whether kernels of a type answer the same bits as the library's own, so that what one of them made serves for another.
template <class K>
inline constexpr bool gives_usual_bits = false;

/// reduce(view, set): the part that computes.
template <class K>
concept tensor_reducer = requires(const K& kernel, const tensor_view& tensor, reduction_set wanted) {
    { kernel.reduce(tensor, wanted) } -> std::same_as<result<reduction_values>>;
};

/// Is shown the bytes of a tensor, piece by piece from the first on, just before each piece is reduced: for who has to
/// look at them, too, while they lie in L1.
/// It must not throw.
using byte_watch = function_ref<void(byte_view)>;

/// Optional: reduce(view, set, watch) shows the bytes of `view`, where they lie, to `watch`: not always all of them
/// (who needs all looks at the rest afterwards), but never one twice.
template <class K>
concept watched_reducer =
    requires(const K& kernel, const tensor_view& tensor, reduction_set wanted, const byte_watch& watch) {
        { kernel.reduce(tensor, wanted, watch) } -> std::same_as<result<reduction_values>>;
    };

namespace detail {

/// Optional: reduce_into(view, set, watch, out) is reduce() for an answer that is to stay where `out` is, which is then
/// not copied; `watch` may be null.  Errors: those of reduce(), and `out` stays as it is.
template <class K>
concept in_place_reducer = requires(const K& kernel, const tensor_view& tensor, reduction_set wanted,
                                    const byte_watch* watch, reduction_values& out) {
    { kernel.reduce_into(tensor, wanted, watch, out) } -> std::same_as<status>;
};

}  // namespace detail

/// Optional: reduce_repeated(view, repeats, set) answers for the elements of `view` and `repeats` more, see
/// repeated_block, what reduce() answers for all of them, to the last bit.
template <class K>
concept repeating_reducer =
    requires(const K& kernel, const tensor_view& values, std::size_t repeats, reduction_set wanted) {
        { kernel.reduce_repeated(values, repeats, wanted) } -> std::same_as<result<reduction_values>>;
    };

namespace detail {

/// Gives the bytes of a tensor from `begin` on: at least `least` of them, fewer only where they cannot be had, and the
/// tensor is given up.  They are there until the next call.  It must not throw.
using byte_feed = function_ref<byte_view(std::size_t begin, std::size_t least)>;

/// A tensor whose bytes do not lie in memory together.
struct fed_tensor {
    dtype type = dtype::invalid;
    std::size_t size = 0;  ///< bytes
    byte_feed feed;  ///< is asked for them by blocks, from the first on, and where they are looked at twice, again
};

/// Optional: reduce_fed(tensor, set) answers for such a tensor what reduce() answers for one in memory, to the last bit.
/// Errors: truncated where the bytes ended too early, and those of reduce().
template <class K>
concept fed_reducer = requires(const K& kernel, const fed_tensor& tensor, reduction_set wanted) {
    { kernel.reduce_fed(tensor, wanted) } -> std::same_as<result<reduction_values>>;
};

}  // namespace detail

/// name(): what a kernel calls itself in benchmarks and in a trial's name.
template <class K>
concept named_kernel = requires(const K& kernel) {
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
///  5. const calls may run at once on many threads.
/// Not promised: that two kernels agree to the last bit (the kernels of this library do among themselves).
template <class K>
concept reduction_kernel = std::copy_constructible<K> && tensor_reducer<K> && named_kernel<K>;

}  // namespace v1
}  // namespace smdebug
