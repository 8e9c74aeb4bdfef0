// One scan of a run for rules and for a report of all of it: each event file is read once.
#pragma once

#include <smdebug/core/abstract.hpp>
#include <smdebug/core/function_ref.hpp>
#include <smdebug/trial/read/scan.hpp>
#include <smdebug/trial/scanned_tensor.hpp>

#include <string>
#include <vector>

namespace smdebug::inline v1::detail {

/// A scan of a run, some steps at a time, as the rules request them.  Its owner scans the steps that rules did not
/// reach.
/// Threads: one call at a time; scan() is called on any thread.
class joint_scan : public smdebug::detail::abstract {
public:
    using look = function_ref<void(const scanned_tensor&, const reduced_tensor&)>;

    /// The tensors that the owner scans in any case.
    [[nodiscard]] virtual const std::vector<std::string>& names() const noexcept = 0;

    /// Scans the steps of a range, which lies after those of earlier calls, including steps that rules skipped.
    /// `asked`: what rules want from the range; it includes all of names(), with all reductions.  rules(scanned,
    /// reduced) is called for each tensor of the range, in file order.
    /// Errors: those of scan(), and what the scan's owner throws: rules then read on their own.
    virtual void scan(const scan_options& asked, look rules) = 0;
};

}  // namespace smdebug::inline v1::detail
