// The walk behind every export: passes each selected tensor, in file order, to the writer of the format.
#pragma once

#include <smdebug/core/abstract.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/exporting/options.hpp>
#include <smdebug/exporting/write/output.hpp>
#include <smdebug/reduce/name.hpp>
#include <smdebug/trial/catalog/catalog.hpp>
#include <smdebug/trial/catalog/layout.hpp>
#include <smdebug/trial/read/scan.hpp>
#include <smdebug/trial/scanned_tensor.hpp>
#include <smdebug/trial/selection.hpp>
#include <smdebug/trial/trial.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smdebug::inline v1::detail {

/// The selection of an export.
struct export_extent {
    std::vector<const catalog::file*> files = {};  ///< files with a selected tensor, in order
    std::vector<std::string> tensors = {};         ///< the selected ones, sorted
    std::vector<std::string> workers = {};         ///< of the files, sorted
    std::vector<std::string> texts = {};           ///< of the collection "texts", sorted: texts of a log
    bool repeats_steps = false;                    ///< steps of different modes may have the same number

    /// The tables of selected histograms are selected, too.  The files point into the catalog.
    /// Cost: a look at each file and each different list of names.
    [[nodiscard]] static export_extent of(const catalog& from, const tensor_selection& which);
};

/// The index file's entry for a step and worker; null if there is none.
[[nodiscard]] const layout* layout_at(const catalog& from, step_number step, std::string_view worker) noexcept;

/// Writes one format.  Unless finish() returned, the destructor removes what was written.
class export_target : public smdebug::detail::abstract {
public:
    /// Whether the format can hold saved reductions and shapes; if not, only tensors with values are passed.
    [[nodiscard]] virtual bool takes_reductions() const noexcept { return false; }
    /// Whether the writer uses saved reductions of tensors that also have values.
    [[nodiscard]] virtual bool reads_reductions() const noexcept { return takes_reductions(); }
    /// Writes a readable tensor; or returns why the format cannot represent it, in words that follow "the tensor NAME
    /// ": "is complex, ...".      Errors: those of writing.
    [[nodiscard]] virtual std::string add(const scanned_tensor& tensor) = 0;
    /// Called after the tensors of one worker at one step, even if they lie in several files.
    virtual void end_file() {}
    /// Moves all output to its final names, and returns its size.
    virtual void finish(export_result& result) = 0;
};

/// A step and worker, for messages.
struct exported_place {
    step_number step = 0;                        ///< global
    step_number shown = 0;                       ///< as displayed: see trial::shown_step()
    smdebug::mode mode = smdebug::mode::global;  ///< the mode that counts `shown`
    std::string_view worker = {};

    [[nodiscard]] static exported_place of(const auto& tensor) {
        return {tensor.step, tensor.shown_step, tensor.shown_mode(), tensor.worker};
    }
};

/// Passes tensors to a target, and reports what is left out.
class export_log {
public:
    /// Borrows all.  A histogram that has a table in the run is exported by the table.
    export_log(const export_options& options, export_target& target, const catalog& from)
        : options_(options), target_(target), from_(from) {}

    void take(const scanned_tensor& tensor);
    /// Errors: value_error where nothing was written, and those of the target.
    [[nodiscard]] export_result finish(const std::string& run);
    /// Reports a tensor, or a saved reduction, that cannot be read.
    void damaged(const exported_place& where, std::string_view tensor, const lookup_error& why);
    /// Reports an unreadable event file once, by its first tensor.
    void damaged_file(const exported_place& where, const lookup_error& why);

    export_result result;

private:
    void report(const left_out_tensor& what) const;

    const export_options& options_;
    export_target& target_;
    const catalog& from_;
    std::pair<step_number, std::string> current_{-1, {}};  // step and worker
    std::string last_failed_;                              // the event file reported last
};

/// The run's name in the output.
[[nodiscard]] std::string exported_name(const trial& run, const export_options& options);

/// Errors: collection_unavailable, value_error (a bad regex, nothing to export), stopped_error; those of the target.
[[nodiscard]] export_result walk_export(const trial& run, const export_options& options, export_target& target);

/// The name of the member, without ".npy", that holds the tensor `name`.  Most names stay the same: "fc/kernel:0".
/// Encoded as %XX, a byte each, as in a URL: '%' and '\', control characters, bytes that are not UTF-8, the dots of
/// parts that are "." or "..", slashes at the beginning and end and the second of two, the colon of "C:/", and the last
/// dot of a name that ends in ".npy", which numpy would strip.  An empty name is "%".  The mapping is injective, and
/// Python's urllib.parse.unquote_to_bytes reverses it (except for the empty name).
[[nodiscard]] std::string member_name(std::string_view name);

/// Encodes a text as a part of a file's name: as member_name() does, and slashes, too.
[[nodiscard]] std::string file_name_part(std::string_view text);

/// The path of an output on this machine, for a run at `run`.
/// Errors: value_error and unsupported (not a path of this machine), value_error (it is the run's folder, or inside or
///         around it).
[[nodiscard]] std::string output_path(const std::string& output, const std::string& run);

/// Errors: run_exists: the path exists, and is a folder or `replace` is false.
void check_output_file(const std::string& path, bool replace);

/// Moves a single file to its path, and adds it to the result.  Errors: as check_output_file(), and those of writing.
void finish_file(buffered_output& file, bool replace, export_result& result);

/// Whether step_files writes a file of that name.
[[nodiscard]] bool is_step_file(std::string_view name, std::string_view extension) noexcept;

/// The files of steps and workers.
class step_files {
public:
    /// `output` is a single file if it ends in `extension`.
    /// Errors: run_exists; value_error if a single file would have to hold several steps.
    step_files(std::string output, std::string extension, const export_extent& what, const export_options& options);

    /// Begins the file of a step and worker.  Errors: value_error for a second file where `output` is a single one.
    [[nodiscard]] buffered_output& open(const scanned_tensor& tensor);
    /// Ends that file.
    void close();

    void finish(export_result& result);

private:
    std::string output_;
    std::string extension_;
    bool replace_;
    bool names_workers_;
    bool names_modes_;
    bool is_single_;
    std::optional<output_folder> folder_;
    std::optional<buffered_output> file_;  // a single output file stays here until finish()
    std::size_t count_ = 0;
    std::uint64_t bytes_ = 0;
};

}  // namespace smdebug::inline v1::detail

#ifndef SMDEBUG_COMPILED
#include <smdebug/exporting/write/impl/export_walk.ipp>
#endif
