// A tensor of a scan, reduced: its saved reductions where there are such, the others computed.
#pragma once

#include <smdebug/core/dtype.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/shape.hpp>
#include <smdebug/reduce/any_kernel.hpp>
#include <smdebug/reduce/concepts.hpp>
#include <smdebug/reduce/name.hpp>
#include <smdebug/trial/lookup.hpp>
#include <smdebug/trial/scanned_tensor.hpp>

#include <memory>
#include <span>

namespace smdebug {
inline namespace v1 {

/// What one worker saved of one tensor at one step, reduced.  Views and pointers are borrowed, for the call only.
struct reduced_tensor : tensor_place {
    dtype type = dtype::invalid;        ///< of the values; invalid where none were saved
    const shape_type* shape = nullptr;  ///< of the values, else the saved one; null where there is neither
    /// Those of the reductions asked for that are in `reductions.computed`: saved ones as they were saved, the others
    /// computed from the values.  Of one that was saved and cannot be read there is none: it may have been another
    /// number than what would be computed (PyTorch's hook saves std with n - 1).
    reduction_values reductions;
    reduction_set saved;  ///< those that were saved
    /// Why the values, or the whole file, cannot be read; null: they can.  May be kept.
    std::shared_ptr<const lookup_error> failure;
    bool file_failed = false;                              ///< `failure` is that of the whole file
    std::span<const detail::scan_failure> saved_failures;  ///< saved reductions that were asked for and cannot be read
};

/// Reduces a tensor of a scan: at least those of `wanted` that there are.  What a scan left to check is checked.
/// Cost: one pass over the values; none where all of `wanted` was saved and nothing is left to check.
[[nodiscard]] reduced_tensor reduced(const detail::scanned_tensor& tensor, reduction_set wanted,
                                     const detail::any_kernel& kernel);
namespace detail {

/// The same into `found`, all of which is replaced: for many tensors one after another.
void reduce_into(const scanned_tensor& tensor, reduction_set wanted, const any_kernel& kernel, reduced_tensor& found);

}  // namespace detail

/// The same with a kernel of any type.  Cost: an allocation more.
template <reduction_kernel Kernel>
[[nodiscard]] reduced_tensor reduced(const detail::scanned_tensor& tensor, reduction_set wanted, const Kernel& kernel) {
    return reduced(tensor, wanted, detail::any_kernel{kernel});
}

}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/trial/impl/reduced_tensor.ipp>
#endif
