// Elements at any strides, as a view in C order.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/dtype.hpp>
#include <smdebug/tensor/tensor_view.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

namespace smdebug::inline v1 {
namespace detail {

/// Copies elements of `size` bytes each into C order; arguments as strided_tensor has them.
[[nodiscard]] std::vector<std::byte> in_c_order(std::size_t size, std::span<const std::size_t> extents,
                                                std::span<const std::int64_t> strides, const std::byte* first);

}  // namespace detail

/// Numbers in memory at any strides, as a view in C order.
/// Borrows: elements that lie in C order.  Cost: a copy for all others.
class strided_tensor {
public:
    /// `first`: the element whose indices are all 0; null only if there are none.  `strides`: in elements, one for
    /// each extent; any sign, and 0 where elements are repeated.  `type` is numeric.
    strided_tensor(dtype type, shape_type extents, std::span<const std::int64_t> strides, const std::byte* first);
    strided_tensor(strided_tensor&&) noexcept = default;
    strided_tensor& operator=(strided_tensor&&) noexcept = default;
    strided_tensor(const strided_tensor&) = delete;  // the view points into it
    strided_tensor& operator=(const strided_tensor&) = delete;
    ~strided_tensor() = default;

    [[nodiscard]] tensor_view view() const& noexcept { return {type_, extents_, bytes_, {}}; }
    tensor_view view() const&& = delete;  // keep the tensor in a variable first

    /// Whether the elements were copied.
    [[nodiscard]] bool copied() const noexcept { return !copy_.empty(); }

private:
    dtype type_;
    shape_type extents_;
    std::vector<std::byte> copy_;
    byte_view bytes_;
};

namespace detail {

// The innermost dimensions whose elements follow one another: their number, and how many elements they have.
struct dense_part {
    std::size_t dimensions = 0;
    std::size_t count = 1;
};

[[nodiscard]] inline dense_part dense_part_of(std::span<const std::size_t> extents,
                                              std::span<const std::int64_t> strides) noexcept {
    dense_part dense;
    for (std::size_t i = extents.size(); i-- > 0;) {
        if (extents[i] != 1 && strides[i] != static_cast<std::int64_t>(dense.count)) {
            break;
        }
        dense.count *= extents[i];
        ++dense.dimensions;
    }
    return dense;
}

// Copies the elements of the dimensions from `at` on; returns where the next ones go.
[[nodiscard]] inline std::byte* copy_strided(std::span<const std::size_t> extents,
                                             std::span<const std::int64_t> strides, std::size_t element,
                                             const dense_part& dense, const std::byte* from, std::byte* to) noexcept {
    if (extents.size() == dense.dimensions) {
        std::memcpy(to, from, dense.count * element);
        return to + dense.count * element;
    }
    const auto step = std::ptrdiff_t{strides[0] * static_cast<std::int64_t>(element)};
    for (std::size_t i = 0; i < extents[0]; ++i) {
        to = copy_strided(extents.subspan(1), strides.subspan(1), element, dense,
                          from + static_cast<std::ptrdiff_t>(i) * step, to);
    }
    return to;
}

inline std::vector<std::byte> in_c_order(std::size_t size, std::span<const std::size_t> extents,
                                         std::span<const std::int64_t> strides, const std::byte* first) {
    std::vector<std::byte> elements(size * element_count(extents).value_or(0));
    if (!elements.empty()) {
        static_cast<void>(
            copy_strided(extents, strides, size, dense_part_of(extents, strides), first, elements.data()));
    }
    return elements;
}

}  // namespace detail

inline strided_tensor::strided_tensor(dtype type, shape_type extents, std::span<const std::int64_t> strides,
                                      const std::byte* first)
    : type_(type), extents_(std::move(extents)) {
    const std::size_t element = size_of(type);
    const std::size_t count = element_count(extents_).value_or(0);
    if (count == 0) {
        return;
    }
    if (detail::dense_part_of(extents_, strides).dimensions == extents_.size()) {
        bytes_ = {first, count * element};
        return;
    }
    copy_ = detail::in_c_order(element, extents_, strides, first);
    bytes_ = copy_;
}

}  // namespace smdebug::inline v1
