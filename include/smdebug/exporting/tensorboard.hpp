// Exports a run for TensorBoard: curves of single numbers, histograms of larger tensors.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/exporting/options.hpp>
#include <smdebug/exporting/write/export_walk.hpp>
#include <smdebug/exporting/write/output.hpp>
#include <smdebug/reduce/default_kernel.hpp>
#include <smdebug/trial/trial.hpp>
#include <smdebug/wire/field.hpp>
#include <smdebug/wire/tensorboard_summary.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace smdebug::inline v1 {
namespace detail {

/// An event file for each worker, where there are several, and each mode.
class tensorboard_files final : public export_target {
public:
    /// Borrows the options.  Errors: run_exists.
    tensorboard_files(std::string output, const export_extent& what, const export_options& options);

    [[nodiscard]] bool reads_reductions() const noexcept override { return has_tables_; }
    [[nodiscard]] SMDEBUG_INLINE std::string add(const scanned_tensor& tensor) override;
    SMDEBUG_INLINE void finish(export_result& result) override;

    /// Whether this export writes a file of that name into its output.
    [[nodiscard]] static bool is_file_of_it(std::string_view key) noexcept;

private:
    using event_file = buffered_output;

    [[nodiscard]] event_file& file_for(const scanned_tensor& tensor);
    // The tag of a tensor, which no other has; empty if none can be made of its name.
    [[nodiscard]] const std::string& tag_of(std::string_view tensor);
    // Writes a histogram of a log again: as a HistogramProto if its sums are known, else as the tensor of its rows.
    [[nodiscard]] std::string add_histogram(const scanned_tensor& tensor);
    // Writes a record: the payload, and the elements, which it does not contain.
    void write(event_file& to, const wire::omitted_bytes& omitted = {});

    std::string output_;
    bool replace_;
    bool names_workers_;
    bool whole_tensors_;
    bool has_tables_;                                       // of histograms
    std::vector<std::string> texts_;                        // tensors that are texts of a log, sorted
    std::map<std::string, std::string, std::less<>> tags_;  // by tensor
    std::set<std::string, std::less<>> taken_;              // the tags
    default_kernel kernel_;
    std::optional<output_folder> folder_;
    std::map<std::string, event_file> files_;  // by folder
    std::vector<std::byte> payload_;
};

}  // namespace detail

/// Writes event files that TensorBoard opens, by `tensorboard --logdir OUTPUT`.
/// Output: a folder with "train", "validation", "predict" or "global", by mode, in each an event file; where several
///         workers have selected steps, these are in a folder for each worker.  Read as a log they are the same workers
///         and modes.  Steps are those of the mode, times those of the run.
/// Values: a tensor of one element is a point of a curve, as float32; a larger one is a histogram of its finite values,
///         see tensorboard_histogram(); with `tensors` every tensor is written in full, as by tf.summary.write.  A
///         histogram of a log is restored as the same histogram, a text as the same text.
/// Names:  characters that a tag cannot have become '_', see wire::tensorboard_tag; of several names with one tag the
///         later ones get "_2", "_3" and so on, after those that are tags as they are.
/// Left out and reported: tensors with neither curve nor histogram (strings, complex numbers, booleans, tensors without
/// elements or finite ones, or with values beyond float32); with `tensors`, those above 2 GiB.
/// Errors, memory: as export_npz().  Cost: reading the run, and a histogram of each tensor.
export_result export_tensorboard(const trial& run, const std::string& output, const export_options& options = {});

}  // namespace smdebug::inline v1

#ifndef SMDEBUG_COMPILED
#include <smdebug/exporting/impl/tensorboard.ipp>
#endif
