// `smdebug scan --report`: the results of a batch as a page: a table of runs and rules, with a line of each run's loss.
#pragma once

#include <smdebug/batch/run_result.hpp>
#include <smdebug/report/page_text.hpp>
#include <smdebug/report/write_report.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

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

}  // namespace smdebug::inline v1::cli::detail
