// The result of one run of a batch: the run, the verdicts of rules, and why it could not be read.
#pragma once

#include <smdebug/core/step.hpp>
#include <smdebug/rules/rule_result.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace smdebug::inline v1 {

/// The state of a run of a batch.
enum class run_state : std::uint8_t {
    ended,       ///< its job has ended, and all of it was read
    growing,     ///< its job continues: the steps so far were read
    failed,      ///< it could not be opened, or failed
    timed_out,   ///< the time limit (batch_options::run_timeout) was reached: results cover the steps until then
    no_memory,   ///< it needed more memory than allowed or available
    unchanged,   ///< its batch_run::version shows that it was read before: it is skipped
    undone,      ///< not completed: the batch was stopped
    incomplete,  ///< completed, but parts could not be read: see is_whole()
    gone,        ///< nothing exists at its path
};

/// "ended", "growing", "failed", "timed out", "no memory", "unchanged", "undone", "incomplete", "gone".
[[nodiscard]] constexpr std::string_view name_of(run_state state) noexcept {
    switch (state) {
        case run_state::ended:
            return "ended";
        case run_state::growing:
            return "growing";
        case run_state::failed:
            return "failed";
        case run_state::timed_out:
            return "timed out";
        case run_state::no_memory:
            return "no memory";
        case run_state::unchanged:
            return "unchanged";
        case run_state::undone:
            return "undone";
        case run_state::incomplete:
            return "incomplete";
        case run_state::gone:
            return "gone";
    }
    return "?";
}

class row_spool;

/// A run of a batch, before it is opened.
struct batch_run {
    std::uint64_t place = 0;   ///< in the list, from 0: determines the order of results
    std::string path = {};     ///< as create_trial() takes it; in an archive "jobs.tar!/job-17"
    std::string version = {};  ///< changes whenever the run's files do; empty if unknown.  See run_version()
    std::uint64_t bytes = 0;   ///< the size of all its files, or of its archive; 0 if unknown
    std::string error = {};    ///< not empty: a place that could not be searched for runs, and why
    bool is_beside = false;    ///< an archive that was found among other files: there need not be a run in it
};

/// A message about a run besides its results.
struct run_message {
    enum class kind : std::uint8_t {
        note,    ///< the user should know
        damage,  ///< something could not be read, but the rest could
        error,
    };
    kind what = kind::note;
    std::string text = {};
};

/// "note", "damage", "error".
[[nodiscard]] constexpr std::string_view name_of(run_message::kind what) noexcept {
    switch (what) {
        case run_message::kind::note:
            return "note";
        case run_message::kind::damage:
            return "damage";
        case run_message::kind::error:
            return "error";
    }
    return "?";
}

/// All results of a run.
struct run_result {
    batch_run run = {};
    run_state state = run_state::ended;
    std::string error = {};  ///< why, unless the state is ended, growing or incomplete
    std::size_t steps = 0;
    std::size_t workers = 0;
    std::size_t tensors = 0;  ///< names
    std::optional<step_number> last_step = {};
    double seconds = 0;                      ///< time taken
    std::vector<rule_result> verdicts = {};  ///< also of rules with nothing to judge: not_applicable
    std::vector<run_message> messages = {};
    std::shared_ptr<row_spool> reductions = {};  ///< if reductions were requested instead of rules
    std::vector<float> loss = {};                ///< sampled over the steps, if requested
    std::optional<step_number> loss_lost = {};   ///< the first step at which that loss is NaN or infinite
    std::vector<run_result> others = {};         ///< the other runs of an archive that was processed as a whole
};

/// The result of a run that is skipped, as it has not changed.
struct passed_run {
    bool is_incomplete = false;
    bool has_findings = false;
};

/// Whether all of a run was read: it has no message of damage or error, and no rule failed or lacks anything.
[[nodiscard]] inline bool is_whole(const run_result& result) {
    return std::none_of(result.messages.begin(), result.messages.end(),
                        [](const run_message& each) { return each.what != run_message::kind::note; }) &&
           std::none_of(result.verdicts.begin(), result.verdicts.end(), [](const rule_result& each) {
               return each.outcome.unread > 0 || each.status == rule_status::error ||
                      each.status == rule_status::incomplete;
           });
}

/// Whether it is that of an archive in which there is no run, and nothing is wrong.
[[nodiscard]] inline bool is_no_run(const run_result& result) noexcept {
    return result.error.empty() && result.verdicts.empty() && result.reductions == nullptr;
}

/// Changes the state of an ended or growing run to `incomplete` if is_whole() is false.
inline void settle_state(run_result& result) {
    if ((result.state == run_state::ended || result.state == run_state::growing) && !is_whole(result)) {
        result.state = run_state::incomplete;
    }
}

}  // namespace smdebug::inline v1
