// A run as a page to look at: one HTML file that needs no network and no server, and opens anywhere.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/report/page_text.hpp>
#include <smdebug/report/reported_run.hpp>
#include <smdebug/report/run_gatherer.hpp>
#include <smdebug/rules/any_rule.hpp>
#include <smdebug/rules/invoke_rules.hpp>
#include <smdebug/trial/refresh_guard.hpp>
#include <smdebug/trial/scan.hpp>
#include <smdebug/trial/selection.hpp>
#include <smdebug/trial/trial.hpp>

#include <chrono>
#include <concepts>
#include <cstddef>
#include <memory>
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

[[nodiscard]] gather_options gathering(const write_report_options& options);
void write_page_of(reported_run shown, const write_report_options& options, const std::string& path);

}  // namespace detail
}  // namespace report

/// Writes the report of a run, as it is now, to the file `path`, which is replaced when the new one is whole.
/// Of the verdicts the findings lead to the tensors and steps in the pictures.  What cannot be read is named in the page.
/// Errors: those of scan(); unavailable, access_denied, not_found where the file cannot be written.
/// Memory: that of the file, about four times.
/// Cost:   one walk over the run, as for_each_tensor(); of at most 64 steps the values' distribution as well.
void write_report(const trial& run, const write_report_options& options, const std::string& path);

/// The same with what rules find at the steps that are shown and there: they look on in that one walk, and each event file
/// is read once.  Gives their verdicts; those of the options stand before them in the page.
///
///     smd::write_report(run, std::vector{smd::any_rule<smd::trial>{smd::rules::exploding_tensor{}}}, {}, "report.html");
///
/// Cost: beside the walk that of invoke_rules().
template <std::derived_from<trial> Trial>
std::vector<rule_result> write_report(const Trial& run, const std::vector<any_rule<Trial>>& rules,
                                      const write_report_options& options, const std::string& path) {
    const no_refresh as_it_is{run};
    const auto gatherer = std::make_shared<report::detail::run_gatherer>(run, report::detail::gathering(options));
    std::vector<rule_result> found = invoke_rules(run, rules,
                                                  {.common = {.start_step = options.which.range.begin.value_or(0),
                                                              .end_step = options.which.range.end,
                                                              .timeout = std::chrono::milliseconds{0},
                                                              .stop = options.how.stop},
                                                   .sharing = {.joint = gatherer}});
    report::detail::reported_run shown = gatherer->finish();
    shown.verdicts = options.verdicts;
    shown.verdicts.insert(shown.verdicts.end(), found.begin(), found.end());
    report::detail::write_page_of(std::move(shown), options, path);
    return found;
}

}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/report/impl/write_report.ipp>
#endif
