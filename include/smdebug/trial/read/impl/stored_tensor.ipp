// The bodies of <smdebug/trial/read/stored_tensor.hpp>.
#pragma once

#include <smdebug/tensor/histogram_message.hpp>
#include <smdebug/tensor/proto_decoder.hpp>
#include <smdebug/tensor/raw_decoder.hpp>
#include <smdebug/trial/read/stored_tensor.hpp>
#include <smdebug/wire/tensor_proto.hpp>

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// The other byte order of each number; a complex one is two.
inline void swap_bytes(std::vector<std::byte>& elements, dtype type) {
    const std::size_t size = is_complex(type) ? size_of(type) / 2 : size_of(type);
    for (std::size_t begin = 0; size > 1 && begin + size <= elements.size(); begin += size) {
        std::reverse(elements.begin() + static_cast<std::ptrdiff_t>(begin),
                     elements.begin() + static_cast<std::ptrdiff_t>(begin + size));
    }
}

/// Elements in Fortran's order, in C order.
[[nodiscard]] inline std::vector<std::byte> in_c_order(const std::vector<std::byte>& elements, dtype type,
                                                       const shape_type& shape) {
    const std::size_t size = size_of(type);
    std::vector<std::byte> turned(elements.size());
    std::vector<std::size_t> place(shape.size());
    std::vector<std::size_t> strides(shape.size());
    std::size_t stride = size;
    for (std::size_t i = 0; i < shape.size(); ++i) {
        strides[i] = stride;
        stride *= shape[i];
    }
    std::size_t from = 0;
    for (std::size_t to = 0; to + size <= turned.size(); to += size) {
        std::memcpy(turned.data() + to, elements.data() + from, size);
        for (std::size_t axis = shape.size(); axis-- > 0;) {  // the last extent is the fastest of where it goes
            from += strides[axis];
            if (++place[axis] < shape[axis]) {
                break;
            }
            from -= strides[axis] * shape[axis];
            place[axis] = 0;
        }
    }
    return turned;
}

/// `made`: elements that are nowhere else.
[[nodiscard]] inline status take_elements(std::vector<std::byte> made, decoded_tensor& out) {
    out.expanded = std::move(made);
    return decode_content(out.expanded, true, out);
}

[[nodiscard]] inline status decode_elements(const stored_form& form, byte_view bytes, decoded_tensor& out) {
    if (form.is_plain()) {
        const status read = decode_content(bytes, true, out);
        return read == status::size_mismatch ? status::truncated : read;
    }
    if (bytes.size() != size_of(form.type) * element_count(form.shape).value_or(0)) {
        return status::truncated;
    }
    std::vector<std::byte> elements(bytes.begin(), bytes.end());
    if (form.big_endian) {
        swap_bytes(elements, form.type);
    }
    return take_elements(form.columns_first ? in_c_order(elements, form.type, form.shape) : std::move(elements), out);
}

[[nodiscard]] inline status decode_rows(status read, const histogram_rows& rows, decoded_tensor& out) {
    if (read != status::ok) {
        return read;
    }
    clear(out);
    out.type = dtype::float64;
    out.shape = {rows.buckets(), 3};
    const byte_view bytes = std::as_bytes(std::span{rows.rows});
    return take_elements({bytes.begin(), bytes.end()}, out);
}

SMDEBUG_INLINE status decode_stored(const layout::entry& entry, byte_view bytes, decoded_tensor& out,
                                    std::size_t* repeats) {
    const stored_form& form = *entry.form;
    if (repeats != nullptr) {
        *repeats = 0;
    }
    const auto finish = [&](status read) {
        out.wall_time = entry.number != nullptr ? entry.number->wall_time : 0;
        return read;
    };
    const auto begin = [&] {
        clear(out);
        out.type = form.type;
        out.shape = form.shape;
    };
    if (entry.is_in_object() && bytes.size() < entry.record.length) {
        return finish(status::truncated);
    }
    histogram_rows rows;
    switch (form.as) {
        case storage_form::number: {
            begin();
            const double number = entry.number != nullptr ? entry.number->value : 0;
            out.expanded.resize(size_of(form.type));
            if (form.type == dtype::float32) {
                store_le(out.expanded.data(), static_cast<float>(number));
            } else {
                store_le(out.expanded.data(), number);
            }
            out.bytes = out.expanded;
            return finish(status::ok);
        }
        case storage_form::elements:
            begin();
            return finish(decode_elements(form, bytes, out));
        case storage_form::made:
            begin();
            return finish(take_elements(form.make(), out));
        case storage_form::message: {
            const result<wire::tensor_proto> proto = wire::decode_tensor_proto(bytes);
            return finish(proto.ok() ? decode_tensor(*proto, out, repeats) : proto.code());
        }
        case storage_form::histogram:
            return finish(decode_rows(read_histogram_message(bytes, rows), rows, out));
        case storage_form::histogram_tensor:
            return finish(decode_rows(read_histogram_tensor(bytes, rows), rows, out));
        case storage_form::record:
            break;
    }
    return finish(status::malformed);
}

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
