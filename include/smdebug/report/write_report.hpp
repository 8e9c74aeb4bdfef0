// A run as a page to look at: one HTML file that needs no network and no server, and opens anywhere.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/report/page_text.hpp>
#include <smdebug/report/reported_run.hpp>
#include <smdebug/report/run_gatherer.hpp>
#include <smdebug/rules/invoke_rules.hpp>
#include <smdebug/trial/concepts.hpp>
#include <smdebug/trial/scan.hpp>
#include <smdebug/trial/selection.hpp>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {

/// What is shown of a run, and how much of it.
struct write_report_options {
    std::string title = {};                  ///< the run's name if empty
    std::vector<rule_result> verdicts = {};  ///< of invoke_rules(): what is wrong stands first on the page
    tensor_selection which = {};
    walk_options how = {};
    /// The file is not much larger: of a long run some steps are shown together then, by their smallest and largest
    /// values; what rules found is marked in any case.  Besides, messages and names take their room.
    std::size_t most_bytes = std::size_t{14} << 20U;
};

namespace report {
namespace detail {

/// What is left for data of so many bytes: base64 takes a third more, the page and its script some too.
[[nodiscard]] constexpr std::size_t data_bytes(std::size_t most) noexcept {
    constexpr std::size_t page = std::size_t{1} << 20U;
    return (most > 2 * page ? most - page : most / 2) / 4 * 3;
}

/// Writes a page: all of it, or nothing.
void write_page(const page& what, const std::string& path);

}  // namespace detail
}  // namespace report

/// Writes the report of a run, as it is now, to the file `path`, which is replaced when the new one is whole.
///
///     smd::write_report(run, {.verdicts = smd::invoke_rules(run, rules)}, "report.html");
///
/// Of the verdicts the findings lead to the tensors and steps in the pictures.  What cannot be read is named in the page.
/// Errors: those of scan(); unavailable, access_denied, not_found where the file cannot be written.
/// Memory: that of the file, about four times.
/// Cost:   one walk over the run, as for_each_tensor(); of at most 64 steps the values' distribution as well.
template <scannable_trial Trial>
void write_report(const Trial& run, const write_report_options& options, const std::string& path) {
    report::detail::page page;
    page.runs.push_back(report::detail::gather_run(
        run,
        {.which = options.which, .how = options.how, .most_bytes = report::detail::data_bytes(options.most_bytes)}));
    page.runs.back().verdicts = options.verdicts;
    page.title = options.title.empty() ? page.runs.back().name : options.title;
    report::detail::write_page(page, path);
}

}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/report/impl/write_report.ipp>
#endif
