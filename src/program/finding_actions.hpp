// Actions of check on findings, besides printing: a command, a POST, a status file.
// A failing action gives a note and nothing else.
#pragma once

#include <smdebug/actions/status_file.hpp>
#include <smdebug/http/curl_transport.hpp>
#include <smdebug/registry/configure.hpp>
#include <smdebug/rules/finding.hpp>
#include <smdebug/rules/rule_result.hpp>

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smdebug::inline v1::cli::detail {

/// The requested actions, which may be none.
struct action_options {
    std::vector<std::string> command = {};  ///< a program and its arguments, with placeholders
    std::string post_url = {};
    std::string status_file = {};
};

/// The words of a command: blanks separate, quotes of either kind hold together, a backslash escapes the next
/// character.  Nothing is expanded: there is no shell.  Errors: usage_error for a quote that does not end.
[[nodiscard]] std::vector<std::string> words_of_command(std::string_view text);

/// Acts on findings.  Threads: all calls may run at once.
class finding_actions {
public:
    using teller = std::function<void(const std::string&)>;

    /// `only_run`: the path, if the user named only one.  Names in the status file begin with the run unless it is this
    /// one: a folder or an archive that was named may stand for many.
    /// Errors: usage_error: the action_json of a rule is not JSON; an address that nothing can be sent to.
    finding_actions(const action_options& wanted, const std::string& only_run, const std::vector<rule_request>& rules);

    /// note(text) is called with each failure, on the calling thread.
    void begin(std::string_view run, const std::vector<std::string>& rules, const teller& note);

    void act(const std::string& run, std::string_view rule, const finding& found, const teller& note);

    void finish(std::string_view run, const std::string& rule, rule_status status, std::string_view details,
                const teller& note);

    /// For a run that could not be opened, or failed: sets the status of its running rules, else of `rules`, to an
    /// error; without any rule, that of the run itself.
    void fail(const std::string& run, std::vector<std::string> rules, std::string_view why, const teller& note);

    /// Brings the status file up to date.
    void flush(const teller& note);

private:
    [[nodiscard]] std::shared_ptr<const curl_transport> connections();

    /// Actions that only the service can perform are noted, once a rule and run.
    void tell_records(std::string_view run, std::string_view rule, const teller& note);

    void set_status(std::string_view run, std::string_view rule, rule_status status, std::string_view details,
                    const teller& note);
    void set_named_status(const std::string& name, rule_status status, std::string_view details, const teller& note);
    /// Notes each failure once: it fails again at each change.
    void tell_failure(const actions::status_written& written, const teller& note);

    action_options wanted_;
    std::string only_run_;
    std::optional<actions::status_file> file_;
    std::map<std::string, actions::detail::parsed_actions> records_;
    std::mutex mutex_;
    std::shared_ptr<const curl_transport> transport_;
    std::set<std::string> noted_;
    std::set<std::pair<std::string, std::string>> under_way_;  // runs and rules
    std::set<std::string> failures_;
};

}  // namespace smdebug::inline v1::cli::detail
