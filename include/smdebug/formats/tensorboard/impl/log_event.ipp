// The bodies of <smdebug/formats/tensorboard/log_event.hpp>.
#pragma once

#include <smdebug/core/dtype.hpp>
#include <smdebug/formats/tensorboard/log_event.hpp>
#include <smdebug/tensor/proto_decoder.hpp>
#include <smdebug/tensor/reals.hpp>
#include <smdebug/wire/field_reader.hpp>
#include <smdebug/wire/tensor_proto.hpp>
#include <smdebug/wire/tensor_shape.hpp>

#include <algorithm>
#include <array>
#include <cstring>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// Appends the numbers of a repeated double: packed, or one by one.
[[nodiscard]] inline bool append_doubles(const wire::field& f, std::vector<double>& out) {
    if (f.type == wire::wire_type::fixed64) {
        out.push_back(f.as_double());
        return true;
    }
    if (f.type != wire::wire_type::length_delimited || f.bytes.size() % sizeof(double) != 0) {
        return false;
    }
    const std::size_t old = out.size();
    out.resize(old + f.bytes.size() / sizeof(double));
    if (!f.bytes.empty()) {
        std::memcpy(out.data() + old, f.bytes.data(), f.bytes.size());
    }
    return true;
}

SMDEBUG_INLINE status read_log_histogram(byte_view message, log_histogram& out) {
    out = {};
    std::vector<double> limits;
    std::vector<double> counts;
    wire::field_reader reader{message};
    for (wire::field f; reader.next(f);) {
        const std::array numbers{&out.min, &out.max, &out.num, &out.sum, &out.sum_squares};
        if (f.number >= 1 && f.number <= numbers.size() && f.type == wire::wire_type::fixed64) {
            *numbers[f.number - 1] = f.as_double();
        } else if ((f.number == 6 && !append_doubles(f, limits)) || (f.number == 7 && !append_doubles(f, counts))) {
            return status::malformed;
        }
    }
    if (reader.code() != status::ok) {
        return reader.code();
    }
    if (limits.size() != counts.size()) {
        return status::malformed;
    }
    // Some writers leave out the sums: a sum of squares is never below what the sum makes it.
    out.has_sums = out.num > 0 && out.sum_squares >= out.sum * (out.sum / out.num) * (1 - 1e-6) &&
                   (out.sum_squares > 0 || (out.min == 0 && out.max == 0));
    const auto is_filled = [](double count) { return count > 0; };
    const auto begin = std::find_if(counts.begin(), counts.end(), is_filled);
    const auto end = std::find_if(counts.rbegin(), counts.rend(), is_filled).base();
    for (auto count = begin; begin < end && count != end; ++count) {
        const auto place = static_cast<std::size_t>(count - counts.begin());
        out.rows.push_back(count == begin ? out.min : limits[place - 1]);
        out.rows.push_back(count + 1 == end ? out.max : limits[place]);
        out.rows.push_back(*count);
    }
    return status::ok;
}

SMDEBUG_INLINE status read_histogram_tensor(byte_view tensor, log_histogram& out) {
    out = {};
    const result<wire::tensor_proto> proto = wire::decode_tensor_proto(tensor);
    if (!proto.ok()) {
        return proto.code();
    }
    decoded_tensor rows;
    if (const status read = decode_tensor(*proto, rows); read != status::ok) {
        return read;
    }
    if (rows.shape.size() != 2 || rows.shape[1] != 3 || !has_reals(rows.type)) {
        return status::malformed;
    }
    std::vector<std::byte> room;
    visit_dtype(rows.type, [&]<class T>() {
        if constexpr (!requires { typename T::value_type; }) {
            const tensor_view view = rows.view();
            const auto elements = aligned_elements<T>(view, 0, view.count(), room);
            for (const T one : elements) {
                out.rows.push_back(to_double(one));
            }
        }
    });
    for (std::size_t row = 0; row < out.rows.size(); row += 3) {
        if (out.rows[row + 2] > 0) {
            out.min = out.num > 0 ? out.min : out.rows[row];
            out.max = out.rows[row + 1];
            out.num += out.rows[row + 2];
        }
    }
    return status::ok;
}

