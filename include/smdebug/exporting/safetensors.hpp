// A run as safetensors opens it: a file a step.
#pragma once

#include <smdebug/core/dtype.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/exporting/options.hpp>
#include <smdebug/exporting/write/export_walk.hpp>
#include <smdebug/exporting/write/step_files.hpp>
#include <smdebug/storage/posix/buffered_output.hpp>
#include <smdebug/trial/catalog/catalog.hpp>
#include <smdebug/trial/concepts.hpp>
#include <smdebug/trial/selection.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// The format's word for a dtype, "BF16"; empty for those that it has none for: complex numbers and strings.
[[nodiscard]] std::string_view safetensors_type(dtype type) noexcept;

/// A .safetensors a step.  The header stands before the elements and is known behind them: room is left for what it is
/// likely to need, filled up with blanks, as the format allows; where that does not do, the elements are moved.
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
    // About as many bytes as the header will have: by the names in the index file.
    [[nodiscard]] std::size_t likely_header(const scanned_tensor& tensor) const;

    std::shared_ptr<const catalog> from_;
    selected_tensors selected_;
    std::string run_;
    step_files files_;
    posix::buffered_output* file_ = nullptr;  // the one at hand
    std::string header_;                      // without the closing brace
    std::size_t room_ = 0;                    // for it
    std::uint64_t elements_ = 0;              // bytes of them
};

}  // namespace detail

/// Writes the values of tensors in the format of Hugging Face's safetensors.
/// Output: a folder with "step_000000500.safetensors" for each step, with the worker's name behind it where several have
///         steps that are selected.  An output that ends in ".safetensors" is one file, of one step of one worker.
/// Names:  as they are.  Values: bit by bit, in the order of the run's file.
/// "__metadata__": run, step, mode, mode_step, worker, and format "pt", as other writers have it.
/// Left out, and told: complex numbers and strings, for which the format has no dtype; a tensor called "__metadata__".
/// Errors, memory: as export_npz().  Cost: reading the run, and writing.
template <scannable_trial Trial>
export_result export_safetensors(const Trial& run, const std::string& output, const export_options& options = {}) {
    const auto from = run.snapshot();
    detail::safetensors_files target{detail::output_path(output, run.path()), from,
                                     detail::export_extent::of(*from, options.which), options,
                                     detail::exported_name(run, options)};
    return detail::walk_export(run, options, target);
}

}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/exporting/impl/safetensors.ipp>
#endif
