// Elements at any strides, as a view in C order.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/dtype.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/tensor/tensor_view.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
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

}  // namespace smdebug::inline v1

#ifndef SMDEBUG_COMPILED
#include <smdebug/tensor/impl/strided_tensor.ipp>
#endif
