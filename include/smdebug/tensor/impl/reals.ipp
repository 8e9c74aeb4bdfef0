// The bodies of <smdebug/tensor/reals.hpp>.
#pragma once

#include <smdebug/tensor/reals.hpp>

#include <span>

namespace smdebug {
inline namespace v1 {

SMDEBUG_INLINE std::vector<double> reals_of(const tensor_value& tensor) {
    std::vector<double> found;
    visit_reals(tensor, [&]<class T>(std::span<const T> elements) {
        found.reserve(elements.size());
        for (const T& each : elements) {
            found.push_back(to_double(each));
        }
    });
    return found;
}

}  // namespace v1
}  // namespace smdebug
