// Histograms as TensorBoard's logs have them.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/status.hpp>

#include <cstddef>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// What a HistogramProto holds, as TensorBoard shows it: the empty buckets at both ends are left out.
struct histogram_rows {
    double min = 0;
    double max = 0;
    double num = 0;
    double sum = 0;
    double sum_squares = 0;
    bool has_sums = false;          ///< whether `sum` and `sum_squares` are known
    std::vector<double> rows = {};  ///< left edge, right edge, count of each bucket

    [[nodiscard]] std::size_t buckets() const noexcept { return rows.size() / 3; }
};

/// Reads a HistogramProto.      Errors: malformed where the lists are not of one length, and those of field_reader.
[[nodiscard]] status read_histogram_message(byte_view message, histogram_rows& out);

/// The same, without the rows.      Cost: that of a pass over its fields; no allocation.
[[nodiscard]] status read_histogram_numbers(byte_view message, histogram_rows& out);

/// Reads the TensorProto of rows that TensorFlow 2 writes.  min and max are the outer edges of what is not empty; sums are not
/// known.      Errors: malformed where it has not three columns of real numbers, and those of decode_tensor.
[[nodiscard]] status read_histogram_tensor(byte_view tensor, histogram_rows& out);

}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/tensor/impl/histogram_message.ipp>
#endif
