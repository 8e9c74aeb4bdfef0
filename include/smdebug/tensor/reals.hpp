// The elements of a tensor as doubles, whatever real type they have.
#pragma once

#include <smdebug/core/dtype.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/tensor/element.hpp>
#include <smdebug/tensor/float8.hpp>
#include <smdebug/tensor/tensor_value.hpp>
#include <smdebug/tensor/tensor_view.hpp>

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace smdebug {
inline namespace v1 {

/// Whether the elements are real numbers or booleans: neither complex nor strings.
[[nodiscard]] constexpr bool has_reals(dtype type) noexcept { return is_numeric(type) && !is_complex(type); }

/// A real element as a double; 64-bit integers are rounded.
template <class T>
[[nodiscard]] constexpr double to_double(T value) noexcept {
    if constexpr (detail::narrow_float<T>) {
        return static_cast<double>(static_cast<float>(value));
    } else {
        return static_cast<double>(value);
    }
}

/// Calls visit(std::span<const T>) with the elements, of their own type T.  Returns whether there are reals.
template <class Visit>
bool visit_reals(const tensor_value& tensor, Visit&& visit) {
    if (!has_reals(tensor.type())) {
        return false;
    }
    visit_dtype(tensor.type(), [&]<class T>() {
        if constexpr (!requires { typename T::value_type; }) {  // not complex
            visit(tensor.elements<T>());
        }
    });
    return true;
}

/// Elements [begin, begin + count) of a tensor of T: where they lie, if they are aligned there, else copied into `room`.
template <element T>
[[nodiscard]] std::span<const T> aligned_elements(const tensor_view& tensor, std::size_t begin, std::size_t count,
                                                  std::vector<std::byte>& room) {
    const std::byte* const from = tensor.bytes.data() + begin * sizeof(T);
    if (reinterpret_cast<std::uintptr_t>(from) % alignof(T) == 0) {
        return {reinterpret_cast<const T*>(from), count};
    }
    room.resize(std::max(room.size(), count * sizeof(T)));
    std::memcpy(room.data(), from, count * sizeof(T));
    return {reinterpret_cast<const T*>(room.data()), count};
}

/// Calls visit(std::span<const T>) with the elements, of their own type T and in C order, some thousand at a time, until
/// it says false.  Returns whether there are reals.
template <class Visit>
bool for_each_real_block(const tensor_view& tensor, Visit&& visit) {
    if (!has_reals(tensor.type)) {
        return false;
    }
    visit_dtype(tensor.type, [&]<class T>() {
        if constexpr (!requires { typename T::value_type; }) {  // not complex
            constexpr std::size_t block = 4096;
            alignas(T) std::array<std::byte, block * sizeof(T)> room;
            const std::size_t count = tensor.bytes.size() / sizeof(T);
            for (std::size_t begin = 0; begin < count; begin += block) {
                const std::size_t size = std::min(block, count - begin);
                const std::byte* from = tensor.bytes.data() + begin * sizeof(T);
                if (reinterpret_cast<std::uintptr_t>(from) % alignof(T) != 0) {
                    std::memcpy(room.data(), from, size * sizeof(T));
                    from = room.data();
                }
                if (!visit(std::span<const T>{reinterpret_cast<const T*>(from), size})) {
                    return;
                }
            }
        }
    });
    return true;
}

/// The elements as doubles, in C order; none for complex numbers and strings.
[[nodiscard]] std::vector<double> reals_of(const tensor_value& tensor);

}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/tensor/impl/reals.ipp>
#endif
