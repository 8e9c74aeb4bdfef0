// What the record of an index entry holds: values, or a saved reduction; in the trial's words, why it does not.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/dtype.hpp>
#include <smdebug/core/status.hpp>
#include <smdebug/record/payload_check.hpp>
#include <smdebug/reduce/name.hpp>
#include <smdebug/tensor/tensor_view.hpp>
#include <smdebug/trial/catalog/layout.hpp>
#include <smdebug/trial/lookup.hpp>

#include <cstddef>
#include <exception>
#include <optional>
#include <string>
#include <string_view>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// What a caller does itself of decoding a record, where the trial's decoder can leave it; null: the decoder does it.
struct left_to_caller {
    record::payload_check* check = nullptr;  ///< compares the payload's checksum
    std::size_t* repeats = nullptr;          ///< makes the elements that repeat the last one
};

/// Decodes records by a trial's decoder.  `State` is the trial's trial_state, which is borrowed.
/// In each call file() gives the event file's key, for messages, and bytes() those of the record; what bytes() throws
/// is a failure of the record, too.
/// Threads: one at a time, as it keeps buffers for the next record.
template <class State>
class entry_decoder {
public:
    explicit entry_decoder(const State& state) noexcept : state_(&state) {}

    /// Decodes the record of a tensor that is `recorded` under this name; returns why not.  `out` borrows the bytes.
    template <class File, class Bytes>
    [[nodiscard]] std::optional<lookup_failure> decode(const layout::entry& entry, std::string_view recorded,
                                                       File&& file, Bytes&& bytes, decoded_tensor& out,
                                                       const left_to_caller& left = {}) const {
        status outcome = status::ok;
        try {
            outcome = decode_record(bytes(), recorded, out, left);
        } catch (const std::exception&) {
            return failure_at_hand(file(), entry.record.offset);
        }
        if (outcome == status::ok) {
            return std::nullopt;
        }
        return lookup_failure{
            .why = absence::damaged, .damage = outcome, .offset = entry.record.offset, .where = file()};
    }

    /// Decodes the record of a saved reduction of `tensor` into a plain double; returns why not.
    template <class File, class Bytes>
    [[nodiscard]] std::optional<lookup_failure> decode_saved(const layout::entry& entry, std::string_view tensor,
                                                             reduction_key key, File&& file, Bytes&& bytes,
                                                             double& number) {
        recorded_.clear();
        append_reduction_tensor_name(recorded_, tensor, key);
        if (auto failed = decode(entry, recorded_, file, bytes, saved_)) {
            return failed;
        }
        return single_number(tensor, key, number);
    }

    /// The kernel, which may be a user's, has not computed what the dtype has.
    [[nodiscard]] lookup_failure not_computed(const std::string& what, std::string_view tensor, dtype type) const;

private:
    [[nodiscard]] status decode_record(byte_view record, std::string_view recorded, decoded_tensor& out,
                                       [[maybe_unused]] const left_to_caller& left) const;

    // The number in `saved_`.
    [[nodiscard]] std::optional<lookup_failure> single_number(std::string_view tensor, reduction_key key,
                                                              double& number) const;

    const State* state_;
    std::string recorded_;
    decoded_tensor saved_;
};

}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#include <smdebug/trial/read/impl/entry_decoder.tpp>
