// `smdebug scan --report`: the results of a batch as a page: a table of runs and rules, with a line of each run's loss.
#pragma once

#include <program/program_trial.hpp>
#include <smdebug/batch/run_result.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/core/stop_token.hpp>
#include <smdebug/reduce/name.hpp>
#include <smdebug/report/page_text.hpp>
#include <smdebug/report/write_report.hpp>
#include <smdebug/rules/rule_status.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace cli {
namespace detail {

/// How many numbers a line of a loss has, at most.
inline constexpr std::size_t loss_points = 48;

/// A loss, in some points.
struct loss_line {
    std::vector<float> points = {};
    step_number lost = -1;  ///< the first step at which it is NaN or infinite; -1: none
};

/// The first loss by name over the steps of its first worker, of the training where there are several modes; of steps
/// that share a point the largest, or NaN.  Empty: there is none.  Errors: those of scan().
[[nodiscard]] loss_line loss_of(const program_trial& run, const std::stop_token& stop);

/// A file's name as an address of HTML has it.
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

}  // namespace detail
}  // namespace cli
}  // namespace v1
}  // namespace smdebug
