// Tensors of strings: string_val, or TensorFlow's packing of strings into tensor_content.
// Apart from the numeric decoders, because elements are views here, not bytes of one size.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/shape.hpp>
#include <smdebug/core/status.hpp>
#include <smdebug/tensor/tensor_view.hpp>
#include <smdebug/tensor/typed_decoder.hpp>
#include <smdebug/wire/field.hpp>
#include <smdebug/wire/field_reader.hpp>
#include <smdebug/wire/tensor_proto.hpp>
#include <smdebug/wire/varint.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// `content` holds `count` lengths as varints, then the strings' bytes one behind the other.
[[nodiscard]] inline status decode_packed_strings(byte_view content, std::size_t count, decoded_tensor& out) {
    if (count > content.size()) {
        return status::size_mismatch;  // a length takes a byte at least
    }
    byte_view lengths = content;
    std::uint64_t length = 0;
    for (std::size_t i = 0; i < count; ++i) {
        if (wire::take_varint(lengths, length) != status::ok) {
            return status::malformed;
        }
    }
    byte_view text = lengths;  // where the lengths end
    lengths = content;
    for (std::size_t i = 0; i < count; ++i) {
        if (wire::take_varint(lengths, length) != status::ok || length > text.size()) {
            return status::size_mismatch;
        }
        out.strings.push_back(as_text(text.first(static_cast<std::size_t>(length))));
        text = text.subspan(static_cast<std::size_t>(length));
    }
    return text.empty() ? status::ok : status::size_mismatch;
}

}  // namespace detail

/// Decodes the strings of `tensor` into `out.strings`.  They are bytes: nothing checks that they are UTF-8.
/// Where there are fewer than the shape has elements, the last one repeats; where there are none, all are empty: as in
/// TensorFlow, and up to max_repeated_bytes (of views).
/// Shapes:  as in decode_list; packed strings need a shape, or there is no telling how many they are.
/// Errors:  size_mismatch, too_large, those of field_reader.      Borrows: every string points into the message.
[[nodiscard]] inline status decode_strings(const detail::wire::tensor_proto& tensor, decoded_tensor& out) {
    detail::wire::field_reader reader{tensor.message};
    if (tensor.content.empty()) {
        for (detail::wire::field f; reader.next(f);) {
            if (f.is(detail::wire::tensor_field::string_val, detail::wire::wire_type::length_delimited)) {
                out.strings.push_back(f.as_text());
            }
        }
        if (reader.code() != status::ok) {
            return reader.code();
        }
    }
    const std::size_t found = out.strings.size();
    if (!tensor.shape) {
        out.shape.assign(found == 1 ? 0 : 1, found);
    }
    const std::optional<std::size_t> count = element_count(out.shape);
    if (!count) {
        return status::too_large;
    }
    if (!tensor.content.empty()) {
        return detail::decode_packed_strings(tensor.content, *count, out);
    }
    if (found > *count) {
        return status::size_mismatch;
    }
    const std::string_view last = found == 0 ? std::string_view{} : out.strings.back();
    // Keeping the tensor copies every repetition: the bound is on the copies, not only on the views.
    const std::size_t cost = sizeof(std::string) + sizeof(std::string_view) + last.size();
    if (found < *count && (*count - found) > max_repeated_bytes / cost) {
        return status::too_large;
    }
    out.strings.resize(*count, last);
    return status::ok;
}

}  // namespace v1
}  // namespace smdebug
