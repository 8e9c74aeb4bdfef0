// The bodies of <smdebug/trial/scanned_tensor.hpp>.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/status.hpp>
#include <smdebug/record/payload_check.hpp>
#include <smdebug/tensor/tensor_view.hpp>
#include <smdebug/trial/read/entry_decoder.hpp>
#include <smdebug/trial/read/event_source.hpp>
#include <smdebug/trial/scanned_tensor.hpp>

#include <cstddef>
#include <exception>
#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace smdebug::inline v1 {
namespace detail {

SMDEBUG_INLINE const shape_type* scanned_tensor::shape() const noexcept {
    if (const decoded_tensor* const in_memory = values()) {
        return &in_memory->shape;
    }
    if (const auto* const reduced = std::get_if<const early_reductions*>(&content)) {
        return &(*reduced)->shape;
    }
    const auto* const stream = std::get_if<value_stream*>(&content);
    return stream != nullptr ? &(*stream)->shape() : saved_shape;
}

/// Reduces the values into `found`, and verifies them if the scan left that to the caller; false if they are damaged.
/// If the dtype has no reductions, or none are wanted, `found` is empty.
[[nodiscard]] inline bool reduce_checked(const scanned_values& there, reduction_set wanted, const any_kernel& kernel,
                                         reduction_values& found) {
    record::payload_check check = there.check;
    bool is_there = false;
    if (!wanted.empty()) {
        const tensor_view values = there.tensor->view();
        if (there.repeats > 0) {
            const auto computed = kernel.reduce_repeated(values, there.repeats, wanted);
            is_there = computed.ok();
            found = is_there ? *computed : found;
        } else if (check.needed()) {
            const auto pass = [&](byte_view piece) { check.pass(piece); };
            const byte_watch watch{pass};
            is_there = kernel.reduce_into(values, wanted, &watch, found) == status::ok;
        } else {
            is_there = kernel.reduce_into(values, wanted, nullptr, found) == status::ok;
        }
    }
    if (!is_there) {
        found = {};
    }
    return check.holds();
}

/// Reduces values that were left in their file into `found`, and verifies them; returns the error, if any.
[[nodiscard]] inline std::optional<lookup_error> reduce_stream(const scanned_tensor& tensor, value_stream& stream,
                                                               reduction_set wanted, const any_kernel& kernel,
                                                               reduction_values& found) {
    try {
        const status outcome = stream.reduce(kernel, wanted, found);
        return outcome == status::ok ? std::nullopt : std::optional{tensor.damaged(outcome)};
    } catch (const std::exception&) {
        return tensor.failed();
    }
}

SMDEBUG_INLINE tensor_value copy_of(const decoded_tensor& scanned) {
    decoded_tensor borrowed;
    borrowed.type = scanned.type;
    borrowed.shape = scanned.shape;
    borrowed.bytes = scanned.bytes;
    borrowed.strings = scanned.strings;
    return {std::move(borrowed), byte_buffer{}};
}

SMDEBUG_INLINE void reduce_into(const scanned_tensor& tensor, reduction_set wanted, const any_kernel& kernel,
                                reduced_tensor& found) {
    static_cast<tensor_place&>(found) = tensor;
    found.type = dtype::invalid;
    found.saved = tensor.saved;
    found.failure.reset();
    found.shape = tensor.shape();
    found.file_failed = tensor.file_failed();
    found.saved_failures = tensor.saved_failures;
    const auto fail = [&](lookup_error why) {
        found.reductions = {};
        found.shape = tensor.saved_shape;
        found.failure = std::make_shared<const lookup_error>(std::move(why));
    };
    if (const lookup_error* const failure = tensor.failure()) {
        found.reductions = {};
        found.failure = std::make_shared<const lookup_error>(*failure);
    } else if (const auto* const there = std::get_if<scanned_values>(&tensor.content)) {
        if (reduce_checked(*there, wanted - tensor.saved, kernel, found.reductions)) {
            found.type = there->tensor->type;
            found.reductions.count = there->tensor->view().count() + there->repeats;
        } else {
            fail(tensor.damaged(status::bad_payload_checksum));
        }
    } else if (const auto* const early = std::get_if<const early_reductions*>(&tensor.content)) {
        found.reductions = (*early)->reductions;
        found.type = (*early)->type;
    } else if (const auto* const stream = std::get_if<value_stream*>(&tensor.content)) {
        found.reductions = {};
        if (auto failed = reduce_stream(tensor, **stream, wanted - tensor.saved, kernel, found.reductions)) {
            fail(*std::move(failed));
        } else {
            found.type = (*stream)->type();
            found.reductions.count = (*stream)->count();
        }
    } else {
        found.reductions = {};
    }
    if (!tensor.saved.empty()) {
        for (std::size_t i = 0; i < 2 * reduction_count; ++i) {
            if (tensor.saved.contains(reduction_key::from_index(i))) {
                found.reductions.value[i] = tensor.saved_value[i];
            }
        }
        found.reductions.computed = found.reductions.computed | tensor.saved;
    }
    for (const unread_reduction& bad : tensor.saved_failures) {
        found.reductions.computed = found.reductions.computed - bad.key;
    }
}

SMDEBUG_INLINE reduced_tensor reduced(const scanned_tensor& tensor, reduction_set wanted, const any_kernel& kernel) {
    reduced_tensor found;
    reduce_into(tensor, wanted, kernel, found);
    return found;
}

}  // namespace detail

SMDEBUG_INLINE void reduced_tensor::own() {
    if (shape != nullptr) {
        own_shape_ = *shape;
    }
    own_failures_.assign(saved_failures.begin(), saved_failures.end());
}

SMDEBUG_INLINE void reduced_tensor::settle() noexcept {
    shape = shape != nullptr ? &own_shape_ : nullptr;
    saved_failures = own_failures_;
}

}  // namespace smdebug::inline v1
