// The bodies of <smdebug/hook/tensor_record.hpp>.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/dtype.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/hook/tensor_record.hpp>
#include <smdebug/record/payload_check.hpp>
#include <smdebug/wire/event.hpp>
#include <smdebug/wire/field.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <utility>

namespace smdebug::inline v1::detail {

SMDEBUG_INLINE tensor_too_large::tensor_too_large(std::string_view name, std::size_t bytes, step_number step)
    : unsupported("the tensor \"" + std::string{name} + "\" has " + std::to_string(bytes) +
                      " bytes; a record holds 2 GiB at most: save its reductions, or save it in parts",
                  {.tensor = std::string{name}, .step = step}) {}

SMDEBUG_INLINE appended_record append_tensor_record(std::vector<std::byte>& out, std::string_view name,
                                                    const tensor_view& tensor, const record_stamp& stamp,
                                                    record::footer_kind footer, std::size_t copied_up_to) {
    std::array<char, 24> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), stamp.mode_step).ptr;
    const char mode_digit = static_cast<char>('0' + static_cast<int>(stamp.mode));
    const std::array all_plugins{
        wire::plugin_data{computed_by_plugin, stamp.computed_by},
        wire::plugin_data{"mode_step", {digits.data(), static_cast<std::size_t>(end - digits.data())}},
        wire::plugin_data{"mode", {&mode_digit, 1}}};
    const std::span plugins = std::span{all_plugins}.subspan(stamp.computed_by.empty() ? 1 : 0);
    const std::array values{wire::value_fields{
        .tag = name,
        .tensor = {.type = tensor.type == dtype::string ? dtype::invalid : tensor.type,  // as the package has strings
                   .shape = {.extents = tensor.shape, .dim_name = name},
                   .content = tensor.bytes,
                   .strings = tensor.strings},
        .plugins = plugins}};
    const wire::event_fields event{
        .wall_time = stamp.wall_time, .step = stamp.step, .file_version = {}, .values = values};

    const std::uint64_t length = wire::encoded_size(event);
    if (length > largest_payload) {
        return {};
    }
    appended_record appended;
    appended.size = length + record::overhead;
    const std::size_t begin = out.size();
    out.resize(begin + record::header_size);
    record::store_header(out.data() + begin, record::detail::header::of(length));
    if (tensor.bytes.size() < copied_up_to) {
        wire::field_writer writer{out};
        wire::encode(writer, event);
    } else {
        wire::field_writer writer{out, appended.omitted};
        wire::encode(writer, event);
    }
    std::uint32_t closing = record::package_footer;
    if (footer == record::footer_kind::checksum) {
        namespace crc32c = record::crc32c;
        const byte_view around = byte_view{out}.subspan(begin + record::header_size);
        const std::size_t front =
            appended.omitted.bytes.empty() ? around.size() : appended.omitted.at - begin - record::header_size;
        closing = crc32c::mask(crc32c::extend(
            crc32c::extend(crc32c::value(around.first(front)), appended.omitted.bytes), around.subspan(front)));
    }
    out.resize(out.size() + record::footer_size);
    store_le(out.data() + out.size() - record::footer_size, closing);
    return appended;
}

SMDEBUG_INLINE void reduction_plan::add(reduction_key key) {
    if (!wanted.contains(key)) {
        wanted = wanted | reduction_set{key};
        order.push_back(key);
    }
}

SMDEBUG_INLINE void reduction_plan::add(const reduction_plan& other) {
    for (const reduction_key key : other.order) {
        add(key);
    }
    raw = raw || other.raw;
    shape = shape || other.shape;
    digest = digest || other.digest;
}

SMDEBUG_INLINE void reduction_plan::clear() noexcept {
    order.clear();
    wanted = {};
    raw = false;
    shape = false;
    digest = false;
}

SMDEBUG_INLINE reduction known_reduction(std::string_view name, std::span<const std::string_view> candidates,
                                         const std::string& where) {
    std::string list;
    for (const std::string_view candidate : candidates) {
        if (name == candidate) {
            return *reduction_named(name);
        }
        list.append(list.empty() ? "" : ", ").append(candidate);
    }
    throw value_error(where + " names \"" + std::string{name} + "\", which is none of: " + list);
}

SMDEBUG_INLINE reduction_key known_file_reduction(std::string_view name, const std::string& where) {
    std::string_view plain = name;
    constexpr std::string_view suffix = "_norm";
    if (plain.ends_with(suffix)) {
        plain.remove_suffix(suffix.size());
    }
    const auto key = reduction_key_named(plain);
    const bool is_norm = key && (key->what == reduction::l1 || key->what == reduction::l2);
    if (!key || (plain.size() != name.size() && !is_norm)) {
        throw value_error(where + " names \"" + std::string{name} +
                          "\", which is none of: min, max, mean, std, variance, sum, prod, l1_norm, l2_norm, nor one "
                          "of these behind abs_");
    }
    return *key;
}

SMDEBUG_INLINE reduction_plan make_reduction_plan(const reduction_config& config, const std::string& where) {
    std::array<std::vector<reduction_key>, 4> groups;
    const auto put = [&](reduction_key key) {
        const bool is_norm = key.what == reduction::l1 || key.what == reduction::l2;
        groups[(key.abs ? 2U : 0U) + (is_norm ? 1U : 0U)].push_back(key);
    };
    for (const std::string& name : config.reductions) {
        put(detail::known_file_reduction(name, where + ".reductions"));
    }
    for (const std::string& name : config.norms) {
        put({detail::known_reduction(name, detail::norm_names, where + ".norms"), false});
    }
    for (const std::string& name : config.abs_reductions) {
        put({detail::known_reduction(name, detail::plain_reduction_names, where + ".abs_reductions"), true});
    }
    for (const std::string& name : config.abs_norms) {
        put({detail::known_reduction(name, detail::norm_names, where + ".abs_norms"), true});
    }
    reduction_plan plan{.raw = config.save_raw_tensor, .shape = config.save_shape};
    for (const auto& group : groups) {
        for (const reduction_key key : group) {
            plan.add(key);
        }
    }
    return plan;
}

SMDEBUG_INLINE void reduction_records::update(std::string_view tensor, std::span<const reduction_key> order,
                                              const reduction_values& values, const record_stamp& stamp,
                                              record::footer_kind footer) {
    const form wanted{.computed_by = std::string{stamp.computed_by},
                      .computed = values.computed.mask,
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
        // The metadata and the footer follow the value; nothing before it in the tensor has this length.
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

}  // namespace smdebug::inline v1::detail
