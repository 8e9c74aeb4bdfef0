// `smdebug scan --report`: the results of a batch as a page: a table of runs and rules, with a line of each run's loss.
#pragma once

#include <smdebug/batch/run_result.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/report/page_text.hpp>
#include <smdebug/report/run_series.hpp>
#include <smdebug/report/write_report.hpp>
#include <smdebug/rules/any_rule.hpp>
#include <smdebug/rules/finding.hpp>
#include <smdebug/trial/trial.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smdebug::inline v1::cli::detail {

/// A file's name as a URL in HTML.
[[nodiscard]] std::string address_of(std::string_view name);

/// Gathers the results of a batch.  One thread at a time.
class scan_page {
public:
    /// `path`: of the page.
    explicit scan_page(std::string path) : path_(std::move(path)) {}

    void add(const run_result& result);

    /// Errors: as write_report().
    void write();
    [[nodiscard]] const std::string& path() const noexcept { return path_; }

private:
    static constexpr std::size_t most = 20'000;

    // The report of the run, where it lies beside this page: NAME.html.
    [[nodiscard]] std::string link_to(const std::string& run) const;

    std::string path_;
    report::detail::page page_;
    std::size_t all_ = 0;
};

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
    explicit loss_recorder(const trial& run);

    /// A rule that never fires.  Borrows the recorder.
    [[nodiscard]] any_rule<trial> rule() { return any_rule<trial>::borrowing(*this); }
    [[nodiscard]] std::vector<finding> operator()(const trial& run, step_number step);

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
