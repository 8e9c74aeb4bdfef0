// The bodies of <smdebug/reduce/pair_blocks.hpp>.
#pragma once

#include <smdebug/core/dtype.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/reduce/pair_blocks.hpp>
#include <smdebug/tensor/reals.hpp>

namespace smdebug {
inline namespace v1 {
namespace reduce {
namespace detail {

SMDEBUG_INLINE std::span<const double> widened(const tensor_value& tensor, std::size_t begin, std::size_t count,
                                               std::array<double, pair_block>& room) {
    if (tensor.type() == dtype::float64) {
        return tensor.elements<double>().subspan(begin, count);
    }
    visit_reals(tensor, [&]<class T>(std::span<const T> elements) {
        const T* const from = elements.data() + begin;
        for (std::size_t i = 0; i < count; ++i) {
            room[i] = to_double(from[i]);
        }
    });
    return std::span{room}.first(count);
}

}  // namespace detail
}  // namespace reduce
}  // namespace v1
}  // namespace smdebug
