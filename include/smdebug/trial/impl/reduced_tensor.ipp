// The bodies of <smdebug/trial/reduced_tensor.hpp>.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/status.hpp>
#include <smdebug/record/payload_check.hpp>
#include <smdebug/tensor/tensor_view.hpp>
#include <smdebug/trial/reduced_tensor.hpp>

#include <cstddef>
#include <exception>
#include <optional>
#include <string>
#include <utility>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// The values reduced into `found`, and verified on the way where that was left to us; false where they are damaged.
/// Where the dtype has no reductions, `found` stays as it is.
[[nodiscard]] inline bool reduce_checked(const scanned_tensor& tensor, reduction_set wanted, const any_kernel& kernel,
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
            keep(kernel.reduce_repeated(values, tensor.repeats, wanted));
        } else if (check.needed()) {
            const auto watch = [&](byte_view piece) { check.pass(piece); };
            keep(kernel.reduce(values, wanted, byte_watch{watch}));
        } else {
            keep(kernel.reduce(values, wanted));
        }
    }
    return check.holds();
}

/// The values that were left in their file, reduced into `found`, and verified; why they cannot be.
[[nodiscard]] inline std::optional<lookup_error> reduce_stream(const scanned_tensor& tensor, reduction_set wanted,
                                                               const any_kernel& kernel, reduction_values& found) {
    status outcome = status::unsupported;
    try {
        outcome = tensor.stream->reduce(kernel, wanted, found);
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

SMDEBUG_INLINE reduced_tensor reduced(const detail::scanned_tensor& tensor, reduction_set wanted,
                                      const detail::any_kernel& kernel) {
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
