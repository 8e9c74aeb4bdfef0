// Which files are TensorBoard logs, what the names of their folders mean, and the events in them.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/status.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/storage/any_storage.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace smdebug::inline v1 {

/// Whether a key is that of an event file of TensorFlow, Keras, PyTorch, JAX, ...: "tfevents" is in its name.  Those of
/// the Python package, "<step>/<step>_<worker>.tfevents", do not count.
[[nodiscard]] bool is_tensorboard_log(std::string_view key) noexcept;

/// The folder of a log; if it is named after a mode (train, validation, ...), its parent.  An empty text is the root.
[[nodiscard]] std::string_view run_folder_of(std::string_view key) noexcept;

/// The run folders of all logs in a storage, in byte order: with format_options::folders_are_workers = false each can
/// be opened as a run.
/// Errors: those of the storage.
/// Cost: the names of all objects.
[[nodiscard]] std::vector<std::string> log_folders(const any_storage& store);

namespace detail {

/// The mode that a folder's name stands for.
[[nodiscard]] std::optional<mode> mode_of_folder(std::string_view name) noexcept;
/// The precedence of folders that stand for the same mode: validation before val, eval, eval_x and test.  0 if the name
/// is no mode.
[[nodiscard]] int rank_of_folder(std::string_view name) noexcept;

// One event of a TensorBoard log: its tags and their values.
// Extends wire/event.hpp, which covers what the Python package writes, by histograms, images, audio and restarts.
//
//   Event { ...; SessionLog session_log = 7 { SessionStatus status = 1 { START = 1 } } }
//   Value { ...; Image image = 4, HistogramProto histo = 5, Audio audio = 6; SummaryMetadata metadata = 9 }

/// The kind of a tag's values.
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
    std::string_view plugin;  ///< names the kind of data; written with a tag's first value only
    log_value_kind kind = log_value_kind::opaque;
    float number = 0;   ///< the value of a scalar without a tensor
    byte_view message;  ///< the bytes of a histogram, a tensor, an image or a sound
};

/// One event.      Borrows: its bytes.
struct log_event {
    double wall_time = 0;
    std::int64_t step = 0;
    bool is_start = false;  ///< training restarts at this step: earlier points from it on are void
    std::vector<log_value> values = {};
};

/// Reads an event, and its values, into `out`, whose memory is reused.
/// Errors: malformed, truncated; `out` is then unspecified.
[[nodiscard]] status read_log_event(byte_view message, log_event& out);

/// An event with one scalar and nothing else, as almost all records of most logs are.      Borrows: its bytes.
struct scalar_event {
    double wall_time = 0;
    std::int64_t step = 0;
    std::string_view tag;
    float number = 0;
};

/// Reads an event whose fields are in the usual order; false for all others, which read_log_event() reads.
/// Cost: some nanoseconds.
[[nodiscard]] bool read_scalar_event(byte_view message, scalar_event& out) noexcept;

/// The kind of a tag with a tensor, by its plugin.
[[nodiscard]] log_value_kind kind_by_plugin(std::string_view plugin) noexcept;

}  // namespace detail
}  // namespace smdebug::inline v1

#ifndef SMDEBUG_COMPILED
#include <smdebug/formats/tensorboard/impl/log_files.ipp>
#endif
