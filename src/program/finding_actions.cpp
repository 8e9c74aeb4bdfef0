#include <program/finding_actions.hpp>

#include <program/console.hpp>
#include <smdebug/actions/post_finding.hpp>
#include <smdebug/actions/run_command.hpp>
#include <smdebug/batch/search/name_pattern.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/http/curl_transfer.hpp>

#include <variant>

namespace smdebug::inline v1::cli::detail {

std::vector<std::string> words_of_command(std::string_view text) {
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

finding_actions::finding_actions(const action_options& wanted, const std::string& only_run,
                                 const std::vector<rule_request>& rules)
    : wanted_(wanted), only_run_(only_run.empty() ? only_run : smdebug::detail::run_key_of(only_run)) {
    if (!wanted.post_url.empty() && !http::detail::origin_of(wanted.post_url)) {  // else reported at the first finding
        throw usage_error("--post must be a URL, http:// or https:// and a host, not \"" + wanted.post_url + "\"");
    }
    if (!wanted.status_file.empty()) {
        file_.emplace(wanted.status_file, actions::status_writes::in_background);
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

void finding_actions::begin(std::string_view run, const std::vector<std::string>& rules, const teller& note) {
    for (const std::string& rule : rules) {
        {
            const std::lock_guard lock{mutex_};
            under_way_.emplace(run, rule);
        }
        set_status(run, rule, rule_status::in_progress, {}, note);
    }
}

void finding_actions::act(const std::string& run, std::string_view rule, const finding& found, const teller& note) {
    if (!wanted_.command.empty()) {
        const actions::finding_command command{.arguments = wanted_.command, .run = run};
        if (const auto result = command(rule, found); !result.failure.empty()) {
            note("--on-finding: " + result.failure);
        }
    }
    if (!wanted_.post_url.empty()) {
        auto transport = connections();  // before the others: g++ 14 warns where this throws among them
        const actions::webhook hook{.url = wanted_.post_url, .run = run, .transport = std::move(transport)};
        if (const auto result = hook(rule, found); !result.delivered) {
            note("--post: " + result.failure);
        }
    }
    tell_records(run, rule, note);
    set_status(run, rule, rule_status::issues_found, found.message, note);
}

void finding_actions::finish(std::string_view run, const std::string& rule, rule_status status,
                             std::string_view details, const teller& note) {
    {
        const std::lock_guard lock{mutex_};
        under_way_.erase({std::string{run}, rule});
    }
    set_status(run, rule, status, details, note);
}

void finding_actions::fail(const std::string& run, std::vector<std::string> rules, std::string_view why,
                           const teller& note) {
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

void finding_actions::flush(const teller& note) {
    if (file_) {
        tell_failure(file_->flush(), note);
    }
}

std::shared_ptr<const curl_transport> finding_actions::connections() {
    const std::lock_guard lock{mutex_};
    if (!transport_) {
        transport_ = std::make_shared<const curl_transport>();
    }
    return transport_;
}

void finding_actions::tell_records(std::string_view run, std::string_view rule, const teller& note) {
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

void finding_actions::set_status(std::string_view run, std::string_view rule, rule_status status,
                                 std::string_view details, const teller& note) {
    if (!file_) {
        return;
    }
    const bool is_only = smdebug::detail::run_key_of(run) == only_run_;
    set_named_status((is_only ? std::string{} : std::string{run} + ": ").append(rule), status, details, note);
}

void finding_actions::set_named_status(const std::string& name, rule_status status, std::string_view details,
                                       const teller& note) {
    if (file_) {
        tell_failure(file_->set(name, status, details), note);
    }
}

void finding_actions::tell_failure(const actions::status_written& written, const teller& note) {
    {
        const std::lock_guard lock{mutex_};
        if (written || !failures_.insert(written.failure).second) {
            return;
        }
    }
    note("--status-file: " + written.failure);
}

}  // namespace smdebug::inline v1::cli::detail
