// The statuses of rules in a JSON file that is replaced atomically: no reader sees a partial file.
// Source: the public API reference of SageMaker, DebugRuleEvaluationStatus.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/core/status.hpp>
#include <smdebug/core/stop_token.hpp>
#include <smdebug/rules/concepts.hpp>
#include <smdebug/rules/rule_result.hpp>

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

namespace smdebug::inline v1::actions {

/// One rule's status, with the service's fields.
struct evaluation_status {
    using clock = std::chrono::system_clock;

    std::string rule_configuration_name = {};
    rule_status status = rule_status::in_progress;
    std::string details = {};
    clock::time_point last_modified = {};
};

/// The result of a write.
struct status_written {
    std::string failure = {};  ///< why the file is unchanged; empty if it was written
    [[nodiscard]] explicit operator bool() const noexcept { return failure.empty(); }
};

/// The maximum length of StatusDetails in the service; longer ones are cut.
inline constexpr std::size_t most_status_details = 1024;

/// A time in ISO 8601: "2026-11-22T10:00:00.250Z".
[[nodiscard]] std::string iso_time_text(evaluation_status::clock::time_point time);

/// Appends {"RuleConfigurationName": ..., "RuleEvaluationStatus": ..., "StatusDetails": ..., "LastModifiedTime": ...}.
void append_status_json(std::string& out, const evaluation_status& one);

/// A line of JSON: a list with one object a rule.
[[nodiscard]] std::string status_json(std::span<const evaluation_status> all);
/// A line of JSON: the object of one rule.
[[nodiscard]] std::string status_json(const evaluation_status& one);

/// Writes a file of one rule, or of several, under another name and renames it: a reader sees either the old file or
/// the new one, complete.  Creates missing folders.  Never throws; the result contains the failure.
[[nodiscard]] status_written write_status_file(const std::string& path, const evaluation_status& one);
[[nodiscard]] status_written write_status_file(const std::string& path, std::span<const evaluation_status> all);

/// When a status_file writes.
enum class status_writes : std::uint8_t {
    each_change,  ///< before set() returns: for a few rules, as each change writes the whole file
    /// The first change before set() returns; later ones soon, on a thread that spends at most a tenth of its time on
    /// writing: for many rules.  A file of 1 MB lags by some 20 ms.
    in_background,
};

/// A file of the statuses of several rules, kept up to date: a list, in the order in which rules were first set.
/// A killed process leaves a complete file without the last changes; the destructor writes those.
/// Threads: all functions may be called concurrently.
class status_file {
public:
    explicit status_file(std::string path, status_writes when = status_writes::each_change)
        : path_(std::move(path)), when_(when) {}
    status_file(const status_file&) = delete;
    status_file& operator=(const status_file&) = delete;
    ~status_file();

    /// Sets a rule's status and writes the file, unless nothing has changed since it was written.  In the background a
    /// thread writes it soon; the returned failure may be that of an earlier change.
    [[nodiscard]] status_written set(std::string_view rule, rule_status status, std::string_view details = {},
                                     evaluation_status::clock::time_point now = evaluation_status::clock::now());
    [[nodiscard]] status_written set(const rule_result& result) {
        return set(result.name, result.status, result.details);
    }

    /// Writes pending changes.
    [[nodiscard]] status_written flush();

private:
    using clock = std::chrono::steady_clock;

    void write_behind(const std::stop_token& stop);

    std::string path_;
    status_writes when_;
    std::mutex writing_;  // locked before guard_
    std::mutex guard_;
    std::vector<evaluation_status> all_;
    std::unordered_map<std::string, std::size_t> places_;
    bool changed_ = false;  // the file is out of date
    bool tried_ = false;    // a write was tried
    bool due_ = false;
    status_written failure_;  // of the thread, until a call returns it
    std::condition_variable_any wake_;
    std::jthread writer_;
};

// The actions that SageMaker Debugger knows, as records: the program that embeds this library performs them.
// Source: the public Python package's smdebug.rules.action, and the texts that its configuration writes.

/// Stop the one training job whose name has this prefix.
struct stop_training {
    std::string training_job_prefix;
    friend bool operator==(const stop_training&, const stop_training&) = default;
};
/// Send an e-mail to an address.
struct email {
    std::string endpoint;
    friend bool operator==(const email&, const email&) = default;
};
/// Send a text message to a telephone number.
struct sms {
    std::string endpoint;
    friend bool operator==(const sms&, const sms&) = default;
};

using action_record = std::variant<stop_training, email, sms>;

/// The value of its key "name": "stoptraining", "email", "sms".
[[nodiscard]] std::string_view name_of(const action_record& action) noexcept;

namespace detail {

struct parsed_actions {
    std::vector<action_record> actions = {};
    std::vector<std::string> problems = {};  ///< a sentence for each skipped entry
};

}  // namespace detail

/// The actions of a rule's parameter `action_json`: an object, or a list of objects, each with a "name" and a
/// "training_job_prefix" (stoptraining) or an "endpoint" (email, sms).  Nothing, blanks and None mean no actions.
/// Forms:  plain JSON; with its quotes escaped, as the service's builder writes it to be embedded; a JSON string that
///         holds either.
/// Case:   ignored in names and keys.  Values keep theirs: the package lowercases them, so that it never finds a job
///         with a capital in its name, and changes addresses.
/// Left out, with a problem: an entry that is not an object, an unknown name, a missing, empty or non-text field;
/// everything if the text is neither an object nor a list.
/// Errors: value_error if the text is not JSON.
[[nodiscard]] detail::parsed_actions parse_actions(std::string_view text);

}  // namespace smdebug::inline v1::actions

#ifndef SMDEBUG_COMPILED
#include <smdebug/actions/impl/status_file.ipp>
#endif
