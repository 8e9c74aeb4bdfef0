// A run as numpy opens it: an .npz a step, or one of a tensor over its steps.
#pragma once

#include <smdebug/core/dtype.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/shape.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/exporting/options.hpp>
#include <smdebug/exporting/write/export_walk.hpp>
#include <smdebug/exporting/write/step_files.hpp>
#include <smdebug/exporting/write/zip_writer.hpp>
#include <smdebug/storage/posix/buffered_output.hpp>
#include <smdebug/trial/concepts.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// A tensor as an array of numpy: a head and its elements.
struct numpy_array {
    std::string type = {};             ///< numpy's word
    std::vector<std::byte> made = {};  ///< elements that had to be made
    byte_view bytes = {};              ///< in the tensor, or in `made`

    /// Fills it, and tells why there is no such array, as export_target::add() does.  bfloat16 and float8 become float32; strings
    /// become bytes of one length, filled up with zeros.
    [[nodiscard]] std::string hold(const tensor_view& tensor);
};

/// An .npz a step.
class npz_steps final : public export_target {
public:
    /// Borrows the options.  Errors: run_exists, value_error (one file, and several steps).
    npz_steps(std::string output, const export_extent& what, const export_options& options)
        : files_(std::move(output), ".npz", what, options) {}

    [[nodiscard]] SMDEBUG_INLINE std::string add(const scanned_tensor& tensor) override;
    SMDEBUG_INLINE void end_file() override;
    void finish(export_result& result) override { files_.finish(result); }

private:
    step_files files_;
    std::optional<zip_writer> zip_;
    numpy_array array_;
};

/// One .npz of one tensor over its steps: its values as one array more, and "steps".
class npz_stack final : public export_target {
public:
    /// Errors: run_exists, value_error (several workers).
    npz_stack(const std::string& output, const export_extent& what, const export_options& options);

    /// Errors: value_error where a step has another dtype or shape than the first.
    [[nodiscard]] SMDEBUG_INLINE std::string add(const scanned_tensor& tensor) override;
    SMDEBUG_INLINE void finish(export_result& result) override;

private:
    void begin(const scanned_tensor& tensor);
    [[nodiscard]] std::string head() const;

    posix::buffered_output file_;
    zip_writer zip_;
    numpy_array array_;
    std::string member_;
    std::string type_;
    dtype first_type_ = dtype::invalid;
    shape_type shape_;  // the number of steps, and behind it that of the tensor
    std::vector<std::int64_t> steps_;
    std::optional<std::string> modes_;  // of the steps, seven bytes each; nothing: the numbers say it all
};

/// Whether `output` is one .npz of one tensor over several steps.
[[nodiscard]] bool is_stack(const std::string& output, const export_extent& what);

}  // namespace detail

/// Writes the values of tensors as numpy.load opens them, uncompressed.
/// Output: a folder with "step_000000500.npz" for each step, with the worker's name behind it where several have
///         steps that are selected ("step_000000500_worker_0.npz"); of a log with several modes with the
///         mode ("step_000000500_EVAL.npz").  An output that ends in ".npz" is one file: of one
///         step; or of one tensor of one worker over several steps, stacked: an array with one dimension more, and its
///         steps in "steps"; those of several modes of a log have "modes", too.
/// Names:  those of the tensors, but for what would lead out of an archive: see detail::member_name.
/// Values: bit by bit; bfloat16 and float8, for which numpy has no word, as float32, which holds each value exactly; strings as
///         bytes of one length (dtype "S").  Left out, and told: strings that end in a zero byte, which numpy drops, more
///         dimensions than 32, and strings that would be filled up to more than 1 GiB.
/// Errors: run_exists (the output is there), value_error (nothing to export; one file that would be several; steps that
///         do not stack), stopped, collection_unavailable; unavailable (disk full), access_denied and not_found of the
///         output.  Nothing is left behind then.
/// Memory: a record, twice where elements are made.  Cost: reading the run, a checksum, and writing.
template <scannable_trial Trial>
export_result export_npz(const Trial& run, const std::string& output, const export_options& options = {}) {
    const std::string path = detail::output_path(output, run.path());
    const auto from = run.snapshot();
    const auto what = detail::export_extent::of(*from, options.which);
    if (detail::is_stack(path, what)) {
        detail::npz_stack target{path, what, options};
        return detail::walk_export(run, options, target);
    }
    detail::npz_steps target{path, what, options};
    return detail::walk_export(run, options, target);
}

}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/exporting/impl/npz.ipp>
#endif
