// The values of a large tensor, reduced piece by piece as they are read: each piece is read, verified and reduced while
// it is in the CPU's cache, and the record is never in memory as a whole.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/dtype.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/shape.hpp>
#include <smdebug/core/status.hpp>
#include <smdebug/reduce/concepts.hpp>
#include <smdebug/reduce/name.hpp>
#include <smdebug/tensor/any_decoder.hpp>
#include <smdebug/trial/catalog/stored_form.hpp>
#include <smdebug/trial/read/opened_event_file.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// Used again from tensor to tensor.  Borrows: the file, from begin() on, until its next record is asked for.
class value_stream {
public:
    /// Begins with the record of the tensor `name`; false where it has to be read whole, for whatever reason.
    /// Errors: what the file throws.
    [[nodiscard]] bool begin(const decoder_plan& how, opened_event_file& file, byte_range record,
                             std::string_view name);

    /// The same for the record of any tensor, whose name is told; nothing is read out of order: what is behind the values
    /// is looked at behind them.
    [[nodiscard]] bool begin_any(const decoder_plan& how, opened_event_file& file, byte_range record,
                                 std::string& name);

    /// The same for elements that lie in the file without a record around them; false where they are not plain numbers.
    [[nodiscard]] bool begin_elements(const stored_form& form, opened_event_file& file, byte_range elements);

    [[nodiscard]] dtype type() const noexcept { return parts_.type; }
    [[nodiscard]] const shape_type& shape() const noexcept { return parts_.shape; }
    [[nodiscard]] std::size_t count() const noexcept { return size() / size_of(type()); }

    /// Reduces the values into `found`, and verifies the record; `found` stays as it is where the dtype has none of the
    /// reductions.  Returns what is wrong with the record: `found` is then not to be believed.
    /// Errors: what the file throws.  Cost: one read of the record.  Memory: a piece.
    template <fed_reducer Kernel>
    [[nodiscard]] status reduce(const Kernel& kernel, reduction_set wanted, reduction_values& found) {
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

    // Piece by piece, for who does something else with the values: start(), more() from the first value to the last, and
    // finish(), which returns what is wrong with the record: what was done with the values then counts for nothing.

    /// Begins with the first value.  Errors: what the file throws.
    void start();

    /// Values from byte `begin` of them on, which is where the last ended; fewer than `least` bytes where they cannot be
    /// had: finish() tells why.  Gone at the next call.
    [[nodiscard]] byte_view more(std::size_t begin, std::size_t least) noexcept;

    /// Looks at what nobody did, and at the checksum.  Errors: what the file throws, or threw.
    [[nodiscard]] status finish();

    /// Bytes of the values.
    [[nodiscard]] std::size_t size() const noexcept { return static_cast<std::size_t>(parts_.content_size); }

private:
    static constexpr std::uint64_t most_head = std::uint64_t{4} << 10U;
    static constexpr std::uint64_t most_tail = std::uint64_t{4} << 10U;

    [[nodiscard]] bool plan(const decoder_plan& how, opened_event_file& file, byte_range record, std::string_view name);
    [[nodiscard]] bool read_tail();

    record_parts parts_;
    std::optional<std::uint32_t> checksum_;  // of the payload; nothing: it is not verified
    std::vector<std::byte> tail_;            // what follows the values, with the footer
    bool (*ends_well_)(byte_view, std::optional<std::uint32_t>&) = nullptr;  // where the tail is not read yet
    opened_event_file* file_ = nullptr;
    std::uint64_t offset_ = 0;  // of the record
    std::uint32_t crc_ = 0;
    std::size_t passed_ = 0;  // values that are in it, in bytes
    bool is_cut_ = false;
    std::exception_ptr failed_;
};

}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/trial/read/impl/value_stream.ipp>
#endif
