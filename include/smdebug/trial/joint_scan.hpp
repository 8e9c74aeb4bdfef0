// One scan for two consumers: whoever scans a run anyway, as a report does, lets rules look on, so that each event file
// is read once for both.  Handed to invoke_rules() by sharing_options::joint.
#pragma once

#include <smdebug/core/function_ref.hpp>

#include <string>
#include <vector>

namespace smdebug {
inline namespace v1 {

struct reduced_tensor;
struct scan_options;

namespace detail {

struct scanned_tensor;

/// A scan of a run, some steps at a time, as the rules ask for them.  Its owner scans what rules did not come to.
/// Threads: one call at a time; scan() is called on any thread.
class joint_scan {
public:
    using look = function_ref<void(const scanned_tensor&, const reduced_tensor&)>;

    joint_scan() = default;
    joint_scan(const joint_scan&) = delete;
    joint_scan& operator=(const joint_scan&) = delete;
    virtual ~joint_scan() = default;

    /// The tensors that are scanned anyway.
    [[nodiscard]] virtual const std::vector<std::string>& names() const noexcept = 0;

    /// Scans the steps of a range, which is behind those of earlier calls, and steps between them that rules passed over.
    /// `asked`: what rules ask of the range, names() among its tensors, with all reductions.  rules(scanned, reduced) is
    /// called for each tensor of the range, in file order.
    /// Errors: those of scan(), and what the scan's owner throws: rules read by themselves then.
    virtual void scan(const scan_options& asked, look rules) = 0;
};

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
