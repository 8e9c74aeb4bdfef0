// The walk that every export is: each selected tensor, in file order, to what writes the format.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/exporting/options.hpp>
#include <smdebug/reduce/name.hpp>
#include <smdebug/trial/catalog/catalog.hpp>
#include <smdebug/trial/catalog/layout.hpp>
#include <smdebug/trial/concepts.hpp>
#include <smdebug/trial/scan.hpp>
#include <smdebug/trial/scanned_tensor.hpp>
#include <smdebug/trial/selection.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// What an export will go through.
struct export_extent {
    std::vector<const catalog::file*> files = {};  ///< in which any tensor is selected, in order
    std::vector<std::string> tensors = {};         ///< that are selected, sorted
    std::vector<std::string> workers = {};         ///< of the files, sorted
    bool repeats_steps = false;                    ///< steps of several modes may have the same number

    /// Tables of histograms are selected with them.  The files point into the catalog.
    /// Cost: a look at each file and each different list of names.
    [[nodiscard]] static export_extent of(const catalog& from, const tensor_selection& which);
};

/// What the index file of a step and worker says; null where there is none.
[[nodiscard]] const layout* layout_at(const catalog& from, step_number step, std::string_view worker) noexcept;

/// Writes one format.  Whatever it has written is gone with it, unless finish() returned.
class export_target {
public:
    export_target() = default;
    export_target(const export_target&) = delete;
    export_target& operator=(const export_target&) = delete;
    virtual ~export_target() = default;

    /// Whether it has a place for saved reductions and shapes; else only tensors with values come.
    [[nodiscard]] virtual bool takes_reductions() const noexcept { return false; }
    /// Whether it reads saved reductions of tensors with values.
    [[nodiscard]] virtual bool reads_reductions() const noexcept { return takes_reductions(); }
    /// Writes a tensor that could be read; or tells why the format has no place for it, in words that go behind "the
    /// tensor NAME ": "is complex, ...".      Errors: those of writing.
    [[nodiscard]] virtual std::string add(const scanned_tensor& tensor) = 0;
    /// Behind the tensors of one worker at one step, in however many files they lie.
    virtual void end_file() {}
    /// Gives everything its name, and says how much it was.
    virtual void finish(export_result& result) = 0;
};

/// A step and worker, as messages name them.
struct exported_place {
    step_number step = 0;                        ///< global
    step_number shown = 0;                       ///< see basic_trial::shown_step()
    smdebug::mode mode = smdebug::mode::global;  ///< in which that counts
    std::string_view worker = {};

    [[nodiscard]] static exported_place of(const auto& tensor) {
        return {tensor.step, tensor.shown_step, tensor.shown_mode(), tensor.worker};
    }
};

/// Hands tensors to a target, and tells what is left out.
class export_log {
public:
    /// Borrows all.  Histograms that have a table in the run are exported by that.
    export_log(const export_options& options, export_target& target, const catalog& from)
        : options_(options), target_(target), from_(from) {}

    void take(const scanned_tensor& tensor);
    /// Errors: value_error where nothing was written, and those of the target.
    [[nodiscard]] export_result finish(const std::string& run);
    /// A tensor, or a saved reduction, that cannot be read.
    void damaged(const exported_place& where, std::string_view tensor, const lookup_error& why);
    /// A whole event file; of its tensors the first alone is told.
    void damaged_file(const exported_place& where, const lookup_error& why);

    export_result result;

private:
    void tell(const left_out_tensor& what) const;

    const export_options& options_;
    export_target& target_;
    const catalog& from_;
    std::pair<step_number, std::string> current_{-1, {}};  // step and worker
    std::string last_failed_;                              // the file of these told last
};

/// What the run is called in what is written.
template <class Trial>
[[nodiscard]] std::string exported_name(const Trial& run, const export_options& options) {
    return options.run_name.empty() ? run.name() : options.run_name;
}

/// Errors: collection_unavailable, value_error (a bad regex, nothing to export), stopped; those of the target.
template <scannable_trial Trial>
[[nodiscard]] export_result walk_export(const Trial& run, const export_options& options, export_target& target) {
    const auto from = run.snapshot();
    export_log log{options, target, *from};
    scan_options how{.which = options.which,
                     .saved = target.reads_reductions() ? reduction_set::all() : reduction_set{},
                     .how = options.how};
    how.which.tables = true;
    const walk_end end = scan(run, how, [&](const scanned_tensor& tensor) { log.take(tensor); });
    if (end == walk_end::stopped) {
        throw stopped("the export was stopped; nothing was written");
    }
    return log.finish(exported_name(run, options));
}

}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/exporting/write/impl/export_walk.ipp>
#endif
