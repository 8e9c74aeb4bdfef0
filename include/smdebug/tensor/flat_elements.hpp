// Numbers in any container as a flat tensor_view: for code that takes elements in any order.
// Lets histograms and quantiles take the types that a hook saves, without a view written by the caller.
#pragma once

#include <smdebug/core/function_ref.hpp>
#include <smdebug/tensor/element.hpp>
#include <smdebug/tensor/tensor_view.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <iterator>
#include <memory>
#include <span>
#include <type_traits>

namespace smdebug::inline v1 {

/// A matrix of another library, such as Eigen's: access by row and column.
template <class Matrix>
concept element_matrix = requires(const Matrix& matrix) {
    requires saved_element<typename Matrix::Scalar>;
    { matrix.rows() } -> std::integral;
    { matrix.cols() } -> std::integral;
    { matrix(matrix.rows(), matrix.cols()) } -> std::convertible_to<typename Matrix::Scalar>;
};

/// Contiguous elements of a tensor's element type: std::span, std::vector, std::array, an array of float, ...  Not the
/// memory of a matrix, which may be ordered by columns.
template <class Range>
concept element_range = detail::contiguous_iterable<const Range&> && detail::sized_iterable<const Range&> &&
                        saved_element<std::remove_cv_t<detail::value_in<const Range&>>> && !element_matrix<Range>;

namespace detail {

/// Elements without contiguous memory: of a std::vector<bool>, a std::deque, an xtensor expression.
template <class Range>
concept scattered_elements = !element_range<Range> && !element_matrix<Range> && requires(const Range& values) {
    requires saved_element<typename Range::value_type>;
    values.begin();
    values.end();
    { values.size() } -> std::integral;
};

}  // namespace detail

/// Numbers that can be the elements of one tensor: contiguous ones, a matrix, an xtensor expression, a
/// std::vector<bool>.
template <class Values>
concept element_source = element_range<Values> || element_matrix<Values> || detail::scattered_elements<Values>;

namespace detail {

template <class Values>
[[nodiscard]] consteval auto element_in() {
    if constexpr (element_matrix<Values>) {
        return std::type_identity<typename Values::Scalar>{};
    } else if constexpr (element_range<Values>) {
        return std::type_identity<std::remove_cv_t<value_in<const Values&>>>{};
    } else {
        return std::type_identity<typename Values::value_type>{};
    }
}

/// Copies the elements of a matrix to `to`, row by row, the order of tensors.
template <element_matrix Matrix>
void copy_rows(const Matrix& matrix, typename Matrix::Scalar* to) {
    const auto rows = matrix.rows();
    const auto columns = matrix.cols();
    for (auto row = decltype(rows + 0){}; row < rows; ++row) {
        for (auto column = decltype(columns + 0){}; column < columns; ++column) {
            *to++ = matrix(row, column);
        }
    }
}

/// A flat view of the elements.  Not moved: the view points into it.
/// Borrows: contiguous elements.  Cost: a copy for all others, in their order; for a matrix row by row.
template <element_source Values>
class flat_elements {
public:
    using value_type = typename decltype(element_in<Values>())::type;

    explicit flat_elements(const Values& values) {
        if constexpr (element_range<Values>) {
            elements_ = {std::ranges::data(values), std::ranges::size(values)};
        } else if constexpr (element_matrix<Values>) {
            copy_rows(values, copy(static_cast<std::size_t>(values.rows()) * static_cast<std::size_t>(values.cols())));
        } else {
            value_type* to = copy(static_cast<std::size_t>(values.size()));
            for (auto at = values.begin(); at != values.end(); ++at) {
                *to++ = *at;
            }
        }
        extents_ = {elements_.size()};
    }
    flat_elements(const flat_elements&) = delete;
    flat_elements& operator=(const flat_elements&) = delete;

    [[nodiscard]] tensor_view view() const noexcept {
        return {.type = saved_dtype_v<value_type>, .shape = extents_, .bytes = std::as_bytes(elements_), .strings = {}};
    }

private:
    // Not a vector: std::vector<bool> has no elements to point at.
    [[nodiscard]] value_type* copy(std::size_t count) {
        copied_ = std::make_unique<value_type[]>(count);
        elements_ = {copied_.get(), count};
        return copied_.get();
    }

    std::unique_ptr<value_type[]> copied_;
    std::span<const value_type> elements_;
    std::array<std::size_t, 1> extents_ = {};
};

}  // namespace detail
}  // namespace smdebug::inline v1
