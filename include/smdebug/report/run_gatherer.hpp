// Gathers what a report shows of a run in one scan, in which rules may look on.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/report/reported_run.hpp>
#include <smdebug/trial/catalog/catalog.hpp>
#include <smdebug/trial/joint_scan.hpp>
#include <smdebug/trial/read/faster_way.hpp>
#include <smdebug/trial/read/trial_state.hpp>
#include <smdebug/trial/scan.hpp>
#include <smdebug/trial/selection.hpp>
#include <smdebug/trial/trial.hpp>

#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace report {
namespace detail {

/// How a run is gathered.
struct gather_options {
    tensor_selection which = {};
    walk_options how = {};
    std::size_t most_bytes = std::size_t{10} << 20U;  ///< of its data, about
    std::size_t most_damage = 100;
};

/// Gathers a run as it is when this is made.  With rules, so that both read each event file once:
///
///     const no_refresh as_it_is{run};
///     const auto gatherer = std::make_shared<run_gatherer>(run, options);
///     auto verdicts = invoke_rules(run, rules, {.sharing = {.joint = gatherer}});
///     reported_run all = gatherer->finish();
///
/// Memory: some 110 bytes for each series and bucket: as `most_bytes` says, times about 2.5.
class run_gatherer final : public smdebug::detail::joint_scan {
public:
    /// Errors: collection_unavailable, value_error for a bad regex.
    run_gatherer(const trial& run, gather_options options);

    [[nodiscard]] SMDEBUG_INLINE const std::vector<std::string>& names() const noexcept override { return names_; }
    SMDEBUG_INLINE void scan(const scan_options& asked, look rules) override;

    /// Scans what no rule looked at, with as many threads as the options say, and gives all that was gathered.  Once.
    /// Errors: those of scan().
    /// Cost:   as for_each_tensor().
    [[nodiscard]] reported_run finish();

private:
    struct rules_looking_on {
        const scan_options& asked;
        look tell;
    };

    // Scans up to `end`, in pieces: values of large tensors are left in their files but for the steps that are looked at.
    void walk_to(std::optional<step_number> end, const rules_looking_on* rules);
    void walk(const step_range& range, bool with_values, const rules_looking_on* rules);
    [[nodiscard]] bool has_steps(std::optional<step_number> begin, std::optional<step_number> end) const;
    [[nodiscard]] bool shows(const tensor_place& tensor) const;

    gather_options options_;
    trial run_;
    std::shared_ptr<const smdebug::detail::catalog> from_;
    std::vector<std::string> names_;
    std::optional<std::unordered_set<std::string_view>> shown_;  // nothing: all of them
    std::vector<step_number> looked_at_;                         // of which there are distributions
    bool looks_at_all_ = false;
    smdebug::detail::faster_way faster_;
    std::optional<step_number> next_;  // the steps before it were scanned
    std::exception_ptr failure_;       // of a scan in which rules looked on
    std::vector<std::byte> buffer_;
    reported_run all_;
};

/// Gathers a run as it is now.  Errors: those of scan().
[[nodiscard]] reported_run gather_run(const trial& run, const gather_options& options);

}  // namespace detail
}  // namespace report
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/report/impl/run_gatherer.ipp>
#endif
