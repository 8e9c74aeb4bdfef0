// DLPack: tensors of any framework that speaks it are saved by a hook, and what a trial reads goes back to one, without
// a copy.  Needs <dlpack/dlpack.h> (Debian: libdlpack-dev), of any version from 0.6 on.
#pragma once

#include <smdebug/core/dtype.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/hook/tensor_adapter.hpp>
#include <smdebug/tensor/element.hpp>
#include <smdebug/tensor/tensor_value.hpp>
#include <smdebug/tensor/tensor_view.hpp>

#include <dlpack/dlpack.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smdebug::inline v1 {
namespace detail {

// Codes of DLDataType by number: headers older than 0.8 do not name all of them.
inline constexpr unsigned dlpack_bool = 6;
inline constexpr unsigned dlpack_float8_e4m3fn = 10;
inline constexpr unsigned dlpack_float8_e5m2 = 12;

[[nodiscard]] inline dtype dtype_of_dlpack(const DLDataType& type) noexcept {
    const auto sized = [&](dtype of8, dtype of16, dtype of32, dtype of64) {
        switch (type.bits) {
            case 8:
                return of8;
            case 16:
                return of16;
            case 32:
                return of32;
            case 64:
                return of64;
            default:
                return dtype::invalid;
        }
    };
    constexpr dtype none = dtype::invalid;
    switch (static_cast<unsigned>(type.code)) {
        case kDLInt:
            return sized(dtype::int8, dtype::int16, dtype::int32, dtype::int64);
        case kDLUInt:
            return sized(dtype::uint8, dtype::uint16, dtype::uint32, dtype::uint64);
        case kDLFloat:
            return sized(none, dtype::float16, dtype::float32, dtype::float64);
        case kDLBfloat:
            return sized(none, dtype::bfloat16, none, none);
        case kDLComplex:
            return type.bits == 128 ? dtype::complex128 : sized(none, none, none, dtype::complex64);
        case dlpack_bool:
            return sized(dtype::boolean, none, none, none);
        case dlpack_float8_e4m3fn:
            return sized(dtype::float8_e4m3fn, none, none, none);
        case dlpack_float8_e5m2:
            return sized(dtype::float8_e5m2, none, none, none);
        default:
            return none;
    }
}

[[nodiscard]] inline DLDataType dlpack_type_of(dtype type) noexcept {
    const auto code = [&]() -> unsigned {
        switch (type) {
            case dtype::int8:
            case dtype::int16:
            case dtype::int32:
            case dtype::int64:
                return kDLInt;
            case dtype::bfloat16:
                return kDLBfloat;
            case dtype::complex64:
            case dtype::complex128:
                return kDLComplex;
            case dtype::float8_e4m3fn:
                return dlpack_float8_e4m3fn;
            case dtype::float8_e5m2:
                return dlpack_float8_e5m2;
            case dtype::float16:
            case dtype::float32:
            case dtype::float64:
                return kDLFloat;
            case dtype::boolean:
#if defined(DLPACK_MAJOR_VERSION) || DLPACK_VERSION >= 80
                return dlpack_bool;
#else
                return kDLUInt;  // as frameworks of that time have booleans
#endif
            default:
                return kDLUInt;
        }
    }();
    return {static_cast<std::uint8_t>(code), static_cast<std::uint8_t>(8 * size_of(type)), 1};
}

// By its bytes: a header may be too old for a device's name, and its enumeration too narrow for the number.
[[nodiscard]] inline int dlpack_device_type(const DLDevice& device) noexcept {
    int number = 0;
    static_assert(sizeof(device.device_type) == sizeof(number));
    std::memcpy(&number, &device.device_type, sizeof(number));
    return number;
}

[[nodiscard]] inline std::string dlpack_device_text(const DLDevice& device) {
    const int type = dlpack_device_type(device);
    const auto name = [&]() -> std::string_view {
        switch (type) {
            case 2:
                return "CUDA";
            case 4:
                return "OpenCL";
            case 7:
                return "Vulkan";
            case 8:
                return "Metal";
            case 10:
                return "ROCm";
            case 13:
                return "CUDA managed";
            case 14:
                return "oneAPI";
            default:
                return "other";
        }
    }();
    return "a device (" + std::string{name} + ", DLPack's type " + std::to_string(type) + ", number " +
           std::to_string(device.device_id) + ")";
}

[[noreturn]] inline void refuse_dlpack(std::string_view name, const std::string& why) {
    throw value_error("the tensor" + (name.empty() ? std::string{} : " \"" + std::string{name} + "\"") + " " + why,
                      {.tensor = std::string{name}});
}

// Owns what a DLManagedTensor points to.
struct dlpack_context {
    DLManagedTensor managed;
    tensor_value value;
    std::vector<std::int64_t> extents;
    std::vector<std::int64_t> strides;
};

}  // namespace detail

