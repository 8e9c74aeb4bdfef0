// The bodies of <smdebug/hook/tensor_record.hpp>.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/dtype.hpp>
#include <smdebug/hook/tensor_record.hpp>
#include <smdebug/record/crc_check.hpp>
#include <smdebug/wire/summary.hpp>

#include <array>
#include <charconv>
#include <string>

namespace smdebug {
inline namespace v1 {
namespace detail {

SMDEBUG_INLINE tensor_too_large::tensor_too_large(std::string_view name, std::size_t bytes, step_number step)
    : unsupported("the tensor \"" + std::string{name} + "\" has " + std::to_string(bytes) +
                      " bytes; a record holds 2 GiB at most: save its reductions, or save it in parts",
                  {.tensor = std::string{name}, .step = step}) {}

SMDEBUG_INLINE appended_record append_tensor_record(std::vector<std::byte>& out, std::string_view name,
                                                    const tensor_view& tensor, const record_stamp& stamp,
                                                    record::footer_kind footer) {
    std::array<char, 24> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), stamp.mode_step).ptr;
    const char mode_digit = static_cast<char>('0' + static_cast<int>(stamp.mode));
    const std::array plugins{
        wire::plugin_data{"mode_step", {digits.data(), static_cast<std::size_t>(end - digits.data())}},
        wire::plugin_data{"mode", {&mode_digit, 1}}};
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
    if (tensor.bytes.size() < copied_below) {
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

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
