// What a scan passes to its visitor for each tensor: what one worker saved at one step, or why it cannot be read.
#pragma once

#include <smdebug/core/dtype.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/status.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/record/payload_check.hpp>
#include <smdebug/reduce/any_kernel.hpp>
#include <smdebug/reduce/concepts.hpp>
#include <smdebug/reduce/name.hpp>
#include <smdebug/tensor/tensor_value.hpp>
#include <smdebug/tensor/tensor_view.hpp>
#include <smdebug/trial/lookup.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace smdebug::inline v1 {

/// The tensor's name, worker and step.  The texts are valid during the call only.
struct tensor_place {
    step_number step = 0;  ///< global
    step_number mode_step = 0;
    step_number shown_step = 0;  ///< see trial::shown_step()
    smdebug::mode mode = smdebug::mode::global;
    std::string_view worker = {};
    std::string_view name = {};

    /// The mode in which shown_step counts.
    [[nodiscard]] smdebug::mode shown_mode() const noexcept {
        return shown_step == step ? smdebug::mode::global : mode;
    }
};

/// A saved reduction that cannot be read.
struct unread_reduction {
    reduction_key key;
    lookup_error why;
};

namespace detail {

class kept_tensors;
class value_stream;
struct early_reductions;

/// Values in memory.
struct scanned_values {
    const decoded_tensor* tensor = nullptr;
    record::payload_check check = {};  ///< the check that remains: the values are valid if it holds()
    std::size_t repeats = 0;           ///< elements after the last one that equal it: 0 unless keep_repeats
};

/// Why saved values, or the whole event file, cannot be read.
struct unread_values {
    const lookup_error* why = nullptr;
    bool whole_file = false;
};

/// One tensor that one worker saved at one step.  Everything is borrowed and valid during the call only.
struct scanned_tensor : tensor_place {
    /// The values:
    ///  - monostate: none were saved;
    ///  - scanned_values: in memory;
    ///  - early_reductions: already reduced, if the scan allows that; for reduced() only;
    ///  - value_stream: left in the file, if the scan allows that; for reduced() only;
    ///  - unread_values: unreadable.
    std::variant<std::monostate, scanned_values, const early_reductions*, value_stream*, unread_values> content;
    std::string_view event_file;              ///< its key
    std::uint64_t offset = 0;                 ///< of the values' record in it
    const shape_type* saved_shape = nullptr;  ///< null if none was saved
    reduction_set saved;                      ///< the requested reductions that were saved and could be read
    std::array<double, 2 * reduction_count> saved_value{};  ///< by reduction_key::index(), valid for those in `saved`
    std::vector<unread_reduction> saved_failures;           ///< requested saved reductions that cannot be read

    /// The values in memory; null if there are none.
    [[nodiscard]] const decoded_tensor* values() const noexcept {
        const auto* const there = std::get_if<scanned_values>(&content);
        return there != nullptr ? there->tensor : nullptr;
    }
    /// Elements after the last one of values(): see reading_config::keep_repeats.
    [[nodiscard]] std::size_t repeats() const noexcept {
        const auto* const there = std::get_if<scanned_values>(&content);
        return there != nullptr ? there->repeats : 0;
    }
    /// Why saved values, or the whole file, cannot be read; null if they can, or there are none.
    [[nodiscard]] const lookup_error* failure() const noexcept {
        const auto* const unread = std::get_if<unread_values>(&content);
        return unread != nullptr ? unread->why : nullptr;
    }
    /// Whether failure() concerns the whole file.
    [[nodiscard]] bool file_failed() const noexcept {
        const auto* const unread = std::get_if<unread_values>(&content);
        return unread != nullptr && unread->whole_file;
    }

    /// The values' shape, else the saved one; null if neither exists.
    [[nodiscard]] const shape_type* shape() const noexcept;

    /// The failure for a damaged record of values.
    [[nodiscard]] lookup_error damaged(status damage) const {
        return {
            .why = lookup_failure_kind::damaged, .damage = damage, .offset = offset, .where = std::string{event_file}};
    }
    /// The failure for an exception from reading the record; call it inside a catch block.
    [[nodiscard]] lookup_error failed() const {
        return failure_from_current_exception(std::string{event_file}, offset);
    }
};

}  // namespace detail

/// One tensor that one worker saved at one step, reduced.  Views and pointers are valid during the call only.
struct reduced_tensor : tensor_place {
    dtype type = dtype::invalid;        ///< of the values; invalid if none were saved
    const shape_type* shape = nullptr;  ///< of the values, else the saved one; null if neither exists
    /// The requested reductions; those that exist are in `reductions.computed`.  Saved ones are used as saved, the
    /// others are computed from the values.  A saved one that cannot be read is left out: a computed one might differ
    /// from it (PyTorch's hook saves std with n - 1).
    reduction_values reductions;
    reduction_set saved;  ///< those that were saved
    /// Why the values, or the whole file, cannot be read; null if they can.  May outlive the call.
    std::shared_ptr<const lookup_error> failure;
    bool file_failed = false;                          ///< `failure` concerns the whole file
    std::span<const unread_reduction> saved_failures;  ///< requested saved reductions that cannot be read
    /// From a step_stream: the results of step_question::measures, in their order; empty where there are no values.
    std::vector<double> measured = {};
    /// From a step_stream: values of at most step_question::values_up_to bytes.
    std::optional<tensor_value> value = {};

    /// Whether there is no failure.
    [[nodiscard]] explicit operator bool() const noexcept { return failure == nullptr; }
    /// The failure, if there is one.
    [[nodiscard]] const lookup_error& error() const noexcept { return *failure; }

private:
    friend class detail::kept_tensors;
    // Makes its shape and saved_failures its own; then, where it lies, points to them.
    void own();
    void settle() noexcept;

    shape_type own_shape_ = {};
    std::vector<unread_reduction> own_failures_ = {};
};

namespace detail {

/// Reduces a tensor of a scan: at least those of the `wanted` reductions that exist.  Also verifies checksums that the
/// scan left to the caller.
/// Cost: one pass over the values; none where all of `wanted` was saved and nothing is left to verify.
[[nodiscard]] reduced_tensor reduced(const scanned_tensor& tensor, reduction_set wanted, const any_kernel& kernel);

/// Reduces a scanned tensor by any type of kernel.  Cost: one more allocation.
template <reduction_kernel Kernel>
[[nodiscard]] reduced_tensor reduced(const scanned_tensor& tensor, reduction_set wanted, const Kernel& kernel) {
    return reduced(tensor, wanted, any_kernel{kernel});
}

/// A copy of values that outlives the scanned file.
[[nodiscard]] tensor_value copy_of(const decoded_tensor& scanned);

/// Reduces as reduced() does, overwriting `found`: avoids allocations for many tensors in a row.
void reduce_into(const scanned_tensor& tensor, reduction_set wanted, const any_kernel& kernel, reduced_tensor& found);

}  // namespace detail
}  // namespace smdebug::inline v1

#ifndef SMDEBUG_COMPILED
#include <smdebug/trial/impl/scanned_tensor.ipp>
#endif
