// A report as text: one HTML file that has all it needs in it.  Names and messages are data, never markup: a policy in the
// page lets nothing run but the page's own script, by its hash, and nothing be fetched.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/report/reported_run.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace report {
namespace detail {

/// A difference between the two runs of a report.
struct reported_difference {
    std::string kind = {};
    step_number step = -1;
    std::string worker = {};
    std::string tensor = {};
    double largest = 0;
    std::string what = {};  ///< a sentence
};

/// What came of comparing the two runs of a report.
struct reported_comparison {
    std::string title = {};
    std::string sentence = {};
    struct step {
        step_number step = 0;
        std::size_t tensors = 0;
        std::size_t differing = 0;
        double largest = 0;
    };
    std::vector<step> steps = {};                       ///< from the first one on that differs
    std::vector<reported_difference> differences = {};  ///< the first ones
    std::size_t all = 0;
};

/// One run of a batch.
struct reported_verdict {
    std::string rule = {};
    std::string status = {};
    std::size_t findings = 0;
    step_number first = -1;
    std::string details = {};
};
struct reported_row {
    std::string path = {};
    std::string state = {};
    std::string error = {};
    std::string link = {};  ///< the report of the run, relative to this one; empty: there is none
    std::size_t steps = 0;
    std::vector<reported_verdict> verdicts = {};
    std::vector<float> loss = {};
    step_number loss_lost = -1;  ///< the first at which it is NaN or infinite
};

/// A page: runs, and where there are two what sets them apart; or the rows of a batch.
struct page {
    std::string title = {};
    std::vector<reported_run> runs = {};
    std::optional<reported_comparison> comparison = {};
    std::vector<reported_row> batch = {};
    bool is_batch = false;
    /// Seconds after which an open page looks for a newer one: the job goes on.  0: it does not.
    std::uint32_t look_again = 0;
};

/// The page as pieces, to be written one behind the other.
[[nodiscard]] std::vector<std::string> page_text(const page& what);

/// The data of a run: see report/src/data.js.
[[nodiscard]] std::string data_text(const reported_run& run);

/// JSON in which no character has a meaning in HTML.
[[nodiscard]] std::string json_for_html(std::string_view json);
[[nodiscard]] std::string text_for_html(std::string_view text);

}  // namespace detail
}  // namespace report
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/report/impl/page_text.ipp>
#endif
