// What came out of one run of a batch: what it is, what each rule says of it, and why, where it could not be looked at.
#pragma once

#include <smdebug/core/step.hpp>
#include <smdebug/rules/rule_result.hpp>
#include <smdebug/rules/rule_status.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace smdebug {
inline namespace v1 {

/// What became of a run of a batch.
enum class run_state : std::uint8_t {
    ended,       ///< its job has ended, and all of it was looked at
    growing,     ///< its job goes on: what was there was looked at
    failed,      ///< it could not be opened, or broke
    timed_out,   ///< its time was over (batch_options::run_timeout): results are those of the steps until then
    no_memory,   ///< it needed more memory than one run may have, or than there is
    unchanged,   ///< batch_run::version tells that it was looked at already: nothing was done
    undone,      ///< nobody came to the end of it: the batch was stopped
    incomplete,  ///< it was looked at to its end, but for what could not be read: see is_whole()
    gone,        ///< there is nothing at its path
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

/// A run of a batch, before anything is known of it.
struct batch_run {
    std::uint64_t place = 0;   ///< in the list, from 0: results are in this order
    std::string path = {};     ///< as create_trial() takes it; of one in an archive "jobs.tar!/job-17"
    std::string version = {};  ///< another one whenever the run's files are; empty: not known.  See run_version()
    std::uint64_t bytes = 0;   ///< of all its files, or of the archive that it is in; 0: not known
    std::string error = {};    ///< not empty: it is no run but a place that could not be searched for runs, and why
};

/// Something that is to be said about a run besides its results.
struct run_message {
    enum class kind : std::uint8_t {
        note,    ///< the user should know
        damage,  ///< something could not be read, while the rest could
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

/// All that came out of a run.
struct run_result {
    batch_run run = {};
    run_state state = run_state::ended;
    std::string error = {};  ///< why, where state is not ended, growing or incomplete
    std::size_t steps = 0;
    std::size_t workers = 0;
    std::size_t tensors = 0;                 ///< names
    step_number last_step = -1;              ///< -1: none
    double seconds = 0;                      ///< that it took
    std::vector<rule_result> verdicts = {};  ///< of rules that have nothing to look at, too: not_applicable
    std::vector<run_message> messages = {};
    std::shared_ptr<row_spool> reductions = {};  ///< where numbers were asked for, instead of rules
    std::vector<float> loss = {};                ///< over the steps, in some points; where it was asked for
    step_number loss_lost = -1;                  ///< the first step at which that loss is NaN or infinite; -1: none
    std::vector<run_result> others = {};  ///< of an archive that was looked at as a whole: those of its other runs
};

/// What is known of a run that is passed over, as it has not changed.
struct passed_run {
    bool is_incomplete = false;
    bool has_findings = false;
};

/// Whether all of a run was looked at: no damage or error is to be said about it, and no rule failed or lacks anything.
[[nodiscard]] inline bool is_whole(const run_result& result) {
    return std::none_of(result.messages.begin(), result.messages.end(),
                        [](const run_message& each) { return each.what != run_message::kind::note; }) &&
           std::none_of(result.verdicts.begin(), result.verdicts.end(), [](const rule_result& each) {
               return each.outcome.unread > 0 || each.status == rule_status::error ||
                      each.status == rule_status::incomplete;
           });
}

/// Makes a run that ended, or grows, `incomplete` where it is not whole.
inline void settle_state(run_result& result) {
    if ((result.state == run_state::ended || result.state == run_state::growing) && !is_whole(result)) {
        result.state = run_state::incomplete;
    }
}

}  // namespace v1
}  // namespace smdebug
