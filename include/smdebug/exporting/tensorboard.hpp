// A run as TensorBoard draws it: curves of single numbers, histograms of larger tensors.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/exporting/options.hpp>
#include <smdebug/exporting/write/export_walk.hpp>
#include <smdebug/exporting/write/step_files.hpp>
#include <smdebug/reduce/default_kernel.hpp>
#include <smdebug/storage/posix/buffered_output.hpp>
#include <smdebug/storage/posix/output_folder.hpp>
#include <smdebug/trial/concepts.hpp>
#include <smdebug/wire/field_writer.hpp>
#include <smdebug/wire/tensorboard_summary.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// An event file for each mode, and each worker where there are several.
class tensorboard_files final : public export_target {
public:
    /// Borrows the options.  Errors: run_exists.
    tensorboard_files(std::string output, const export_extent& what, const export_options& options);

    [[nodiscard]] bool reads_reductions() const noexcept override { return has_tables_; }
    [[nodiscard]] SMDEBUG_INLINE std::string add(const scanned_tensor& tensor) override;
    SMDEBUG_INLINE void finish(export_result& result) override;

    /// Whether a file's name in the output is one that this gives.
    [[nodiscard]] static bool is_file_of_it(std::string_view key) noexcept;

private:
    struct event_file {
        posix::buffered_output file;
        std::map<std::string, std::string> tensors;  // by tag
    };

    [[nodiscard]] event_file& file_for(const scanned_tensor& tensor);
    // Whether it is the tensor of this tag.
    [[nodiscard]] static bool take_tag(event_file& to, const std::string& tag, std::string_view tensor);
    // A histogram as it was: a HistogramProto where its sums are known, else the tensor of its rows.
    [[nodiscard]] std::string add_histogram(const scanned_tensor& tensor);
    // The payload, and what it leaves out.
    void write(event_file& to, const wire::omitted_bytes& omitted = {});

    std::string output_;
    bool replace_;
    bool names_workers_;
    bool whole_tensors_;
    bool has_tables_;  // of histograms
    default_kernel kernel_;
    std::optional<posix::output_folder> folder_;
    std::map<std::string, event_file> files_;  // by folder
    std::vector<std::byte> payload_;
};

}  // namespace detail

/// Writes event files that TensorBoard opens, by `tensorboard --logdir OUTPUT`.
/// Output: a folder; in it "train", "validation", "predict" or "global", by mode, and in those a folder for each worker
///         where several have steps that are selected, with an event file each.  Steps are those of the mode, times those
///         of the run.
/// Values: of one element a point of a curve, as float32; of more a histogram of the finite ones, see
///         tensorboard_histogram(); with `tensors` every tensor as it is, as tf.summary.write has it.
///         A histogram of a log is written as the histogram that it was.
/// Names:  what TensorBoard has no tag for becomes '_', see wire::tensorboard_tag.
/// Left out, and told: what has no curve and no histogram: strings, complex numbers, booleans, tensors without elements or
///         finite ones, or with some beyond float32; a tensor whose tag another tensor has; with `tensors` above 2 GiB.
/// Errors, memory: as export_npz().  Cost: reading the run, and a histogram of each tensor.
template <scannable_trial Trial>
export_result export_tensorboard(const Trial& run, const std::string& output, const export_options& options = {}) {
    detail::tensorboard_files target{detail::output_path(output, run.path()),
                                     detail::export_extent::of(*run.snapshot(), options.which), options};
    return detail::walk_export(run, options, target);
}

}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/exporting/impl/tensorboard.ipp>
#endif