/// A tensor of DLPack as a hook takes it; hook.save_tensor(name, tensor) calls it.  `name` is for messages.
/// Borrows: elements in C order; copies those at other strides.
/// Errors:  value_error, in a sentence, for memory of another device, for vector types and for dtypes that the format
///          does not have, for a negative extent and for elements without an address.
[[nodiscard]] inline strided_tensor view_of(const DLTensor& tensor, std::string_view name = {}) {
    constexpr int cpu = 1;
    constexpr int cuda_host = 3;
    constexpr int rocm_host = 11;
    const int device = detail::dlpack_device_type(tensor.device);
    if (device != cpu && device != cuda_host && device != rocm_host) {
        detail::refuse_dlpack(name, "lies on " + detail::dlpack_device_text(tensor.device) +
                                        ": copy it to the memory of this process first");
    }
    const dtype type = detail::dtype_of_dlpack(tensor.dtype);
    if (type == dtype::invalid || tensor.dtype.lanes != 1) {
        detail::refuse_dlpack(name, "has elements that cannot be saved (DLPack's code " +
                                        std::to_string(tensor.dtype.code) + ", " + std::to_string(tensor.dtype.bits) +
                                        " bits, " + std::to_string(tensor.dtype.lanes) + " lanes): convert them first");
    }
    if (tensor.ndim < 0 || (tensor.ndim > 0 && tensor.shape == nullptr)) {
        detail::refuse_dlpack(name, "has no shape (" + std::to_string(tensor.ndim) + " dimensions)");
    }
    const auto rank = static_cast<std::size_t>(tensor.ndim);
    shape_type extents;
    for (std::size_t i = 0; i < rank; ++i) {
        if (tensor.shape[i] < 0) {
            detail::refuse_dlpack(name,
                                  "has the extent " + std::to_string(tensor.shape[i]) + ": an extent is 0 or more");
        }
        extents.push_back(static_cast<std::size_t>(tensor.shape[i]));
    }
    const auto count = element_count(extents);
    if (!count || *count > std::numeric_limits<std::size_t>::max() / 16) {
        detail::refuse_dlpack(name, "has more elements than memory can hold");
    }
    if (tensor.data == nullptr && *count != 0) {
        detail::refuse_dlpack(name, "has " + std::to_string(*count) + " elements at no address");
    }
    std::vector<std::int64_t> strides(rank, 1);
    if (tensor.strides != nullptr) {
        strides.assign(tensor.strides, tensor.strides + rank);
    } else {
        for (std::size_t i = rank; i > 1; --i) {
            strides[i - 2] = strides[i - 1] * tensor.shape[i - 1];
        }
    }
    const auto* const first = static_cast<const std::byte*>(tensor.data);
    return {type, std::move(extents), strides, first == nullptr ? nullptr : first + tensor.byte_offset};
}

/// Views the tensor inside a DLManagedTensor, whose owner must keep it as long as the view is used.
[[nodiscard]] inline strided_tensor view_of(const DLManagedTensor& tensor, std::string_view name = {}) {
    return view_of(tensor.dl_tensor, name);
}

template <>
struct tensor_adapter<DLTensor> {
    tensor_adapter(const DLTensor& tensor, std::string_view name) : elements_(view_of(tensor, name)) {}
    [[nodiscard]] tensor_view view() const noexcept { return elements_.view(); }

private:
    strided_tensor elements_;
};

template <>
struct tensor_adapter<DLManagedTensor> : tensor_adapter<DLTensor> {
    tensor_adapter(const DLManagedTensor& tensor, std::string_view name)
        : tensor_adapter<DLTensor>(tensor.dl_tensor, name) {}
};

/// A value that was read, for any framework: `at::fromDLPack(smd::to_dlpack(values))`.  Nothing is copied; the elements
/// live until the framework calls the deleter, once; a caller that keeps the pointer calls it itself.
/// The elements are read-only: they may lie in a file that is mapped, where writing to them ends the process.  Clone
/// what is to be changed.  Booleans are uint8 where <dlpack/dlpack.h> is older than 0.8.
/// Errors: unsupported for strings and for an empty tensor_value.
[[nodiscard]] inline DLManagedTensor* to_dlpack(tensor_value value) {
    if (!is_numeric(value.type())) {
        throw unsupported(value.type() == dtype::string ? "DLPack has no strings: this tensor cannot be handed on"
                                                        : "there is no tensor to hand on: the value is empty");
    }
    auto context = std::make_unique<detail::dlpack_context>();
    context->value = std::move(value);
    const shape_type& extents = context->value.shape();
    context->extents.assign(extents.begin(), extents.end());
    context->strides.assign(extents.size(), 1);
    for (std::size_t i = extents.size(); i > 1; --i) {
        context->strides[i - 2] = context->strides[i - 1] * context->extents[i - 1];
    }
    DLTensor& tensor = context->managed.dl_tensor;
    tensor.data = const_cast<std::byte*>(context->value.bytes().data());
    tensor.device = {kDLCPU, 0};
    tensor.ndim = static_cast<int>(extents.size());
    tensor.dtype = detail::dlpack_type_of(context->value.type());
    tensor.shape = context->extents.data();
    tensor.strides = context->strides.data();
    tensor.byte_offset = 0;
    context->managed.manager_ctx = context.get();
    context->managed.deleter = [](DLManagedTensor* self) {
        delete static_cast<detail::dlpack_context*>(self->manager_ctx);
    };
    return &context.release()->managed;
}

}  // namespace smdebug::inline v1