SMDEBUG_INLINE log_value_kind kind_by_plugin(std::string_view plugin) noexcept {
    constexpr std::array<std::string_view, 6> opaque{
        "images", "audio", "hparams", "graphs", "graph_run_metadata", "custom_scalars"};
    if (plugin == "scalars") {
        return log_value_kind::scalar;
    }
    if (plugin == "histograms") {
        return log_value_kind::histogram_tensor;
    }
    if (plugin == "text") {
        return log_value_kind::text;
    }
    return std::find(opaque.begin(), opaque.end(), plugin) != opaque.end() ? log_value_kind::opaque
                                                                           : log_value_kind::tensor;
}

/// Reads the field of metadata that names a plugin.
[[nodiscard]] inline std::string_view plugin_of(byte_view metadata) noexcept {
    wire::field_reader reader{metadata};
    for (wire::field f; reader.next(f);) {
        if (f.is(1, wire::wire_type::length_delimited)) {
            wire::field_reader plugin{f.bytes};
            for (wire::field inner; plugin.next(inner);) {
                if (inner.is(1, wire::wire_type::length_delimited)) {
                    return inner.as_text();
                }
            }
        }
    }
    return {};
}

[[nodiscard]] inline status read_log_value(byte_view message, log_value& out) {
    wire::field_reader reader{message};
    byte_view tensor;
    bool has_tensor = false;
    for (wire::field f; reader.next(f);) {
        if (f.is(1, wire::wire_type::length_delimited)) {
            out.tag = f.as_text();
        } else if (f.is(2, wire::wire_type::fixed32)) {
            out.kind = log_value_kind::scalar;
            out.number = f.as_float();
        } else if (f.is(5, wire::wire_type::length_delimited)) {
            out.kind = log_value_kind::histogram;
            out.message = f.bytes;
        } else if (f.is(8, wire::wire_type::length_delimited)) {
            out.kind = log_value_kind::tensor;
            out.message = f.bytes;
            tensor = f.bytes;
            has_tensor = true;
        } else if (f.is(9, wire::wire_type::length_delimited)) {
            out.plugin = plugin_of(f.bytes);
        }
    }
    if (reader.code() != status::ok || !has_tensor) {
        return reader.code();
    }
    const result<wire::tensor_proto> proto = wire::decode_tensor_proto(tensor);
    if (!proto.ok()) {
        return proto.code();
    }
    return proto->shape ? wire::decode_tensor_shape(*proto->shape, out.shape) : status::ok;
}

SMDEBUG_INLINE status read_log_event(byte_view message, log_event& out) {
    out.wall_time = 0;
    out.step = 0;
    out.is_start = false;
    out.values.clear();
    wire::field_reader reader{message};
    for (wire::field f; reader.next(f);) {
        if (f.is(1, wire::wire_type::fixed64)) {
            out.wall_time = f.as_double();
        } else if (f.is(2, wire::wire_type::varint)) {
            out.step = f.as_int64();
        } else if (f.is(7, wire::wire_type::length_delimited)) {
            wire::field_reader session{f.bytes};
            for (wire::field inner; session.next(inner);) {
                out.is_start = inner.is(1, wire::wire_type::varint) ? inner.as_uint64() == 1 : out.is_start;
            }
        } else if (f.is(5, wire::wire_type::length_delimited)) {
            wire::field_reader summary{f.bytes};
            for (wire::field value; summary.next(value);) {
                if (value.is(1, wire::wire_type::length_delimited)) {
                    const status read = read_log_value(value.bytes, out.values.emplace_back());
                    if (read != status::ok) {
                        return read;
                    }
                }
            }
            if (summary.code() != status::ok) {
                return summary.code();
            }
        }
    }
    return reader.code();
}

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
