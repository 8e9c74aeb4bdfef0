// A run's loss as a few points, recorded while rules are evaluated, for the page of a batch.
#pragma once

#include <program/program_trial.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/report/run_series.hpp>
#include <smdebug/rules/any_rule.hpp>
#include <smdebug/rules/finding.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace smdebug::inline v1::cli::detail {

/// How many points a line of a loss has, at most.
inline constexpr std::size_t loss_points = 48;

/// A loss, in some points.
struct loss_line {
    std::vector<float> points = {};
    std::optional<step_number> lost = {};  ///< the first step at which it is NaN or infinite
};

/// Records the first loss by name at the evaluated steps, of its first worker, in TRAIN mode if there are several.
/// It is evaluated with the rules, so that they share the reads and reductions of the loss.
class loss_recorder {
public:
    explicit loss_recorder(const program_trial& run);

    /// A rule that never fires.  Borrows the recorder.
    [[nodiscard]] any_rule<program_trial> rule() { return any_rule<program_trial>::borrowing(*this); }
    [[nodiscard]] std::vector<finding> operator()(const program_trial& run, step_number step);

    /// The line so far: steps that share a point show the largest value, or NaN.  It is empty if there is no loss.
    [[nodiscard]] loss_line line() const;

private:
    std::string name_;
    std::string worker_;
    smdebug::mode mode_ = smdebug::mode::global;
    std::optional<report::detail::step_axes> axes_;  // unset if there is no loss
    loss_line line_;
};

}  // namespace smdebug::inline v1::cli::detail
