// The bodies of <smdebug/trial/scanned_tensor.hpp>.
#pragma once

#include <smdebug/trial/read/passed_records.hpp>
#include <smdebug/trial/read/value_stream.hpp>
#include <smdebug/trial/scanned_tensor.hpp>

namespace smdebug {
inline namespace v1 {
namespace detail {

SMDEBUG_INLINE const shape_type* scanned_tensor::shape() const noexcept {
    if (const decoded_tensor* const in_memory = values()) {
        return &in_memory->shape;
    }
    if (const auto* const reduced = std::get_if<const passed_tensor*>(&content)) {
        return &(*reduced)->shape;
    }
    const auto* const stream = std::get_if<value_stream*>(&content);
    return stream != nullptr ? &(*stream)->shape() : saved_shape;
}

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
