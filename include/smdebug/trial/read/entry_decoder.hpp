// What the record of an index entry holds: values, or a saved reduction; in the trial's words, why it does not.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/dtype.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/function_ref.hpp>
#include <smdebug/core/status.hpp>
#include <smdebug/record/payload_check.hpp>
#include <smdebug/reduce/name.hpp>
#include <smdebug/tensor/tensor_view.hpp>
#include <smdebug/trial/catalog/layout.hpp>
#include <smdebug/trial/lookup.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace smdebug {
inline namespace v1 {
namespace detail {

class opened_event_file;
class trial_state;
class value_stream;

/// What a caller does itself of decoding a record, where the trial's decoder can leave it; null: the decoder does it.
struct left_to_caller {
    record::payload_check* check = nullptr;  ///< compares the payload's checksum
    std::size_t* repeats = nullptr;          ///< makes the elements that repeat the last one
};

using file_key = function_ref<std::string()>;
using entry_bytes = function_ref<byte_view(const layout::entry&)>;

/// Decodes records by a trial's decoder.  Borrows the state.
/// In each call file() gives the event file's key, for messages, and bytes(entry) those of the record, or of what stands for
/// it; what bytes() throws is a failure of the record, too.
/// Threads: one at a time, as it keeps buffers for the next record.
class entry_decoder {
public:
    explicit entry_decoder(const trial_state& state) noexcept : state_(&state) {}

    /// Decodes the record of a tensor that is `recorded` under this name; returns why not.  `out` borrows the bytes.
    [[nodiscard]] std::optional<lookup_error> decode(const layout::entry& entry, std::string_view recorded,
                                                     file_key file, entry_bytes bytes, decoded_tensor& out,
                                                     const left_to_caller& left = {}) const;

    /// Decodes the record of a saved reduction of `tensor` into a plain double; returns why not.
    [[nodiscard]] std::optional<lookup_error> decode_saved(const layout::entry& entry, std::string_view tensor,
                                                           reduction_key key, file_key file, entry_bytes bytes,
                                                           double& number);

    /// Begins to stream the values of such a tensor; false: they are to be decoded, for whatever reason.
    [[nodiscard]] bool stream(const layout::entry& entry, std::string_view recorded, opened_event_file& file,
                              value_stream& out) const;

    /// The kernel, which may be a user's, has not computed what the dtype has.
    [[nodiscard]] lookup_error not_computed(const std::string& what, std::string_view tensor, dtype type) const;

private:
    [[nodiscard]] status decode_record(byte_view record, std::string_view recorded, decoded_tensor& out,
                                       const left_to_caller& left) const;

    // The number in `saved_`.
    [[nodiscard]] std::optional<lookup_error> single_number(std::string_view tensor, reduction_key key,
                                                            double& number) const;

    const trial_state* state_;
    std::string recorded_;
    decoded_tensor saved_;
};

}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/trial/read/impl/entry_decoder.ipp>
#endif
