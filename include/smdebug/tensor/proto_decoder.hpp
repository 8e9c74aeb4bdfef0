// From a TensorProto to a tensor: decides which of its encodings holds the elements.
// Between the encodings (raw, typed, string) and the record; also what a reader of other TensorProtos wants.
#pragma once

#include <smdebug/core/dtype.hpp>
#include <smdebug/core/shape.hpp>
#include <smdebug/core/status.hpp>
#include <smdebug/tensor/element.hpp>
#include <smdebug/tensor/raw_decoder.hpp>
#include <smdebug/tensor/string_decoder.hpp>
#include <smdebug/tensor/tensor_view.hpp>
#include <smdebug/tensor/typed_decoder.hpp>
#include <smdebug/wire/tensor_proto.hpp>
#include <smdebug/wire/tensor_shape.hpp>

#include <cstddef>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// Makes `out` empty; its vectors keep their capacity.
inline void clear(decoded_tensor& out) noexcept {
    out.name = {};
    out.type = dtype::invalid;
    out.shape.clear();
    out.bytes = {};
    out.expanded.clear();
    out.strings.clear();
    out.owner.reset();
}

/// The dtype of a proto.  The Python package writes none (0) for strings: so 0 means string where there are strings,
/// and also where the shape leaves no room for one.
[[nodiscard]] inline dtype type_of(const wire::tensor_proto& tensor, const shape_type& shape) noexcept {
    if (tensor.dtype_code != 0 || !tensor.content.empty()) {
        return dtype_from_code(tensor.dtype_code);
    }
    const bool no_elements = tensor.shape && element_count(shape) == 0U;
    return tensor.has(wire::tensor_field::string_val) || no_elements ? dtype::string : dtype::invalid;
}

}  // namespace detail

/// Decodes a TensorProto into `out`, all of which is replaced but its name, which becomes empty.
/// Content wins over lists where both are there, as in TensorFlow.
/// Errors:  unsupported for a dtype that has no value here; those of decode_tensor_shape, decode_content, decode_list
///          and decode_strings.  `out` is then unspecified, and may be used again.
/// Borrows: the message, for strings and mostly for elements; see decoded_tensor.
/// `repeats`: null, or the number of elements that are left out of `out.bytes`, see decode_list.
[[nodiscard]] inline status decode_tensor(const detail::wire::tensor_proto& tensor, decoded_tensor& out,
                                          std::size_t* repeats = nullptr) {
    detail::clear(out);
    if (repeats != nullptr) {
        *repeats = 0;
    }
    if (tensor.shape) {
        if (const status read = detail::wire::decode_tensor_shape(*tensor.shape, out.shape); read != status::ok) {
            return read;
        }
    }
    out.type = detail::type_of(tensor, out.shape);
    if (out.type == dtype::invalid) {
        return status::unsupported;
    }
    if (out.type == dtype::string) {
        return decode_strings(tensor, out);
    }
    return tensor.content.empty() ? decode_list(tensor, out, repeats)
                                  : decode_content(tensor.content, tensor.shape.has_value(), out);
}

}  // namespace v1
}  // namespace smdebug
