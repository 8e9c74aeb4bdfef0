// A tensor of a scan, reduced: its saved reductions where there are such, the others computed.
// Used by: trial/for_each_tensor.hpp, cli.
#pragma once

#include <smdebug/core/dtype.hpp>
#include <smdebug/core/shape.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/reduce/concepts.hpp>
#include <smdebug/reduce/name.hpp>
#include <smdebug/trial/lookup.hpp>
#include <smdebug/trial/scan_file.hpp>

#include <cstddef>
#include <span>
#include <string_view>

namespace smdebug {
inline namespace v1 {

/// What one worker saved of one tensor at one step, reduced.  Everything is borrowed, for the call only.
struct reduced_tensor {
    step_number step = 0;  ///< global
    step_number mode_step = 0;
    smdebug::mode mode = smdebug::mode::global;
    std::string_view worker;
    std::string_view name;
    dtype type = dtype::invalid;        ///< of the values; invalid where none were saved
    const shape_type* shape = nullptr;  ///< of the values, else the saved one; null where there is neither
    /// Those of the reductions asked for that are in `reductions.computed`: saved ones as they were saved, the others
    /// computed from the values.  Of one that was saved and cannot be read there is none: it may have been another
    /// number than what would be computed (PyTorch's hook saves std with n - 1).
    reduction_values reductions;
    reduction_set saved;                           ///< those that were saved
    const lookup_failure* failure = nullptr;       ///< why the values, or the whole file, cannot be read
    bool file_failed = false;                      ///< `failure` is that of the whole file
    std::span<const scan_failure> saved_failures;  ///< saved reductions that were asked for and cannot be read
};

/// Reduces a tensor of a scan: at least those of `wanted` that there are.
/// Cost: one pass over the values; none where all of `wanted` was saved.
template <reduction_kernel Kernel>
[[nodiscard]] reduced_tensor reduced(const scanned_tensor& tensor, reduction_set wanted, const Kernel& kernel) {
    reduced_tensor found;
    found.step = tensor.step;
    found.mode_step = tensor.mode_step;
    found.mode = tensor.mode;
    found.worker = tensor.worker;
    found.name = tensor.name;
    found.shape = tensor.shape();
    found.failure = tensor.failure;
    found.file_failed = tensor.file_failed;
    found.saved_failures = tensor.saved_failures;
    if (tensor.values != nullptr) {
        found.type = tensor.values->type;
        const reduction_set rest = wanted - tensor.saved;
        if (!rest.empty()) {
            if (const auto computed = kernel.reduce(tensor.values->view(), rest); computed.ok()) {  // not for strings
                found.reductions = *computed;
            }
        }
        found.reductions.count = tensor.values->view().count();
    }
    if (!tensor.saved.empty()) {
        for (std::size_t i = 0; i < 2 * reduction_count; ++i) {
            if (tensor.saved.contains(reduction_key::from_index(i))) {
                found.reductions.value[i] = tensor.saved_value[i];
            }
        }
        found.saved = tensor.saved;
        found.reductions.computed = found.reductions.computed | tensor.saved;
    }
    for (const scan_failure& bad : tensor.saved_failures) {
        found.reductions.computed = found.reductions.computed - bad.key;
    }
    return found;
}

}  // namespace v1
}  // namespace smdebug
