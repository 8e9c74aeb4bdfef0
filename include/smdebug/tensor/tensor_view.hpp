// A decoded tensor: dtype, shape and elements, borrowed from the record if possible.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/dtype.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace smdebug::inline v1 {

/// A tensor's elements and shape, all borrowed.
/// `bytes` holds count() elements, little-endian, C order, at ANY alignment; booleans are one byte each, 0 or 1;
/// complex numbers are re, im.  Strings are in `strings` instead, and `bytes` is empty.
struct tensor_view {
    dtype type = dtype::invalid;
    std::span<const std::size_t> shape;
    byte_view bytes;
    std::span<const std::string_view> strings;

    [[nodiscard]] std::size_t count() const noexcept {
        const std::size_t size = size_of(type);  // a power of two, or 0
        return type == dtype::string ? strings.size() : bytes.size() >> (size == 0 ? 0 : std::countr_zero(size));
    }
};

/// Constant tensors, and those with a long trailing repeat of one value, need not be expanded in memory.  A caller that
/// supports this (repeating_decoder, repeating_reducer) holds the elements in two parts: a view of whole blocks of this
/// many elements, the last block nothing but the last value, and the number `repeats` of further elements of that
/// value, which are not in memory.
inline constexpr std::size_t repeated_block = 2048;

/// Repeats the element right before `begin` until `end`, a whole number of elements later.
/// Cost: that of writing memory.
inline void repeat_element(std::byte* begin, const std::byte* end, std::size_t element_size) noexcept {
    constexpr std::size_t most = std::size_t{16} << 10U;  // what is copied stays in L1
    const std::byte* from = begin - element_size;
    std::size_t ready = element_size;
    while (begin != end) {
        const std::size_t size = std::min(ready, static_cast<std::size_t>(end - begin));
        std::memcpy(begin, from, size);
        begin += size;
        ready = ready <= most / 2 ? 2 * ready : ready;
    }
}

/// Expands all elements of a tensor that is held in two parts.
[[nodiscard]] inline std::vector<std::byte> with_repeats(const tensor_view& values, std::size_t repeats) {
    const std::size_t size = size_of(values.type);
    std::vector<std::byte> all(values.bytes.size() + repeats * size);
    std::copy(values.bytes.begin(), values.bytes.end(), all.begin());
    if (repeats > 0) {
        repeat_element(all.data() + values.bytes.size(), all.data() + all.size(), size);
    }
    return all;
}

/// The output of a decoder.  Reusable: its vectors keep their capacity from record to record.
/// Borrows: `name`, `strings` and usually `bytes` point into the record's bytes; `bytes` points into `expanded` if the
///          file's encoding differs from the elements.  A decoder that decrypts or decompresses produces new bytes: it
///          stores their owner in `owner`, and all three may point into them.  Moving keeps pointers valid; copying is
///          disabled.
struct decoded_tensor {
    std::string_view name;  ///< the tensor's name in the record
    double wall_time = 0;   ///< of the record, in seconds since 1970; 0 where it has none
    dtype type = dtype::invalid;
    shape_type shape;
    byte_view bytes;
    std::vector<std::byte> expanded;
    std::vector<std::string_view> strings;
    /// Keeps alive what `name`, `bytes` and `strings` point to outside of the record and of `expanded`; else null.  A
    /// tensor_value shares it instead of copying elements that are aligned for their type.
    std::shared_ptr<const void> owner;

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

}  // namespace smdebug::inline v1
