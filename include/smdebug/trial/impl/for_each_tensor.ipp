// The bodies of <smdebug/trial/for_each_tensor.hpp>.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/trial/for_each_tensor.hpp>

namespace smdebug {
inline namespace v1 {
namespace detail {

SMDEBUG_INLINE void kept_tensors::keep(const reduced_tensor& tensor) {
    if (size_ == kept_.size()) {
        kept_.emplace_back();
    }
    one& held = kept_[size_++];
    held.tensor = tensor;
    if (tensor.shape != nullptr) {
        held.shape = *tensor.shape;
    }
    held.saved_failures.assign(tensor.saved_failures.begin(), tensor.saved_failures.end());
}

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
