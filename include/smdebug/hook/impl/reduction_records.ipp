// The bodies of <smdebug/hook/reduction_records.hpp>.
#pragma once

#include <smdebug/core/dtype.hpp>
#include <smdebug/hook/reduction_records.hpp>
#include <smdebug/wire/varint.hpp>

#include <algorithm>
#include <charconv>
#include <utility>

namespace smdebug {
inline namespace v1 {
namespace detail {

SMDEBUG_INLINE void reduction_records::update(std::string_view tensor, std::span<const reduction_key> order,
                                              const reduction_values& values, const record_stamp& stamp,
                                              record::footer_kind footer) {
    const form wanted{.computed = values.computed.mask,
                      .order_size = order.size(),
                      .step_bytes = wire::varint_size(static_cast<std::uint64_t>(stamp.step)),
                      .mode_step_digits = digits_of(stamp.mode_step).size(),
                      .has_wall_time = stamp.wall_time != 0,
                      .has_step = stamp.step != 0};
    if (!(wanted == form_) || !std::equal(order.begin(), order.end(), order_.begin(), order_.end())) {
        encode(tensor, order, values, stamp);
        form_ = wanted;
        order_.assign(order.begin(), order.end());
    }
    patch(values, stamp, footer);
}

SMDEBUG_INLINE reduction_records::decimal reduction_records::digits_of(step_number number) noexcept {
    decimal digits{};
    const auto end = std::to_chars(digits.text.data(), digits.text.data() + digits.text.size(), number).ptr;
    digits.count = static_cast<std::size_t>(end - digits.text.data());
    return digits;
}

SMDEBUG_INLINE void reduction_records::encode(std::string_view tensor, std::span<const reduction_key> order,
                                              const reduction_values& values, const record_stamp& stamp) {
    bytes_.clear();
    records_.clear();
    value_places_.clear();
    for (const reduction_key key : order) {
        if (!values.computed.contains(key)) {
            continue;
        }
        const double value = values.value[key.index()];
        named_record record{.name = reduction_tensor_name(tensor, key), .begin = bytes_.size()};
        static_cast<void>(append_tensor_record(
            bytes_, record.name,
            {.type = dtype::float64, .shape = {}, .bytes = std::as_bytes(std::span{&value, 1}), .strings = {}}, stamp,
            record::footer_kind::package_constant));
        record.size = bytes_.size() - record.begin;
        // Behind the value come the metadata and the footer; before it, in the tensor, nothing of this length.
        value_places_.push_back({key.index(), bytes_.size() - behind_value(stamp) - sizeof(double)});
        records_.push_back(std::move(record));
    }
}

SMDEBUG_INLINE void reduction_records::patch(const reduction_values& values, const record_stamp& stamp,
                                             record::footer_kind footer) {
    const decimal digits = digits_of(stamp.mode_step);
    std::array<std::byte, 10> step{};
    std::size_t step_size = 0;
    for (auto rest = static_cast<std::uint64_t>(stamp.step); rest != 0; rest >>= 7U) {
        step[step_size++] = static_cast<std::byte>((rest & 0x7FU) | (rest > 0x7FU ? 0x80U : 0U));
    }
    for (std::size_t i = 0; i < records_.size(); ++i) {
        std::byte* const begin = bytes_.data() + records_[i].begin;
        std::byte* const payload = begin + record::header_size;
        std::byte* const end = begin + records_[i].size - record::footer_size;
        std::byte* field = payload;
        if (form_.has_wall_time) {
            store_le(field + 1, stamp.wall_time);
            field += 1 + sizeof(double);
        }
        if (form_.has_step) {
            std::copy_n(step.data(), step_size, field + 1);
        }
        store_le(bytes_.data() + value_places_[i].offset, values.value[value_places_[i].reduction]);
        end[-1] = static_cast<std::byte>('0' + static_cast<int>(stamp.mode));
        std::copy_n(reinterpret_cast<const std::byte*>(digits.text.data()), digits.count,
                    end - (2 + 2 + 4 + 2 + 1) - digits.count);
        store_le(end, record::footer_of({payload, end}, footer));
    }
}

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
