// What check does about findings besides printing them: a command, a POST, a status file.
// An action that fails is noted, and breaks nothing.
#pragma once

#include <smdebug/actions/action_record.hpp>
#include <smdebug/actions/post_finding.hpp>
#include <smdebug/actions/run_command.hpp>
#include <smdebug/actions/status_file.hpp>
#include <smdebug/cli/console.hpp>
#include <smdebug/cli/text.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/http/origin.hpp>
#include <smdebug/registry/rule_request.hpp>
#include <smdebug/rules/finding.hpp>
#include <smdebug/rules/rule_report.hpp>
#include <smdebug/rules/rule_status.hpp>

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace cli {
namespace detail {

/// What the user asked for; empty: nothing.
struct action_options {
    std::vector<std::string> command = {};  ///< a program and its arguments, with placeholders
    std::string post_url = {};
    std::string status_file = {};
};

/// The words of a command: blanks separate, quotes of either kind hold together, a backslash escapes the next
/// character.  Nothing is expanded: there is no shell.  Errors: usage_error for a quote that does not end.
[[nodiscard]] inline std::vector<std::string> words_of_command(std::string_view text) {
    std::vector<std::string> words;
    bool inside = false;
    char quote = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        const bool blank = c == ' ' || c == '\t' || c == '\n';
        if (quote == 0 && blank) {
            inside = false;
            continue;
        }
        if (!inside) {
            words.emplace_back();
            inside = true;
        }
        if (c == '\\' && quote != '\'' && i + 1 < text.size()) {
            words.back() += text[++i];
        } else if (quote == 0 && (c == '\'' || c == '"')) {
            quote = c;
        } else if (c == quote && quote != 0) {
            quote = 0;
        } else {
            words.back() += c;
        }
    }
    if (quote != 0) {
        throw usage_error("--on-finding: a quote in \"" + std::string{text} + "\" does not end");
    }
    if (words.empty() || words.front().empty()) {
        throw usage_error("--on-finding: there is no program to run");
    }
    return words;
}

/// Acts on findings.  Threads: everything may be called at once.
class finding_actions {
public:
    using teller = std::function<void(const std::string&)>;

    /// With several runs, names in the status file begin with the run.
    /// Errors: usage_error: the action_json of a rule is no JSON; an address that nothing can be sent to.
    finding_actions(const action_options& wanted, bool several_runs, const std::vector<rule_request>& rules)
        : wanted_(wanted), several_runs_(several_runs) {
        if (!wanted.post_url.empty() && !http::detail::origin_of(wanted.post_url)) {  // else told at the first finding
            throw usage_error("--post must be a URL, http:// or https:// and a host, not \"" + wanted.post_url + "\"");
        }
        if (!wanted.status_file.empty()) {
            file_.emplace(wanted.status_file, actions::detail::status_writes::in_background);
        }
        for (const rule_request& each : rules) {
            try {
                if (!each.action_json.empty()) {
                    records_.insert_or_assign(each.label, actions::parse_actions(each.action_json));
                }
            } catch (const value_error& wrong) {
                throw usage_error(each.label + ": action_json: " + std::string{wrong.message()});
            }
        }
    }

    /// Each note(text) gets what went wrong, on the calling thread.
    void begin(std::string_view run, const std::vector<std::string>& rules, const teller& note) {
        for (const std::string& rule : rules) {
            {
                const std::lock_guard lock{mutex_};
                under_way_.emplace(run, rule);
            }
            set_status(run, rule, rule_status::in_progress, {}, note);
        }
    }

    void act(const std::string& run, std::string_view rule, const finding& found, const teller& note) {
        if (!wanted_.command.empty()) {
            const actions::finding_command command{.arguments = wanted_.command, .run = run};
            if (const auto result = command(rule, found); !result.failure.empty()) {
                note("--on-finding: " + result.failure);
            }
        }
        if (!wanted_.post_url.empty()) {
            auto transport = connections();  // before the others: g++ 14 warns where this throws among them
            const actions::webhook<> hook{.url = wanted_.post_url, .run = run, .transport = std::move(transport)};
            if (const auto result = hook(rule, found); !result.delivered) {
                note("--post: " + result.failure);
            }
        }
        tell_records(run, rule, note);
        set_status(run, rule, rule_status::issues_found, found.message, note);
    }

    void finish(std::string_view run, const rule_report& report, const teller& note) {
        {
            const std::lock_guard lock{mutex_};
            under_way_.erase({std::string{run}, report.rule});
        }
        set_status(run, report.rule, report.status, report.status_details, note);
    }

    /// A run that could not be opened, or broke: its rules that are under way, else `rules`, get the status of an
    /// error; where there are none of either, the run itself does.
    void fail(const std::string& run, std::vector<std::string> rules, std::string_view why, const teller& note) {
        {
            const std::lock_guard lock{mutex_};
            const auto first = under_way_.lower_bound({run, ""});
            auto last = first;
            std::vector<std::string> begun;
            for (; last != under_way_.end() && last->first == run; ++last) {
                begun.push_back(last->second);
            }
            under_way_.erase(first, last);
            if (!begun.empty()) {
                rules = std::move(begun);
            }
        }
        for (const std::string& rule : rules) {
            set_status(run, rule, rule_status::error, why, note);
        }
        if (rules.empty()) {
            set_named_status(run, rule_status::error, why, note);
        }
    }

    /// Brings the status file up to date.
    void flush(const teller& note) {
        if (file_) {
            tell_failure(file_->flush(), note);
        }
    }

private:
    [[nodiscard]] curl_transport connections() {
        const std::lock_guard lock{mutex_};
        if (!transport_) {
            transport_.emplace();
        }
        return *transport_;
    }

    /// Actions that only the service can perform are noted, once a rule and run.
    void tell_records(std::string_view run, std::string_view rule, const teller& note) {
        const auto parsed = records_.find(std::string{rule});
        if (parsed == records_.end()) {
            return;
        }
        {
            const std::lock_guard lock{mutex_};
            if (!noted_.insert(std::string{run} + '\n' + std::string{rule}).second) {
                return;
            }
        }
        for (const actions::action_record& each : parsed->second.actions) {
            note(std::string{rule} + ": action " + std::string{actions::name_of(each)} + " for " +
                 std::visit(
                     [](const auto& action) {
                         if constexpr (requires { action.endpoint; }) {
                             return action.endpoint;
                         } else {
                             return action.training_job_prefix;
                         }
                     },
                     each) +
                 " is SageMaker's to do; --on-finding runs a command of yours");
        }
        for (const std::string& problem : parsed->second.problems) {
            note(std::string{rule} + ": action_json: " + problem);
        }
    }

    void set_status(std::string_view run, std::string_view rule, rule_status status, std::string_view details,
                    const teller& note) {
        set_named_status(several_runs_ ? std::string{run} + ": " + std::string{rule} : std::string{rule}, status,
                         details, note);
    }
    void set_named_status(const std::string& name, rule_status status, std::string_view details, const teller& note) {
        if (file_) {
            tell_failure(file_->set(name, status, details), note);
        }
    }
    /// Notes each failure once: it fails again at each change.
    void tell_failure(const actions::detail::status_written& written, const teller& note) {
        {
            const std::lock_guard lock{mutex_};
            if (written || !failures_.insert(written.failure).second) {
                return;
            }
        }
        note("--status-file: " + written.failure);
    }

    action_options wanted_;
    bool several_runs_;
    std::optional<actions::status_file> file_;
    std::map<std::string, actions::detail::parsed_actions> records_;
    std::mutex mutex_;
    std::optional<curl_transport> transport_;
    std::set<std::string> noted_;
    std::set<std::pair<std::string, std::string>> under_way_;  // runs and rules
    std::set<std::string> failures_;
};

}  // namespace detail
}  // namespace cli
}  // namespace v1
}  // namespace smdebug
