// Exports a part of a run as a new run.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/exporting/options.hpp>
#include <smdebug/exporting/write/export_walk.hpp>
#include <smdebug/exporting/write/output.hpp>
#include <smdebug/hook/file_sink.hpp>
#include <smdebug/hook/step_writer.hpp>
#include <smdebug/trial/catalog/catalog.hpp>
#include <smdebug/trial/trial.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace smdebug::inline v1 {
namespace detail {

/// A run being written.
class run_files final : public export_target {
public:
    /// Borrows the options.  Errors: run_exists.
    run_files(std::string output, std::shared_ptr<const catalog> from, export_extent what,
              const export_options& options);

    [[nodiscard]] bool takes_reductions() const noexcept override { return true; }
    [[nodiscard]] SMDEBUG_INLINE std::string add(const scanned_tensor& tensor) override;
    SMDEBUG_INLINE void end_file() override;
    SMDEBUG_INLINE void finish(export_result& result) override;

    /// Whether a run has a file of that name in that folder.
    [[nodiscard]] static bool is_file_of_it(std::string_view key) noexcept;

private:
    [[nodiscard]] step_writer& writer_for(const scanned_tensor& tensor);
    void add_reductions(const scanned_tensor& tensor, const record_stamp& stamp);
    void put(const std::string& key, std::string_view text);

    std::string output_;
    std::shared_ptr<const catalog> from_;
    export_extent what_;
    bool replace_;
    std::optional<output_folder> folder_;
    std::unique_ptr<file_sink> sink_;
    std::map<std::string, step_writer, std::less<>> writers_;  // by worker
    step_writer* writer_ = nullptr;                            // for the current file
    double wall_time_ = 0;                                     // of the last record with values
    std::size_t files_ = 0;
    std::uint64_t bytes_ = 0;
};

}  // namespace detail

/// Writes the selected tensors as a new run, which trials and the Python package can open.
/// Output: a folder with event and index files, a collections file for each selected worker, and the mark of the job's
///         end, even where the source run still grows.
/// Values: bit by bit, with names, steps, modes, mode steps, workers and times of the records; saved shapes; saved
///         reductions as doubles, as trials read them.  Collections keep their names and settings, and list only the
///         selected tensors.  Payloads have valid checksums.
/// Left out and reported: tensors above the 2 GiB of a record.
/// Errors, memory: as export_npz().  Cost: reading the run, a checksum, and writing.
export_result export_run(const trial& run, const std::string& output, const export_options& options = {});

}  // namespace smdebug::inline v1

#ifndef SMDEBUG_COMPILED
#include <smdebug/exporting/impl/run.ipp>
#endif
