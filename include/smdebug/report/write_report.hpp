// Writes a run as a page: one HTML file that needs no network and no server, and opens anywhere.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/report/page_text.hpp>
#include <smdebug/report/reported_run.hpp>
#include <smdebug/rules/any_rule.hpp>
#include <smdebug/rules/invoke_rules.hpp>
#include <smdebug/trial/catalog/catalog.hpp>
#include <smdebug/trial/read/reading_plan.hpp>
#include <smdebug/trial/read/scan.hpp>
#include <smdebug/trial/read/trial_state.hpp>
#include <smdebug/trial/selection.hpp>
#include <smdebug/trial/shared/scan_onlooker.hpp>
#include <smdebug/trial/trial.hpp>

#include <chrono>
#include <concepts>
#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

// Gathers what a report shows of a run in one scan, which rules may share.
namespace smdebug::inline v1 {
namespace report::detail {

/// How a run is gathered.
struct gather_options {
    tensor_selection which = {};
    walk_options how = {};
    std::size_t most_bytes = std::size_t{10} << 20U;  ///< approximate size of its data
    std::size_t most_damage = 100;
    std::set<std::string> first = {};  ///< tensors that are the last to be left out where there is no room for all
};

/// Gathers a run in its state at construction.  With rules, so that both read each event file once:
///
///     const no_refresh as_it_is{run};
///     const auto gatherer = std::make_shared<run_gatherer>(run, options);
///     auto verdicts = invoke_rules_beside(gatherer, run, rules);
///     reported_run all = gatherer->finish();
///
/// Memory: some 110 bytes for each series and bucket: as `most_bytes` says, times about 2.5.
class run_gatherer final : public smdebug::detail::scan_onlooker {
public:
    /// Errors: collection_unavailable, value_error for a bad regex.
    run_gatherer(const trial& run, gather_options options);

    [[nodiscard]] SMDEBUG_INLINE const std::vector<std::string>& names() const noexcept override { return names_; }
    [[nodiscard]] SMDEBUG_INLINE bool begin(const step_range& steps) override;
    SMDEBUG_INLINE void look(const smdebug::detail::scanned_tensor& scanned, const reduced_tensor& tensor) override;
    void fail(std::exception_ptr why) noexcept override { failure_ = std::move(why); }

    /// Scans what no rule has read, with as many threads as the options say, and returns everything.  Call it once.
    /// `verdicts`: tensors with findings are the last to be left out.
    /// Errors: those of scan().
    /// Cost:   as for_each_tensor(); twice that if a tensor with findings had come after there was no room for more.
    [[nodiscard]] reported_run finish(const std::vector<rule_result>& verdicts = {});

private:
    // Scans up to `end`, in pieces: values of large tensors are read only at the steps that have distributions.
    void walk_to(std::optional<step_number> end);
    void walk(const step_range& range, bool with_values);
    [[nodiscard]] bool has_steps(std::optional<step_number> begin, std::optional<step_number> end) const;
    [[nodiscard]] bool shows(const tensor_place& tensor) const;

    gather_options options_;
    trial run_;
    std::shared_ptr<const smdebug::detail::catalog> from_;
    std::vector<std::string> names_;
    std::optional<std::unordered_set<std::string_view>> shown_;  // all of them if unset
    std::vector<step_number> looked_at_;                         // steps with distributions
    bool looks_at_all_ = false;
    std::optional<step_number> next_;  // the steps before it were scanned
    std::exception_ptr failure_;       // in a scan that rules share
    std::vector<std::byte> buffer_;
    reported_run all_;
};

/// Gathers a run in its current state.  Errors: those of scan().
[[nodiscard]] reported_run gather_run(const trial& run, const gather_options& options,
                                      const std::vector<rule_result>& verdicts = {});

}  // namespace report::detail

/// What is shown of a run, and in how much detail.
struct write_report_options {
    std::string title = {};  ///< the run's name if empty
    /// Of invoke_rules(): findings come first on the page.  With invoke_options::keep_bands the page shows, too, what
    /// numbers were in healthy runs.
    std::vector<rule_result> verdicts = {};
    tensor_selection which = {};
    walk_options how = {};
    /// The approximate size limit of the file: a long run is shown with steps grouped, by their smallest and largest
    /// values; findings of rules are marked in any case.  Messages and names come on top.
    std::size_t most_bytes = std::size_t{14} << 20U;
};

namespace report::detail {

/// The share of so many bytes that is left for data: base64 takes a third more, and the page and its script have a
/// size, too.
[[nodiscard]] constexpr std::size_t data_bytes(std::size_t most) noexcept {
    constexpr std::size_t page = std::size_t{1} << 20U;
    return (most > 2 * page ? most - page : most / 2) / 4 * 3;
}

/// Writes a page: all of it, or nothing.
void write_page(const page& what, const std::string& path);

[[nodiscard]] gather_options gathering(const write_report_options& options);
void write_page_of(reported_run shown, const write_report_options& options, const std::string& path);

}  // namespace report::detail

/// Writes the report of a run, in its current state, to the file `path`, which is replaced once the new file is
/// complete.
/// The findings among the verdicts link to the tensors and steps in the pictures.  Unreadable data is listed in the
/// page.
/// Errors: those of scan(); unavailable, access_denied, not_found if the file cannot be written.
/// Memory: that of the file, about four times.
/// Cost:   one walk over the run, as for_each_tensor(); for at most 64 steps also the distribution of values.
void write_report(const trial& run, const write_report_options& options, const std::string& path);

/// Writes the report of a run with the findings of rules, which share that one walk, so that each event file is read
/// once.  Returns their verdicts, with bands; the page shows those of the options first.
///
///     smd::write_report(run, std::vector{smd::any_rule<smd::trial>{smd::rules::exploding_tensor{}}}, {}, "report.html");
///
/// Cost: the walk, and that of invoke_rules().
template <std::derived_from<trial> Trial>
std::vector<rule_result> write_report(const Trial& run, const std::vector<any_rule<Trial>>& rules,
                                      const write_report_options& options, const std::string& path) {
    const no_refresh as_it_is{run};
    const auto gatherer = std::make_shared<report::detail::run_gatherer>(run, report::detail::gathering(options));
    std::vector<rule_result> found =
        smdebug::detail::invoke_rules_beside<Trial>(gatherer, run, rules,
                                                    {.common = {.start_step = options.which.range.begin.value_or(0),
                                                                .end_step = options.which.range.end,
                                                                .timeout = std::chrono::milliseconds{0},
                                                                .stop = options.how.stop,
                                                                .keep_bands = true}});
    std::vector<rule_result> all = options.verdicts;
    all.insert(all.end(), found.begin(), found.end());
    report::detail::reported_run shown = gatherer->finish(all);
    shown.verdicts = std::move(all);
    report::detail::write_page_of(std::move(shown), options, path);
    return found;
}

}  // namespace smdebug::inline v1

#ifndef SMDEBUG_COMPILED
#include <smdebug/report/impl/write_report.ipp>
#endif
