// The bodies of <smdebug/trial/read/entry_decoder.hpp>.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/record/crc32c.hpp>
#include <smdebug/record/framing.hpp>
#include <smdebug/tensor/concepts.hpp>
#include <smdebug/tensor/proto_decoder.hpp>
#include <smdebug/tensor/strided_tensor.hpp>
#include <smdebug/trial/read/entry_decoder.hpp>
#include <smdebug/trial/read/trial_state.hpp>
#include <smdebug/wire/tensor_proto.hpp>

#include <algorithm>
#include <exception>
#include <span>
#include <utility>
#include <vector>

namespace smdebug::inline v1::detail {

SMDEBUG_INLINE std::optional<lookup_error> entry_decoder::decode(const layout::entry& entry, std::string_view recorded,
                                                                 file_key file, byte_view bytes, decoded_tensor& out,
                                                                 const left_to_caller& left) const {
    status outcome = status::ok;
    try {
        if (entry.stored_as() == storage_form::made) {
            check_made(*entry.form);
        }
        outcome = entry.stored_as() == storage_form::record ? decode_record(bytes, recorded, out, left)
                                                            : decode_stored(entry, bytes, out, left.repeats);
    } catch (const std::exception&) {
        return failure_from_current_exception(file(), entry.record.offset);
    }
    if (outcome == status::ok) {
        return std::nullopt;
    }
    return lookup_error{
        .why = lookup_failure_kind::damaged, .damage = outcome, .offset = entry.record.offset, .where = file()};
}

SMDEBUG_INLINE std::optional<lookup_error> entry_decoder::decode_saved(const layout::entry& entry,
                                                                       std::string_view tensor, reduction_key key,
                                                                       file_key file, byte_view bytes, double& number) {
    if (entry.stored_as() == storage_form::number && entry.number != nullptr) {
        number = entry.number->value;
        return std::nullopt;
    }
    recorded_.clear();
    append_reduction_tensor_name(recorded_, tensor, key);
    if (auto failed = decode(entry, recorded_, file, bytes, saved_)) {
        return failed;
    }
    return single_number(tensor, key, number);
}

SMDEBUG_INLINE void entry_decoder::check_made(const stored_form& form) const {
    const std::size_t bytes = size_of(form.type) * element_count(form.shape).value_or(0);
    if (bytes > state_->options().limits.record) {
        throw unavailable("its elements do not lie in one piece, and their " + std::to_string(bytes) +
                              " bytes are more than the " + std::to_string(state_->options().limits.record) +
                              " allowed in memory at once",
                          {.remedy = error_remedy::raise_limit, .advice = " (trial_options::limits.record)"});
    }
}

SMDEBUG_INLINE bool entry_decoder::stream(const layout::entry& entry, std::string_view recorded,
                                          opened_event_file& file, value_stream& out) const {
    if (entry.stored_as() == storage_form::elements) {
        return out.begin_elements(*entry.form, file, entry.record);
    }
    const decoder_plan* const plan =
        entry.stored_as() == storage_form::record ? state_->decoder().abilities().plan : nullptr;
    try {
        return plan != nullptr && out.begin(*plan, file, entry.record, recorded);
    } catch (const std::exception&) {
        return false;  // decoding it reports the error
    }
}

SMDEBUG_INLINE lookup_error entry_decoder::not_computed(const std::string& what, std::string_view tensor,
                                                        dtype type) const {
    return {.why = lookup_failure_kind::not_computed,
            .note = "the kernel " + std::string{state_->kernel().name()} + " did not compute the " + what +
                    " of tensor " + std::string{tensor} + ", which holds " + std::string{name_of(type)}};
}

SMDEBUG_INLINE status entry_decoder::decode_record(byte_view record, std::string_view recorded, decoded_tensor& out,
                                                   const left_to_caller& left) const {
    if (left.repeats != nullptr) {
        record::payload_check own;
        record::payload_check& check = left.check != nullptr ? *left.check : own;
        const status outcome = decode_named(state_->decoder(), record, recorded, out, check, *left.repeats);
        return outcome == status::ok && !own.holds() ? status::bad_payload_checksum : outcome;
    }
    if (left.check != nullptr) {
        return decode_named(state_->decoder(), record, recorded, out, *left.check);
    }
    return decode_named(state_->decoder(), record, recorded, out);
}

SMDEBUG_INLINE std::optional<lookup_error> entry_decoder::single_number(std::string_view tensor, reduction_key key,
                                                                        double& number) const {
    // The number may be of any dtype: the kernel converts it, as the sum of a single number is that number.
    const auto reduced = state_->kernel().reduce(saved_.view(), reduction::sum);
    const bool is_single = saved_.view().count() == 1 && reduced.ok();
    if (is_single && reduced->computed.contains(reduction::sum)) {
        number = (*reduced)(reduction::sum);
        return std::nullopt;
    }
    if (is_single && !is_complex(saved_.type)) {
        return not_computed("sum, by which the saved " + key.name() + " is read,", tensor, saved_.type);
    }
    return lookup_error{
        .why = lookup_failure_kind::wrong_dtype,
        .note = "the saved " + key.name() + " of tensor " + std::string{tensor} + " is no single number"};
}

/// Swaps the byte order of each number; a complex one is two.
inline void swap_bytes(std::vector<std::byte>& elements, dtype type) {
    const std::size_t size = is_complex(type) ? size_of(type) / 2 : size_of(type);
    for (std::size_t begin = 0; size > 1 && begin + size <= elements.size(); begin += size) {
        std::reverse(elements.begin() + static_cast<std::ptrdiff_t>(begin),
                     elements.begin() + static_cast<std::ptrdiff_t>(begin + size));
    }
}

/// `made`: elements that are stored nowhere else.
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
    if (form.column_major) {
        std::vector<std::int64_t> strides(form.shape.size(), 1);
        for (std::size_t i = 1; i < strides.size(); ++i) {
            strides[i] = strides[i - 1] * static_cast<std::int64_t>(form.shape[i - 1]);
        }
        elements = in_c_order(size_of(form.type), form.shape, strides, elements.data());
    }
    return take_elements(std::move(elements), out);
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
            const auto store = [&](auto value) {
                out.expanded.resize(sizeof value);
                store_le(out.expanded.data(), value);
            };
            form.type == dtype::float32 ? store(static_cast<float>(number)) : store(number);
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

SMDEBUG_INLINE bool value_stream::begin(const decoder_plan& how, opened_event_file& file, byte_range record,
                                        std::string_view name) {
    return plan(how, file, record, name) && !name.empty() && read_tail() && how.ends_well(tail_, checksum_);
}

SMDEBUG_INLINE bool value_stream::begin_any(const decoder_plan& how, opened_event_file& file, byte_range record,
                                            std::string& name) {
    if (!plan(how, file, record, {})) {
        return false;
    }
    name = parts_.name;
    checksum_ = 0;  // needed, as far as is known now
    ends_well_ = how.ends_well;
    return true;
}

SMDEBUG_INLINE bool value_stream::begin_elements(const stored_form& form, opened_event_file& file,
                                                 byte_range elements) {
    if (!form.is_plain() || form.type == dtype::boolean) {  // booleans may have to be normalized
        return false;
    }
    parts_ = {.name = {},
              .type = form.type,
              .shape = form.shape,
              .content = 0,
              .content_size = elements.length,
              .size = elements.length};
    checksum_.reset();
    tail_.clear();
    ends_well_ = nullptr;
    file_ = &file;
    offset_ = elements.offset;
    return true;
}

SMDEBUG_INLINE bool value_stream::plan(const decoder_plan& how, opened_event_file& file, byte_range record,
                                       std::string_view name) {
    const byte_view head = file.from(record.offset, std::min(record.length, most_head));
    file_ = &file;
    offset_ = record.offset;
    ends_well_ = nullptr;
    return how.plan(head, std::min(record.length, file.left_at(record.offset)), name, parts_) &&
           parts_.size - (parts_.content + parts_.content_size) <= most_tail;
}

SMDEBUG_INLINE bool value_stream::read_tail() {
    const std::uint64_t behind = parts_.content + parts_.content_size;
    tail_.resize(std::size_t{parts_.size - behind});
    return file_->read_apart(offset_ + behind, tail_) == tail_.size();
}

SMDEBUG_INLINE status value_stream::reduce(const any_kernel& kernel, reduction_set wanted, reduction_values& found) {
    start();
    if (!wanted.empty()) {
        const auto feed = [this](std::size_t begin, std::size_t least) noexcept { return more(begin, least); };
        const result<reduction_values> computed = kernel.reduce_fed({type(), size(), byte_feed{feed}}, wanted);
        if (computed.ok()) {
            found = *computed;
        }
    }
    return finish();
}

SMDEBUG_INLINE void value_stream::start() {
    crc_ = 0;
    checked_ = 0;
    is_cut_ = false;
    failed_ = nullptr;
    if (checksum_) {
        const std::size_t before = std::size_t{parts_.content} - record::header_size;
        const byte_view head = file_->from(offset_ + record::header_size, before);
        crc_ = record::crc32c::extend(crc_, head.first(std::min(before, head.size())));
    }
}

SMDEBUG_INLINE byte_view value_stream::more(std::size_t begin, std::size_t least) noexcept {
    byte_view some;
    try {
        some = file_->from(offset_ + parts_.content + begin, least);
    } catch (...) {
        failed_ = std::current_exception();
        return {};
    }
    some = some.first(std::min(some.size(), size() - begin));
    is_cut_ = is_cut_ || some.size() < least;
    const std::size_t end = begin + some.size();
    if (checksum_ && begin <= checked_ && checked_ < end) {
        crc_ = record::crc32c::extend(crc_, some.subspan(checked_ - begin));
        checked_ = end;
    }
    return some;
}

SMDEBUG_INLINE status value_stream::finish() {
    while (checksum_ && checked_ < size() && !is_cut_ && failed_ == nullptr) {
        static_cast<void>(more(checked_, 1));
    }
    if (failed_ != nullptr) {
        std::rethrow_exception(failed_);
    }
    if (is_cut_) {
        return status::truncated;
    }
    if (ends_well_ != nullptr && !(read_tail() && ends_well_(tail_, checksum_))) {
        return status::malformed;
    }
    if (checksum_) {
        const byte_view metadata = byte_view{tail_}.first(tail_.size() - record::footer_size);
        crc_ = record::crc32c::extend(crc_, metadata);
        return record::crc32c::mask(crc_) == *checksum_ ? status::ok : status::bad_payload_checksum;
    }
    return status::ok;
}

}  // namespace smdebug::inline v1::detail
