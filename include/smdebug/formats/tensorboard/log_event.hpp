// One event of a TensorBoard log: which tags it has, and what they hold.
// Beyond wire/summary.hpp, which knows what the Python package writes: histograms, images, audio, restarts.
//
//   Event { ...; SessionLog session_log = 7 { SessionStatus status = 1 { START = 1 } } }
//   Value { ...; Image image = 4, HistogramProto histo = 5, Audio audio = 6; SummaryMetadata metadata = 9 }
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/shape.hpp>
#include <smdebug/core/status.hpp>
#include <smdebug/core/step.hpp>

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// What a tag holds.
enum class log_value_kind : std::uint8_t {
    scalar,
    tensor,
    text,
    histogram,         ///< a HistogramProto
    histogram_tensor,  ///< rows of left edge, right edge, count
    opaque,            ///< images, audio, graphs, hyperparameters: listed, not decoded
};

/// What a HistogramProto holds, as TensorBoard shows it: the empty buckets at both ends are left out.
struct log_histogram {
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
[[nodiscard]] status read_log_histogram(byte_view message, log_histogram& out);

/// Reads the TensorProto of rows that TensorFlow 2 writes.  min and max are the outer edges of what is not empty; sums are not
/// known.      Errors: malformed where it has not three columns of real numbers, and those of decode_tensor.
[[nodiscard]] status read_histogram_tensor(byte_view tensor, log_histogram& out);

/// One value.      Borrows: the event's bytes.
struct log_value {
    std::string_view tag;
    std::string_view plugin;  ///< whose data it is; written with a tag's first value only
    log_value_kind kind = log_value_kind::opaque;
    shape_type shape = {};  ///< of a tensor
    byte_view message;      ///< of a histogram or a tensor
    float number = 0;       ///< of a scalar that is no tensor
};

/// One event.      Borrows: its bytes.
struct log_event {
    double wall_time = 0;
    std::int64_t step = 0;
    bool is_start = false;  ///< a training that goes on from this step: what was there from it on is void
    std::vector<log_value> values = {};
};

/// Reads an event, and its values, into `out`, whose memory is used again.
/// Errors: malformed, truncated; `out` is then not to be used.
[[nodiscard]] status read_log_event(byte_view message, log_event& out);

/// What a tag holds that has a tensor, by its plugin.
[[nodiscard]] log_value_kind kind_by_plugin(std::string_view plugin) noexcept;

}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/formats/tensorboard/impl/log_event.ipp>
#endif
