// Where the files of an export go: one for each step and worker in a folder, or a single one; whole or not at all.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/exporting/options.hpp>
#include <smdebug/exporting/write/export_walk.hpp>
#include <smdebug/storage/posix/buffered_output.hpp>
#include <smdebug/storage/posix/output_folder.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// The path of an output on this machine, of a run that lies at `run`.
/// Errors: value_error and unsupported (no path of this machine), value_error (it is the run's folder, lies in it, or
///         has it in it).
[[nodiscard]] std::string output_path(const std::string& output, const std::string& run);

/// Errors: run_exists: something is there, unless `replace`; a folder, whatever that says.
void check_output_file(const std::string& path, bool replace);

/// Whether a file's name is one that step_files gives.
[[nodiscard]] bool is_step_file(std::string_view name, std::string_view extension) noexcept;

/// The files of steps and workers.
class step_files {
public:
    /// `output` is one file where it ends in `extension`.
    /// Errors: run_exists; value_error where one file would have to hold several steps.
    step_files(std::string output, std::string extension, const export_extent& what, const export_options& options);

    /// Begins the file of a step and worker.  Errors: value_error for a second one where there is room for one.
    [[nodiscard]] posix::buffered_output& open(const scanned_tensor& tensor);
    /// Ends it.
    void close();

    void finish(export_result& result);

private:
    std::string output_;
    std::string extension_;
    bool replace_;
    bool names_workers_;
    bool names_modes_;
    bool is_single_;
    std::optional<posix::output_folder> folder_;
    std::optional<posix::buffered_output> file_;  // of a single one until finish()
    std::size_t count_ = 0;
    std::uint64_t bytes_ = 0;
};

}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/exporting/write/impl/step_files.ipp>
#endif
