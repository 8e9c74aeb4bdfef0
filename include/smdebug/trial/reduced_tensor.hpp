// A tensor of a scan, reduced: its saved reductions where there are such, the others computed.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/dtype.hpp>
#include <smdebug/core/shape.hpp>
#include <smdebug/core/status.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/record/payload_check.hpp>
#include <smdebug/reduce/concepts.hpp>
#include <smdebug/reduce/name.hpp>
#include <smdebug/tensor/tensor_view.hpp>
#include <smdebug/trial/lookup.hpp>
#include <smdebug/trial/scan/scan_file.hpp>

#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {

/// What one worker saved of one tensor at one step, reduced.  Views and pointers are borrowed, for the call only.
struct reduced_tensor {
    step_number step = 0;  ///< global
    step_number mode_step = 0;
    step_number shown_step = 0;  ///< see basic_trial::shown_step()
    smdebug::mode mode = smdebug::mode::global;
    std::string_view worker;
    std::string_view name;
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

    /// The mode in which shown_step counts.
    [[nodiscard]] smdebug::mode shown_mode() const noexcept {
        return shown_step == step ? smdebug::mode::global : mode;
    }
};

namespace detail {

/// The values and what repeats behind them.
template <class Kernel>
[[nodiscard]] result<reduction_values> reduce_repeated(const scanned_tensor& tensor, reduction_set wanted,
                                                       const Kernel& kernel) {
    const tensor_view values = tensor.values->view();
    if constexpr (repeating_reducer<Kernel>) {
        return kernel.reduce_repeated(values, tensor.repeats, wanted);
    } else {
        const std::vector<std::byte> all = with_repeats(values, tensor.repeats);
        return kernel.reduce(tensor_view{values.type, values.shape, all, {}}, wanted);
    }
}

/// The values reduced into `found`, and verified on the way where that was left to us; false where they are damaged.
/// Where the dtype has no reductions, `found` stays as it is.
template <class Kernel>
[[nodiscard]] bool reduce_checked(const scanned_tensor& tensor, reduction_set wanted, const Kernel& kernel,
                                  reduction_values& found) {
    record::payload_check check = tensor.check;
    const auto keep = [&](const result<reduction_values>& computed) {
        if (computed.ok()) {
            found = *computed;
        }
    };
    if (!wanted.empty()) {
        const tensor_view values = tensor.values->view();
        if (tensor.repeats > 0) {
            keep(reduce_repeated(tensor, wanted, kernel));
        } else if constexpr (watched_reducer<Kernel>) {
            if (check.needed()) {
                const auto watch = [&](byte_view piece) { check.pass(piece); };
                keep(kernel.reduce(values, wanted, byte_watch{watch}));
            } else {
                keep(kernel.reduce(values, wanted));
            }
        } else {
            keep(kernel.reduce(values, wanted));
        }
    }
    return check.holds();
}

/// The values that were left in their file, reduced into `found`, and verified; why they cannot be.
template <class Kernel>
[[nodiscard]] std::optional<lookup_error> reduce_stream(const scanned_tensor& tensor, reduction_set wanted,
                                                        const Kernel& kernel, reduction_values& found) {
    status outcome = status::unsupported;
    try {
        if constexpr (fed_reducer<Kernel>) {
            outcome = tensor.stream->reduce(kernel, wanted, found);
        }
    } catch (const std::exception&) {
        return failure_at_hand(std::string{tensor.event_file}, tensor.offset);
    }
    if (outcome == status::ok) {
        return std::nullopt;
    }
    return lookup_error{
        .why = absence::damaged, .damage = outcome, .offset = tensor.offset, .where = std::string{tensor.event_file}};
}

}  // namespace detail

/// Reduces a tensor of a scan: at least those of `wanted` that there are.  What a scan left to check is checked.
/// Cost: one pass over the values; none where all of `wanted` was saved and nothing is left to check.
template <reduction_kernel Kernel>
[[nodiscard]] reduced_tensor reduced(const detail::scanned_tensor& tensor, reduction_set wanted, const Kernel& kernel) {
    reduced_tensor found;
    found.step = tensor.step;
    found.mode_step = tensor.mode_step;
    found.shown_step = tensor.shown_step;
    found.mode = tensor.mode;
    found.worker = tensor.worker;
    found.name = tensor.name;
    found.shape = tensor.shape();
    found.file_failed = tensor.file_failed;
    found.saved_failures = tensor.saved_failures;
    if (tensor.failure != nullptr) {
        found.failure = std::make_shared<const lookup_error>(*tensor.failure);
    }
    if (tensor.values != nullptr) {
        if (detail::reduce_checked(tensor, wanted - tensor.saved, kernel, found.reductions)) {
            found.type = tensor.values->type;
            found.reductions.count = tensor.values->view().count() + tensor.repeats;
        } else {
            found.reductions = {};
            found.shape = tensor.saved_shape;
            found.failure = std::make_shared<const lookup_error>(lookup_error{.why = absence::damaged,
                                                                              .damage = status::bad_payload_checksum,
                                                                              .offset = tensor.offset,
                                                                              .where = std::string{tensor.event_file}});
        }
    }
    if (tensor.passed != nullptr) {
        found.reductions = tensor.passed->reductions;
        found.type = tensor.passed->type;
    }
    if (tensor.stream != nullptr) {
        if (auto failed = detail::reduce_stream(tensor, wanted - tensor.saved, kernel, found.reductions)) {
            found.reductions = {};
            found.shape = tensor.saved_shape;
            found.failure = std::make_shared<const lookup_error>(*std::move(failed));
        } else {
            found.type = tensor.stream->type();
            found.reductions.count = tensor.stream->count();
        }
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
    for (const detail::scan_failure& bad : tensor.saved_failures) {
        found.reductions.computed = found.reductions.computed - bad.key;
    }
    return found;
}

}  // namespace v1
}  // namespace smdebug
