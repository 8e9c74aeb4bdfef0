// The bodies of <smdebug/trial/for_each_tensor.hpp>.
#pragma once

#include <smdebug/trial/for_each_tensor.hpp>

namespace smdebug {
inline namespace v1 {
namespace detail {

SMDEBUG_INLINE void kept_tensors::keep(const scanned_tensor& tensor, reduction_set wanted, const any_kernel& kernel) {
    if (size_ == kept_.size()) {
        kept_.emplace_back();
    }
    one& kept = kept_[size_++];
    reduce_into(tensor, wanted, kernel, kept.tensor);
    if (kept.tensor.shape != nullptr) {
        kept.shape = *kept.tensor.shape;
    }
    kept.saved_failures.assign(kept.tensor.saved_failures.begin(), kept.tensor.saved_failures.end());
}

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
