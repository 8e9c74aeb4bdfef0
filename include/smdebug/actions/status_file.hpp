// The statuses of rules in a JSON file, replaced atomically: no reader sees it half written.
// Source: the public API reference of SageMaker, DebugRuleEvaluationStatus.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/core/status.hpp>
#include <smdebug/core/stop_token.hpp>
#include <smdebug/core/utf8.hpp>
#include <smdebug/rules/concepts.hpp>
#include <smdebug/rules/rule_result.hpp>
#include <smdebug/rules/rule_status.hpp>

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
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace actions {

namespace detail {

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
    std::string failure = {};  ///< why the file is as it was before; empty: it was written
    [[nodiscard]] explicit operator bool() const noexcept { return failure.empty(); }
};

}  // namespace detail

/// The longest StatusDetails that the service allows; longer ones are cut.
inline constexpr std::size_t most_status_details = 1024;

/// At most that many bytes of a text, cut where a character of UTF-8 begins.
[[nodiscard]] constexpr std::string_view cut_text(std::string_view text, std::size_t most) noexcept {
    if (text.size() <= most) {
        return text;
    }
    std::size_t end = most;
    while (end > 0 && most - end < 3 && continues_utf8_character(text[end])) {
        --end;
    }
    return text.substr(0, continues_utf8_character(text[end]) ? most : end);  // no UTF-8: any place will do
}

/// A time as ISO 8601 has it: "2026-11-22T10:00:00.250Z".
[[nodiscard]] std::string iso_time_text(detail::evaluation_status::clock::time_point time);

/// Appends {"RuleConfigurationName": ..., "RuleEvaluationStatus": ..., "StatusDetails": ..., "LastModifiedTime": ...}.
void append_status_json(std::string& out, const detail::evaluation_status& one);

/// A line of JSON: a list with one object a rule.
[[nodiscard]] std::string status_json(std::span<const detail::evaluation_status> all);
/// A line of JSON: the object of one rule.
[[nodiscard]] std::string status_json(const detail::evaluation_status& one);

namespace detail {

[[nodiscard]] status_written write_status_text(const std::string& path, const std::string& text);

}  // namespace detail

/// Writes a file of one rule, or of several, under another name and renames it: whoever reads it sees all of the old
/// one or all of the new one.  Folders on the way are made.  Never throws; the result says what went wrong.
[[nodiscard]] inline detail::status_written write_status_file(const std::string& path,
                                                              const detail::evaluation_status& one) {
    return detail::write_status_text(path, status_json(one));
}
[[nodiscard]] inline detail::status_written write_status_file(const std::string& path,
                                                              std::span<const detail::evaluation_status> all) {
    return detail::write_status_text(path, status_json(all));
}

namespace detail {

/// When a status_file writes.
enum class status_writes : std::uint8_t {
    each_change,  ///< before set() comes back: for a few rules, as all of the file is written for each
    /// The first before set() comes back; the others soon, on a thread, which writes at most a tenth of the time: for
    /// many rules.  A file of 1 MB is some 20 ms behind.
    in_background,
};

}  // namespace detail

/// The file of several rules, kept up to date: a list, in the order in which rules were first set.
/// A process that is killed leaves a whole file without the last changes; the destructor writes those.
/// Threads: everything may be called at once.
class status_file {
public:
    explicit status_file(std::string path, detail::status_writes when = detail::status_writes::each_change)
        : path_(std::move(path)), when_(when) {}
    status_file(const status_file&) = delete;
    status_file& operator=(const status_file&) = delete;
    ~status_file();

    /// Takes a rule's status and writes the file, unless nothing has changed and it was written.  In the background: a
    /// thread writes it soon; a failure may be that of an earlier change.
    [[nodiscard]] detail::status_written set(
        std::string_view rule, rule_status status, std::string_view details = {},
        detail::evaluation_status::clock::time_point now = detail::evaluation_status::clock::now());
    [[nodiscard]] detail::status_written set(const rule_result& result) {
        return set(result.name, result.status, result.details);
    }

    /// Writes what has not been written yet.
    [[nodiscard]] detail::status_written flush();

private:
    using clock = std::chrono::steady_clock;

    void write_behind(const std::stop_token& stop);

    std::string path_;
    detail::status_writes when_;
    std::mutex writing_;  // taken before guard_
    std::mutex guard_;
    std::vector<detail::evaluation_status> all_;
    std::unordered_map<std::string, std::size_t> places_;
    bool changed_ = false;  // what is in the file is older
    bool tried_ = false;    // to write it
    bool due_ = false;
    detail::status_written failure_;  // of the thread, until a call returns it
    std::condition_variable_any wake_;
    std::jthread writer_;
};

}  // namespace actions
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/actions/impl/status_file.ipp>
#endif
