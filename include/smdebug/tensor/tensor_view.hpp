// A tensor as the decoder leaves it: dtype, shape and elements, borrowed from the record where possible.
// Used by: tensor (decoders), reduce (kernels), trial.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/dtype.hpp>
#include <smdebug/core/shape.hpp>

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace smdebug {
inline namespace v1 {

/// A tensor's elements and shape, all borrowed.
/// `bytes` holds count() elements, little-endian, C order, at ANY alignment; booleans are one byte each, 0 or 1;
/// complex numbers are re, im.  Strings are in `strings` instead, and `bytes` is empty.
struct tensor_view {
    dtype type = dtype::invalid;
    std::span<const std::size_t> shape;
    byte_view bytes;
    std::span<const std::string_view> strings;

    [[nodiscard]] std::size_t count() const noexcept {
        return type == dtype::string ? strings.size() : bytes.size() / (size_of(type) == 0 ? 1 : size_of(type));
    }
};

/// What a decoder writes into.  Made to be used again: its vectors keep their capacity from record to record.
/// Borrows: `name`, `strings` and usually `bytes` point into the record's bytes; `bytes` points into `expanded`
/// where the file's encoding was not the elements themselves.  Moving keeps that true; copying is not offered.
struct decoded_tensor {
    std::string_view name;  ///< the tensor's name as the record gives it
    dtype type = dtype::invalid;
    shape_type shape;
    byte_view bytes;
    std::vector<std::byte> expanded;
    std::vector<std::string_view> strings;

    decoded_tensor() = default;
    decoded_tensor(decoded_tensor&&) noexcept = default;
    decoded_tensor& operator=(decoded_tensor&&) noexcept = default;
    decoded_tensor(const decoded_tensor&) = delete;
    decoded_tensor& operator=(const decoded_tensor&) = delete;
    ~decoded_tensor() = default;

    /// Whether the elements lie in `expanded` rather than in the record.
    [[nodiscard]] bool owns_elements() const noexcept { return !expanded.empty() && bytes.data() == expanded.data(); }

    [[nodiscard]] tensor_view view() const noexcept { return {type, shape, bytes, strings}; }
};

}  // namespace v1
}  // namespace smdebug
