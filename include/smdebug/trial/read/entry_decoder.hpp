// Decodes the record of an index entry: to values or a saved reduction, or to a lookup_error; streams large values.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/dtype.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/function_ref.hpp>
#include <smdebug/core/status.hpp>
#include <smdebug/record/payload_check.hpp>
#include <smdebug/reduce/any_kernel.hpp>
#include <smdebug/reduce/concepts.hpp>
#include <smdebug/reduce/name.hpp>
#include <smdebug/tensor/event_decoder.hpp>
#include <smdebug/tensor/tensor_view.hpp>
#include <smdebug/trial/catalog/layout.hpp>
#include <smdebug/trial/lookup.hpp>
#include <smdebug/trial/read/event_source.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace smdebug::inline v1::detail {

class opened_event_file;
class trial_state;
class value_stream;

/// What decoding leaves to the caller, if the trial's decoder can leave it.  Null: nothing is left.
struct left_to_caller {
    record::payload_check* check = nullptr;  ///< receives the check of the payload that the caller has to make
    std::size_t* repeats = nullptr;          ///< receives how many elements, equal to the last one, are left out
};

using file_key = function_ref<std::string()>;

/// Decodes records with a trial's decoder.  Borrows the state.
/// In each call file() returns the event file's key, for messages; `bytes` are those of the record, or of what replaces
/// it: none for an entry that is not in an object.
/// Threads: one at a time, as it keeps buffers for the next record.
class entry_decoder {
public:
    explicit entry_decoder(const trial_state& state) noexcept : state_(&state) {}

    /// Decodes the record of a tensor that is `recorded` under this name; returns the error, if any.  `out` borrows the
    /// bytes.
    [[nodiscard]] std::optional<lookup_error> decode(const layout::entry& entry, std::string_view recorded,
                                                     file_key file, byte_view bytes, decoded_tensor& out,
                                                     const left_to_caller& left = {}) const;

    /// Decodes the record of a saved reduction of `tensor` to a plain double; returns the error, if any.
    [[nodiscard]] std::optional<lookup_error> decode_saved(const layout::entry& entry, std::string_view tensor,
                                                           reduction_key key, file_key file, byte_view bytes,
                                                           double& number);

    /// Begins to stream the values of such a tensor; false if they have to be decoded, for whatever reason.
    [[nodiscard]] bool stream(const layout::entry& entry, std::string_view recorded, opened_event_file& file,
                              value_stream& out) const;

    /// The error for a kernel, possibly a user's, that did not compute what the dtype supports.
    [[nodiscard]] lookup_error not_computed(const std::string& what, std::string_view tensor, dtype type) const;

private:
    [[nodiscard]] status decode_record(byte_view record, std::string_view recorded, decoded_tensor& out,
                                       const left_to_caller& left) const;

    // Errors: unavailable for elements that would be made of more bytes than the trial's limit of a record.
    void check_made(const stored_form& form) const;

    // The number in `saved_`.
    [[nodiscard]] std::optional<lookup_error> single_number(std::string_view tensor, reduction_key key,
                                                            double& number) const;

    const trial_state* state_;
    std::string recorded_;
    decoded_tensor saved_;
};

/// Decodes an entry that is not a record into `out`, whose name becomes empty.  `bytes`: those of entry.record, cut at
/// the object's end; nothing for an entry that is not in an object.
/// Errors:  truncated if there are fewer bytes than when the entry was found; those of decode_tensor and of histograms;
///          what a function that makes elements throws.
/// Borrows: the bytes, if they are the elements as they are in memory; see decoded_tensor.
/// `repeats`: null, or receives the number of elements that are left out, see decode_list.
[[nodiscard]] status decode_stored(const layout::entry& entry, byte_view bytes, decoded_tensor& out,
                                   std::size_t* repeats = nullptr);

// Reduces the values of a large tensor while reading them: each piece is read, verified and reduced while it is in the
// CPU's cache, and the record is never in memory as a whole.

/// Reused for one tensor after another.  Borrows: the file, from begin() until its next record is read.
class value_stream {
public:
    /// Begins with the record of the tensor `name`; false if it has to be read whole, for whatever reason.
    /// Errors: what the file throws.
    [[nodiscard]] bool begin(const decoder_plan& how, opened_event_file& file, byte_range record,
                             std::string_view name);

    /// Begins with the record of any tensor, and returns its name; nothing is read out of order: what follows the
    /// values is checked after them.
    [[nodiscard]] bool begin_any(const decoder_plan& how, opened_event_file& file, byte_range record,
                                 std::string& name);

    /// Begins with elements that are stored in the file without a record; false if they are not plain numbers.
    [[nodiscard]] bool begin_elements(const stored_form& form, opened_event_file& file, byte_range elements);

    [[nodiscard]] dtype type() const noexcept { return parts_.type; }
    [[nodiscard]] const shape_type& shape() const noexcept { return parts_.shape; }
    [[nodiscard]] std::size_t count() const noexcept { return size() / size_of(type()); }

    /// Reduces the values into `found`, and verifies the record; `found` does not change if the dtype has none of the
    /// reductions.  Returns what is wrong with the record: `found` is then invalid.
    /// Errors: what the file throws.  Cost: one read of the record.  Memory: a piece.
    [[nodiscard]] status reduce(const any_kernel& kernel, reduction_set wanted, reduction_values& found);

    // Piece by piece, for callers that do not reduce: start(), more() from the first value to the last, and finish(),
    // which returns what is wrong with the record: results computed from the values are then invalid.

    /// Begins with the first value.  Errors: what the file throws.
    void start();

    /// Values from byte `begin` on, where the last piece ended; fewer than `least` bytes on an error, which finish()
    /// returns or throws.  Valid until the next call.
    [[nodiscard]] byte_view more(std::size_t begin, std::size_t least) noexcept;

    /// Reads the values that more() did not, and verifies the checksum.  Errors: what the file throws, or threw.
    [[nodiscard]] status finish();

    /// The size of the values in bytes.
    [[nodiscard]] std::size_t size() const noexcept { return static_cast<std::size_t>(parts_.content_size); }

private:
    static constexpr std::uint64_t most_head = std::uint64_t{4} << 10U;
    static constexpr std::uint64_t most_tail = std::uint64_t{4} << 10U;

    [[nodiscard]] bool plan(const decoder_plan& how, opened_event_file& file, byte_range record, std::string_view name);
    [[nodiscard]] bool read_tail();

    record_parts parts_;
    std::optional<std::uint32_t> checksum_;  // of the payload; nothing if it is not verified
    std::vector<std::byte> tail_;            // what follows the values, with the footer
    bool (*ends_well_)(byte_view, std::optional<std::uint32_t>&) = nullptr;  // set if the tail has not been read yet
    opened_event_file* file_ = nullptr;
    std::uint64_t offset_ = 0;  // of the record
    std::uint32_t crc_ = 0;
    std::size_t checked_ = 0;  // bytes of values included in it
    bool is_cut_ = false;
    std::exception_ptr failed_;
};

}  // namespace smdebug::inline v1::detail

#ifndef SMDEBUG_COMPILED
#include <smdebug/trial/read/impl/entry_decoder.ipp>
#endif
