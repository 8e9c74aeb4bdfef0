// Where two tensors of one dtype and shape differ, how often and how far: in one pass, piece by piece.
// Equal bytes are detected by memcmp, a block at a time; only differing blocks are compared element by element.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/dtype.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/tensor/tensor_view.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace smdebug::inline v1::reduce::detail {

/// The number of elements compared together: both blocks of doubles fit into L1.
inline constexpr std::size_t pair_block = 512;

/// Elements of a real tensor as doubles: in place if they are aligned doubles, else converted into `room`.
[[nodiscard]] std::span<const double> widened(const tensor_view& tensor, std::size_t begin, std::size_t count,
                                              std::array<double, pair_block>& room);

/// Calls visit(begin, a's doubles, b's doubles) for blocks of two real tensors of the same size, until it returns
/// false.  64-bit integers are rounded to doubles.
template <class Visit>
void for_each_pair_block(const tensor_view& a, const tensor_view& b, Visit&& visit) {
    std::array<double, pair_block> room_a;
    std::array<double, pair_block> room_b;
    const std::size_t size = a.count();
    for (std::size_t begin = 0; begin < size; begin += pair_block) {
        const std::size_t count = std::min(pair_block, size - begin);
        if (!visit(begin, widened(a, begin, count, room_a), widened(b, begin, count, room_b))) {
            return;
        }
    }
}

/// The allowed distance from a reference: atol + rtol * |reference|.  Equal infinities are close; NaN is close to NaN
/// only with equal_nan.
struct tolerance {
    double rtol = 1e-5;
    double atol = 1e-8;
    bool equal_nan = false;

    [[nodiscard]] double allowed(double reference) const noexcept { return atol + rtol * std::abs(reference); }

    [[nodiscard]] bool close(double value, double reference) const noexcept;
};

/// Whether all are close and finite: tolerance::close with one comparison, which infinities and NaN fail.
[[nodiscard]] bool surely_close(std::span<const double> values, std::span<const double> references, double rtol,
                                double atol) noexcept;

/// The first element that is not close; nothing if all are.  Both tensors are real and have the same size.
/// Cost: one pass, which ends at the block with the first difference.
[[nodiscard]] std::optional<std::size_t> first_difference(const tensor_view& values, const tensor_view& references,
                                                          const tolerance& within);

/// NumPy's allclose for two tensors of reals; tensors of different shapes are not close.
[[nodiscard]] inline bool allclose(const tensor_view& values, const tensor_view& references,
                                   const tolerance& within = {}) {
    return std::ranges::equal(values.shape, references.shape) && !first_difference(values, references, within);
}

/// An element that differs: its position in C order, and both values as text.
struct differing_element {
    std::size_t place = 0;
    std::string first = {};
    std::string second = {};
};

/// An element as text: the shortest digits that restore it, "(re,im)", "true", "NaN"; a string in quotes, cut after 40
/// bytes.
[[nodiscard]] std::string element_text(dtype type, byte_view element);
[[nodiscard]] std::string element_text(std::string_view element);

/// Compares two tensors of one dtype, given in pieces.
/// Exactly: elements differ if their bits do, so -0.0 is not 0.0, and NaN equals NaN of the same bits.  Within a
/// tolerance: as numpy.allclose(a, b, equal_nan=True) for each element, with the second tensor as the reference;
/// integers and booleans as doubles, complex numbers by their distance.  Strings differ if their bytes do.
/// Cost: near that of memcmp for equal bytes, some nanoseconds for each element of a block that differs.
class element_comparison {
public:
    explicit element_comparison(dtype type, const std::optional<tolerance>& within = {}) noexcept
        : type_(type), within_(within) {}

    /// Adds the next elements of both, equally many; whole ones, at any alignment.
    void add(byte_view first, byte_view second);
    /// Adds a pair of elements, one of each tensor, `times` times.
    void add_repeated(byte_view first, byte_view second, std::size_t times);
    /// The same for strings.
    void add(std::span<const std::string_view> first, std::span<const std::string_view> second);

    [[nodiscard]] std::size_t elements() const noexcept { return elements_; }
    [[nodiscard]] std::size_t differing() const noexcept { return differing_; }

    /// The largest |a - b| among differing elements; infinity if one of two is NaN or another infinity, 0 for -0.0 and
    /// for two NaN.  NaN if none differs, and for strings.
    [[nodiscard]] double largest() const noexcept { return largest_; }
    /// The largest |a - b| / |b|; infinity if b is 0.  NaN as above.
    [[nodiscard]] double largest_relative() const noexcept { return largest_relative_; }

    /// The first differing element, and the first with the largest distance.
    [[nodiscard]] std::optional<differing_element> first() const;
    [[nodiscard]] std::optional<differing_element> farthest() const;

private:
    // Bytes of one element, since only few elements become texts.
    struct kept_element {
        std::size_t place = 0;
        std::array<std::byte, 16> first = {};
        std::array<std::byte, 16> second = {};
    };

    template <class T>
    void look_at(byte_view first, byte_view second, std::size_t times);

    [[nodiscard]] differing_element text_of(const kept_element& kept) const;

    dtype type_;
    std::optional<tolerance> within_;
    std::size_t elements_ = 0;
    std::size_t differing_ = 0;
    double largest_ = std::numeric_limits<double>::quiet_NaN();
    double largest_relative_ = std::numeric_limits<double>::quiet_NaN();
    kept_element first_;
    kept_element farthest_;
    differing_element first_string_;
};

/// For two real tensors a and b of the same size, as doubles.
struct difference_norms {
    double difference = 0;  ///< norm of b - a
    double first = 0;       ///< norm of a
};

/// Both L2 norms.  IEEE: NaN and infinities in either propagate.
/// Cost: one pass over both; for doubles one or two more if squares leave their range.
[[nodiscard]] difference_norms l2_of_difference(const tensor_view& a, const tensor_view& b);

/// mean|b - a| and mean|a|; NaN for empty tensors.
[[nodiscard]] difference_norms mean_abs_of_difference(const tensor_view& a, const tensor_view& b);

/// mean(|b - a| / (|a| + epsilon)).
[[nodiscard]] double mean_relative_difference(const tensor_view& a, const tensor_view& b, double epsilon);

}  // namespace smdebug::inline v1::reduce::detail

#ifndef SMDEBUG_COMPILED
#include <smdebug/reduce/impl/element_differences.ipp>
#endif
