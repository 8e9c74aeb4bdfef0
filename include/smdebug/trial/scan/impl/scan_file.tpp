// The bodies of <smdebug/trial/scan/scan_file.hpp> that are templates.
#pragma once

#include <smdebug/tensor/concepts.hpp>
#include <smdebug/trial/scan/scan_file.hpp>

namespace smdebug {
inline namespace v1 {

template <class State>
file_scanner<State>::file_scanner(const State& state, const detail::catalog& from, reduction_set saved,
                                  const std::vector<bool>* wanted, bool defer_checks, bool keep_repeats)
    : state_(&state),
      from_(&from),
      asked_(saved),
      wanted_(wanted),
      defer_checks_(defer_checks),
      keep_repeats_(keep_repeats) {}

template <class State>
void file_scanner<State>::begin_file(const detail::catalog::file& held, const std::string& key, bool is_there,
                                     const std::string* why_not) {
    key_ = &key;
    out_.event_file = key;
    out_.step = held.step;
    out_.mode_step = held.mode_step;
    out_.mode = held.mode;
    out_.worker = from_->workers[held.worker];
    out_.file_failed = !is_there;
    file_failure_.reset();
    if (key.empty()) {
        file_failure_ = State::names_no_event_file(*from_, held);
    } else if (why_not != nullptr) {
        file_failure_ = lookup_failure{.why = absence::damaged, .where = key, .note = *why_not};
    } else if (!is_there) {
        file_failure_ = lookup_failure{.why = absence::event_file_missing, .where = key};
    }
}

template <class State>
void file_scanner<State>::begin_tensor(const detail::layout& entries, detail::name_id name) {
    out_.name = (*from_->names)[name];
    out_.values = nullptr;
    out_.check = {};
    out_.repeats = 0;
    out_.offset = 0;
    out_.failure = nullptr;
    out_.saved = {};
    out_.saved_failures.clear();
    const auto* shape = entries.shape(name);
    out_.saved_shape = shape != nullptr ? &shape->extents : nullptr;
}

template <class State>
status file_scanner<State>::decode_record(byte_view record, std::string_view recorded, decoded_tensor& to,
                                          [[maybe_unused]] record::payload_check* later,
                                          [[maybe_unused]] std::size_t* repeats) const {
    if constexpr (repeating_decoder<typename State::decoder_type>) {
        if (repeats != nullptr) {
            record::payload_check own;
            record::payload_check& check = later != nullptr ? *later : own;
            const status outcome = decode_named(state_->decoder(), record, recorded, to, check, *repeats);
            return outcome == status::ok && !own.holds() ? status::bad_payload_checksum : outcome;
        }
    }
    if constexpr (deferring_decoder<typename State::decoder_type>) {
        if (later != nullptr) {
            return decode_named(state_->decoder(), record, recorded, to, *later);
        }
    }
    return decode_named(state_->decoder(), record, recorded, to);
}

}  // namespace v1
}  // namespace smdebug
