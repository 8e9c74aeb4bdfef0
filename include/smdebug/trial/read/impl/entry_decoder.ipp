// The bodies of <smdebug/trial/read/entry_decoder.hpp>.
#pragma once

#include <smdebug/tensor/concepts.hpp>
#include <smdebug/trial/read/entry_decoder.hpp>
#include <smdebug/trial/read/stored_tensor.hpp>
#include <smdebug/trial/read/trial_state.hpp>
#include <smdebug/trial/read/value_stream.hpp>

#include <exception>

namespace smdebug {
inline namespace v1 {
namespace detail {

SMDEBUG_INLINE std::optional<lookup_error> entry_decoder::decode(const layout::entry& entry, std::string_view recorded,
                                                                 file_key file, entry_bytes bytes, decoded_tensor& out,
                                                                 const left_to_caller& left) const {
    status outcome = status::ok;
    try {
        outcome = entry.stored_as() == storage_form::record
                      ? decode_record(bytes(entry), recorded, out, left)
                      : decode_stored(entry, entry.is_in_object() ? bytes(entry) : byte_view{}, out, left.repeats);
    } catch (const std::exception&) {
        return failure_at_hand(file(), entry.record.offset);
    }
    if (outcome == status::ok) {
        return std::nullopt;
    }
    return lookup_error{.why = absence::damaged, .damage = outcome, .offset = entry.record.offset, .where = file()};
}

SMDEBUG_INLINE std::optional<lookup_error> entry_decoder::decode_saved(const layout::entry& entry,
                                                                       std::string_view tensor, reduction_key key,
                                                                       file_key file, entry_bytes bytes,
                                                                       double& number) {
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
        return false;  // decoding it will tell
    }
}

SMDEBUG_INLINE lookup_error entry_decoder::not_computed(const std::string& what, std::string_view tensor,
                                                        dtype type) const {
    return {.why = absence::not_computed,
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
    // The number may be of any dtype: the kernel converts it, as the sum of one number is that number.
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
        .why = absence::wrong_dtype,
        .note = "the saved " + key.name() + " of tensor " + std::string{tensor} + " is no single number"};
}

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
