// The bodies of <smdebug/reduce/pair_blocks.hpp>.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/dtype.hpp>
#include <smdebug/reduce/pair_blocks.hpp>
#include <smdebug/tensor/reals.hpp>

#include <cstdint>

namespace smdebug {
inline namespace v1 {
namespace reduce {
namespace detail {

SMDEBUG_INLINE std::span<const double> widened(const tensor_view& tensor, std::size_t begin, std::size_t count,
                                               std::array<double, pair_block>& room) {
    const std::byte* const elements = tensor.bytes.data();
    if (tensor.type == dtype::float64 && reinterpret_cast<std::uintptr_t>(elements) % alignof(double) == 0) {
        return {reinterpret_cast<const double*>(elements) + begin, count};
    }
    visit_dtype(tensor.type, [&]<class T>() {
        if constexpr (!requires { typename T::value_type; }) {  // not complex
            const std::byte* from = elements + begin * sizeof(T);
            for (std::size_t i = 0; i < count; ++i, from += sizeof(T)) {
                room[i] = to_double(load_le<T>(from));
            }
        }
    });
    return std::span{room}.first(count);
}

}  // namespace detail
}  // namespace reduce
}  // namespace v1
}  // namespace smdebug
