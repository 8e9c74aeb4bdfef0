// One event of a TensorBoard log: which tags it has, and what they hold.
// Beyond wire/summary.hpp, which knows what the Python package writes: histograms, images, audio, restarts.
//
//   Event { ...; SessionLog session_log = 7 { SessionStatus status = 1 { START = 1 } } }
//   Value { ...; Image image = 4, HistogramProto histo = 5, Audio audio = 6; SummaryMetadata metadata = 9 }
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>
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

/// One value.      Borrows: the event's bytes.
struct log_value {
    std::string_view tag;
    std::string_view plugin;  ///< whose data it is; written with a tag's first value only
    log_value_kind kind = log_value_kind::opaque;
    float number = 0;   ///< of a scalar that is no tensor
    byte_view message;  ///< of a histogram or a tensor
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

/// An event with one scalar and nothing else, as nearly all records of most logs are.      Borrows: its bytes.
struct scalar_event {
    double wall_time = 0;
    std::int64_t step = 0;
    std::string_view tag;
    float number = 0;
};

/// Reads one whose fields stand as writers put them; false for all others, which read_log_event() reads.
/// Cost: some nanoseconds.
[[nodiscard]] bool read_scalar_event(byte_view message, scalar_event& out) noexcept;

/// What a tag holds that has a tensor, by its plugin.
[[nodiscard]] log_value_kind kind_by_plugin(std::string_view plugin) noexcept;

}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/formats/tensorboard/impl/log_event.ipp>
#endif
