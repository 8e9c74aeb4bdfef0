// A tensor as the decoder leaves it: dtype, shape and elements, borrowed from the record where possible.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/dtype.hpp>
#include <smdebug/core/shape.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>
#include <memory>
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
        const std::size_t size = size_of(type);  // a power of two, or 0
        return type == dtype::string ? strings.size() : bytes.size() >> (size == 0 ? 0 : std::countr_zero(size));
    }
};

/// Constant tensors, and those that end in one value over and over, need not lie in memory as a whole.  Who asks a
/// decoder for it (repeating_decoder) and a kernel to take it (repeating_reducer) has the elements in two parts: a view
/// whose bytes are whole blocks of this many elements, the last block nothing but the last value, and a number,
/// `repeats`, of elements of that value which follow, and are not there.
inline constexpr std::size_t repeated_block = 2048;

/// Writes the element that lies right before `begin` over and over, until `end`; they are whole elements apart.
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

/// All elements of a tensor that is held in two parts.
[[nodiscard]] inline std::vector<std::byte> with_repeats(const tensor_view& values, std::size_t repeats) {
    const std::size_t size = size_of(values.type);
    std::vector<std::byte> all(values.bytes.size() + repeats * size);
    std::copy(values.bytes.begin(), values.bytes.end(), all.begin());
    if (repeats > 0) {
        repeat_element(all.data() + values.bytes.size(), all.data() + all.size(), size);
    }
    return all;
}

/// What a decoder writes into.  Made to be used again: its vectors keep their capacity from record to record.
/// Borrows: `name`, `strings` and usually `bytes` point into the record's bytes; `bytes` points into `expanded`
/// where the file's encoding was not the elements themselves.  A decoder that decrypts or decompresses makes bytes of its
/// own: it gives their owner to `owner`, and all three may point into them.  Moving keeps that true; copying is not
/// offered.
struct decoded_tensor {
    std::string_view name;  ///< the tensor's name as the record gives it
    double wall_time = 0;   ///< of the record, in seconds since 1970; 0 where it has none
    dtype type = dtype::invalid;
    shape_type shape;
    byte_view bytes;
    std::vector<std::byte> expanded;
    std::vector<std::string_view> strings;
    /// Keeps alive what `name`, `bytes` and `strings` point at outside of the record and of `expanded`; null where they
    /// do not.  A tensor_value shares it instead of copying elements that are aligned for their type.
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

}  // namespace v1
}  // namespace smdebug
