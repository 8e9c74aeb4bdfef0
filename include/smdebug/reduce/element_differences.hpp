// Where two tensors of one dtype and shape differ, how often and how far, for diff_runs and the rule replica_mismatch:
// in one pass, piece by piece.
// Equal bytes are detected by memcmp, a block at a time; only differing blocks are compared element by element.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/dtype.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/reduce/allclose.hpp>

#include <array>
#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <smdebug/core/strict_math/begin.ipp>
namespace smdebug::inline v1 {

/// An element that differs: its position in C order, and both values as text.
struct differing_element {
    std::size_t place = 0;
    std::string first = {};
    std::string second = {};
};

}  // namespace smdebug::inline v1

namespace smdebug::inline v1::reduce::detail {

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
    /// Adds the next strings of both, equally many.
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

    template <class Element>
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

}  // namespace smdebug::inline v1::reduce::detail
#include <smdebug/core/strict_math/end.ipp>

#ifndef SMDEBUG_COMPILED
#include <smdebug/reduce/impl/element_differences.ipp>
#endif
