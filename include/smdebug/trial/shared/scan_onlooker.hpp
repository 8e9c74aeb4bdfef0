// What looks on while rules scan a run, such as a report of all of it: each event file is read once for both.
#pragma once

#include <smdebug/core/abstract.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/trial/scanned_tensor.hpp>

#include <exception>
#include <string>
#include <vector>

namespace smdebug::inline v1::detail {

/// Sees what rules scan, some steps at a time; the steps that they did not reach it scans on its own.
/// Threads: one call at a time, on any thread.
class scan_onlooker : public smdebug::detail::abstract {
public:
    /// The tensors that are scanned for it in any case.
    [[nodiscard]] virtual const std::vector<std::string>& names() const noexcept = 0;

    /// Announces a scan of some steps, which lie after those of earlier calls; rules may have skipped some in between.
    /// Returns whether it looks at values: they are then in memory, whatever their size.
    /// Errors: what it throws: rules then read on their own.
    [[nodiscard]] virtual bool begin(const step_range& steps) = 0;

    /// Looks at a tensor of these steps, in the order of the files: at all of names(), with all reductions, and at those
    /// that rules use.
    virtual void look(const scanned_tensor& tensor, const reduced_tensor& reduced) = 0;

    /// The scan failed, so that something was not looked at.
    virtual void fail(std::exception_ptr why) noexcept = 0;
};

}  // namespace smdebug::inline v1::detail
