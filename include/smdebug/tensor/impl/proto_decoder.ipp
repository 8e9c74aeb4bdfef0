// The bodies of <smdebug/tensor/proto_decoder.hpp>.
#pragma once

#include <smdebug/core/dtype.hpp>
#include <smdebug/tensor/element.hpp>
#include <smdebug/tensor/proto_decoder.hpp>
#include <smdebug/tensor/tensor_value.hpp>
#include <smdebug/tensor/tensor_view.hpp>
#include <smdebug/wire/field.hpp>
#include <smdebug/wire/tensor_proto.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <vector>

namespace smdebug::inline v1::detail {

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

/// Reads everything but the rows; calls take(number, field) for each field of the two lists.
template <class Take>
[[nodiscard]] status read_histogram_fields(byte_view message, histogram_rows& out, Take&& take) {
    out = {};
    wire::field_reader reader{message};
    for (wire::field f; reader.next(f);) {
        const std::array numbers{&out.min, &out.max, &out.num, &out.sum, &out.sum_squares};
        if (f.number >= 1 && f.number <= numbers.size() && f.type == wire::wire_type::fixed64) {
            *numbers[f.number - 1] = f.as_double();
        } else if ((f.number == 6 || f.number == 7) && !take(f)) {
            return status::malformed;
        }
    }
    // Some writers leave out the sums: a sum of squares is never below the minimum that the sum implies.
    out.has_sums = out.num > 0 && out.sum_squares >= out.sum * (out.sum / out.num) * (1 - 1e-6) &&
                   (out.sum_squares > 0 || (out.min == 0 && out.max == 0));
    return reader.code();
}

SMDEBUG_INLINE status read_histogram_numbers(byte_view message, histogram_rows& out) {
    std::array<std::size_t, 2> counts{};
    const status read = read_histogram_fields(message, out, [&](const wire::field& f) {
        const bool is_one = f.type == wire::wire_type::fixed64;
        counts[f.number - 6] += is_one ? 1 : f.bytes.size() / sizeof(double);
        return is_one || (f.type == wire::wire_type::length_delimited && f.bytes.size() % sizeof(double) == 0);
    });
    return read == status::ok && counts[0] != counts[1] ? status::malformed : read;
}

SMDEBUG_INLINE status read_histogram_message(byte_view message, histogram_rows& out) {
    std::vector<double> limits;
    std::vector<double> counts;
    const status read = read_histogram_fields(
        message, out, [&](const wire::field& f) { return append_doubles(f, f.number == 6 ? limits : counts); });
    if (read != status::ok) {
        return read;
    }
    if (limits.size() != counts.size()) {
        return status::malformed;
    }
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

SMDEBUG_INLINE status read_histogram_tensor(byte_view tensor, histogram_rows& out) {
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
    visit_dtype(rows.type, [&]<class Element>() {
        if constexpr (!requires { typename Element::value_type; }) {
            const tensor_view view = rows.view();
            const auto elements = aligned_elements<Element>(view, 0, view.count(), room);
            for (const Element one : elements) {
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

}  // namespace smdebug::inline v1::detail
