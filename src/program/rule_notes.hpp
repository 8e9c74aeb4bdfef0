// What check, scan and report print beside their rows: notes of rules, unreadable data of a run, sums over many runs.
#pragma once

#include <program/console.hpp>
#include <program/message_sink.hpp>
#include <smdebug/batch/run_result.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/registry/configure.hpp>
#include <smdebug/rules/finding.hpp>
#include <smdebug/rules/invoke_rules.hpp>
#include <smdebug/trial/trial.hpp>

#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smdebug::inline v1::cli::detail {

/// A rule's note for the console; `damage`: what of the run could not be read, empty if it is about something else.
struct rule_note {
    std::string text;
    std::string damage = {};
};

[[nodiscard]] rule_note note_of(const std::string& path, std::string_view rule, step_number step, const finding& note);

[[nodiscard]] rule_note note_of(const std::string& path, std::string_view rule, step_number step, const error& missing);

/// Calls note(text) for each collection that rules are set to look at and the run does not have, and for each regex
/// that matches no tensor: they select nothing, which would look like good health.
void note_missing_tensors(const std::vector<rule_request>& rules, const trial& run, const std::string& path,
                          const std::function<void(const std::string&)>& note);

/// The message for a rule that threw.
[[nodiscard]] std::string failure_of(const rule_result& result, const std::string& path);

/// The note for a rule that was named and has looked at nothing.
[[nodiscard]] std::string idle_text(const rule_result& result, const std::string& path);

/// Which rules looked at one worker of several, in one sentence; empty if all rules looked at all workers.
[[nodiscard]] std::string other_workers_of(std::span<const rule_result> results, const std::string& path);

/// What rules could not read of a run, in one sentence; empty if they could read everything.
/// The run's problems are reported separately.  `missing_files`: the number of missing event files.
[[nodiscard]] std::string unread_of(std::span<const rule_result> results, const std::string& path,
                                    std::size_t missing_files = 0);

/// Whether something of a run was temporarily out of reach (`unavailable`: too many open files, a disk that does not
/// answer): the next scan reads it again, though nothing has changed.  Damage is permanent.
[[nodiscard]] bool was_out_of_reach(const run_result& result);

/// Whether a rule's condition was met.
[[nodiscard]] bool has_findings(const run_result& result);

/// Whether a result is that of one of these requests, by whichever of its names.
[[nodiscard]] bool is_requested(std::span<const rule_request> requests, std::string_view rule);

/// The named rules that looked at nothing in any run: most likely wrong usage, and not a healthy run.
class idle_rules {
public:
    void add(const std::string& rule, bool has_looked) { has_looked_[rule] = has_looked_[rule] || has_looked; }
    /// Adds the named rules of a run; a run without steps, of a job that has just begun, is ignored; in one whose job
    /// has ended without saving anything they have looked at nothing.
    void add(const run_result& result, std::span<const rule_request> named);
    /// The exit status: that of the console, but wrong usage where it would be "nothing found".
    [[nodiscard]] int status(const console& to, bool met) const;

private:
    std::map<std::string, bool> has_looked_;
    bool has_nothing_ = false;  // a run in which there is nothing to look at
};

/// Sums up many runs in one line: the top of a table of hundreds scrolls out of view.
class run_tally {
public:
    void add(const run_result& result);
    void add_failed();
    /// "500 runs: findings in 25; 2 could be evaluated in part only; 1 not at all"; empty for a single run.
    [[nodiscard]] std::string text() const;

private:
    std::size_t runs_ = 0;
    std::size_t met_ = 0;
    std::size_t in_part_ = 0;
    std::size_t failed_ = 0;
};

/// Where NaN or infinity came from in each run, as far as nan_origin was evaluated and found it: a line a run.
class bad_value_lines {
public:
    /// Steps of its findings are numbered as they are shown.
    void add(const run_result& result);
    /// The first lines, then the number of the others; each ends with a line end.  Of several runs, each begins with
    /// its path.
    [[nodiscard]] std::string text() const;

private:
    static constexpr std::size_t most = 10;
    std::vector<std::pair<std::string, std::string>> lines_;  // path and sentence
    std::size_t runs_ = 0;
    std::size_t others_ = 0;
};

/// Limits the notes of one run about what could not be read: the first few are printed, each once though several rules
/// note it, then the number of the others.
class damage_limit {
public:
    void report(const rule_note& note, message_sink& to);
    void finish(const std::string& path, message_sink& to) const;

private:
    static constexpr std::size_t most = 5;
    std::set<std::string> printed_;
    std::size_t others_ = 0;
};

/// Limits the notes of one rule about other things: the first few are printed, then the number of the others.
class note_limit {
public:
    void report(const rule_note& note, message_sink& to);
    void finish(std::string_view rule, const std::string& path, message_sink& to) const;

private:
    static constexpr std::size_t most = 10;
    std::size_t count_ = 0;
};

}  // namespace smdebug::inline v1::cli::detail
