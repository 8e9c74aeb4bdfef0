// The data of a page as bytes: numbers as few of them as may be, and base64 of it all, as HTML takes it.
// report/src/data.js reads them.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/report/run_series.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace report {
namespace detail {

/// Appends numbers to bytes, little-endian.
class data_writer {
public:
    /// Seven bits a byte, the lowest first, the highest bit set in all but the last.
    void whole(std::uint64_t value);
    /// The same of a number that may be negative: 0, -1, 1, -2, ... as 0, 1, 2, 3, ...
    void whole_signed(std::int64_t value) {
        whole((static_cast<std::uint64_t>(value) << 1U) ^ static_cast<std::uint64_t>(value >> 63U));
    }
    /// As a float; an absent number as a NaN of its own.
    void number(double value);
    /// As a double, with its bits.
    void wide_number(double value);
    /// A byte, 1 where they are doubles, then each.
    void numbers(std::span<const double> values);
    void byte(std::uint8_t value) { bytes_.push_back(std::byte{value}); }
    /// Which of a row are there: numbers of those that are not, that are, that are not, ...
    void presence(const std::vector<bool>& there);
    /// A column of the rows that are there: a byte, then 0: one number for all of them; 1: a number each; 2: nothing, it
    /// is as the column before, where that was written, too; 3, 4: as 0 and 1, in doubles.
    void column(const tensor_series& of, std::size_t column, bool follows_another);

    [[nodiscard]] byte_view bytes() const noexcept { return bytes_; }

private:
    std::vector<std::byte> bytes_;
};

/// Whether a float shows it as it is, but for its last digits: a number that is neither beyond floats nor so small that
/// they have few digits or none left for it.  NaN and infinity are such.
[[nodiscard]] bool fits_float(double value) noexcept;

/// Base64 with padding.
[[nodiscard]] std::string base64(byte_view bytes);

}  // namespace detail
}  // namespace report
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/report/impl/data_writer.ipp>
#endif
