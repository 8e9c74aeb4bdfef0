// Exports a run as .safetensors: a file a step.
#pragma once

#include <smdebug/core/dtype.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/exporting/options.hpp>
#include <smdebug/exporting/write/export_walk.hpp>
#include <smdebug/exporting/write/output.hpp>
#include <smdebug/trial/catalog/catalog.hpp>
#include <smdebug/trial/read/selected_tensors.hpp>
#include <smdebug/trial/trial.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace smdebug::inline v1 {
namespace detail {

/// The format's name of a dtype, "BF16"; empty for dtypes that it lacks: complex numbers and strings.
[[nodiscard]] std::string_view safetensors_type(dtype type) noexcept;

/// A .safetensors a step.  The header comes before the elements but is known only after them: space for its likely size
/// is reserved and padded with blanks, as the format allows; if that does not suffice, the elements are moved.
class safetensors_files final : public export_target {
public:
    /// Borrows the options.  Errors: run_exists, value_error (one file, and several steps).
    safetensors_files(std::string output, std::shared_ptr<const catalog> from, const export_extent& what,
                      const export_options& options, std::string run);

    [[nodiscard]] SMDEBUG_INLINE std::string add(const scanned_tensor& tensor) override;
    SMDEBUG_INLINE void end_file() override;
    void finish(export_result& result) override { files_.finish(result); }

private:
    static constexpr std::size_t length_bytes = 8;

    void begin(const scanned_tensor& tensor);
    // An estimate of the header's size, by the names in the index file.
    [[nodiscard]] std::size_t likely_header(const scanned_tensor& tensor) const;

    std::shared_ptr<const catalog> from_;
    selected_tensors selected_;
    std::string run_;
    step_files files_;
    buffered_output* file_ = nullptr;  // the current file
    std::string header_;               // without the closing brace
    std::size_t room_ = 0;             // reserved for it
    std::uint64_t elements_ = 0;       // their size in bytes
};

}  // namespace detail

/// Writes the values of tensors in the format of Hugging Face's safetensors.
/// Output: a folder with "step_000000500.safetensors" for each step; the worker's name is appended where several
///         workers have selected steps.  An output that ends in ".safetensors" is one file, of one step of one worker.
/// Names:  unchanged.  Values: bit by bit, in the order of the run's file.
/// "__metadata__": run, step, mode, mode_step, worker, and format "pt", as other writers have it.
/// Left out and reported: complex numbers and strings, for which the format has no dtype; a tensor named
/// "__metadata__".
/// Errors, memory: as export_npz().  Cost: reading the run, and writing.
export_result export_safetensors(const trial& run, const std::string& output, const export_options& options = {});

}  // namespace smdebug::inline v1

#ifndef SMDEBUG_COMPILED
#include <smdebug/exporting/impl/safetensors.ipp>
#endif
