#include <program/rule_notes.hpp>

#include <program/runs.hpp>
#include <program/text.hpp>
#include <smdebug/core/printable_text.hpp>
#include <smdebug/registry/built_in_rules.hpp>
#include <smdebug/rules/rule_result.hpp>
#include <smdebug/rules/setting.hpp>
#include <smdebug/trial/lookup.hpp>
#include <smdebug/trial/read/selected_tensors.hpp>
#include <smdebug/trial/selection.hpp>
#include <smdebug/trial/trial_access.hpp>

#include <algorithm>

namespace smdebug::inline v1::cli::detail {

rule_note note_of(const std::string& path, std::string_view rule, step_number step, const finding& note) {
    const std::string at = "step " + std::to_string(step) + ": ";
    std::string where;
    if (note.tensor.empty()) {
        where = note.message.find("step ") == std::string::npos ? at : "";
    } else if (note.message.find(note.tensor) == std::string::npos) {
        where = note.tensor + " of " + at;
    }
    return {std::string{rule} + ": " + where + note.message + " [run " + path + "]",
            note.damaged ? note.message : std::string{}};
}

rule_note note_of(const std::string& path, std::string_view rule, step_number step, const error& missing) {
    return {std::string{rule} + ": step " + std::to_string(step) + " is skipped: " + error_text(missing, path),
            is_lost(missing) ? missing.what() : std::string{}};
}

namespace {

// Suggestions for a mistyped regex: names of tensors and their parts, or else collections, similar to its plain text.
std::string near_names_text(std::string regex, const trial& run) {
    std::erase_if(regex,
                  [](char one) { return std::string_view{"^$\\*+?()[]{}|"}.find(one) != std::string_view::npos; });
    regex.erase(regex.find_last_not_of("/.:") + 1);
    std::set<std::string> all;
    for (const std::string& name : run.tensor_names()) {
        all.insert(name);
        for (std::size_t begin = 0; begin < name.size();) {
            const std::size_t end = std::min(name.find_first_of("/.:", begin), name.size());
            all.insert(name.substr(begin, end - begin));
            begin = end + 1;
        }
    }
    const std::string near = did_you_mean(regex, std::vector<std::string>(all.begin(), all.end()), 3);
    if (!near.empty()) {
        return near;
    }
    std::vector<std::string> groups;
    for (const auto& [name, group] : smdebug::detail::catalog_of(run)->job->collections) {
        groups.push_back(name);
    }
    const std::vector<std::string> meant = near_matches(regex, groups, 1);
    return meant.empty() ? std::string{} : " There is a collection " + meant.front() + ": collection_names.";
}

// Calls note(text) for each regex that a rule was given and that matches no tensor of the run.
void note_unmatched_regexes(const rule_request& rule, const trial& run, const std::string& path,
                            const std::function<void(const std::string&)>& note) {
    for (const auto& [name, setting] : rule.parameters) {
        if (!name.ends_with("regex")) {
            continue;
        }
        for (const std::string& regex : setting.items ? *setting.items : smdebug::detail::items_in(setting.text)) {
            try {
                if (!run.tensor_names({.regex = regex}).empty()) {
                    continue;
                }
            } catch (const value_error&) {  // the rule will say what is wrong with it
                continue;
            }
            note(rule.label + ": no tensor matches " + name + " " + regex + "." + near_names_text(regex, run) +
                 " [run " + path + "]");
        }
    }
}

}  // namespace

void note_missing_tensors(const std::vector<rule_request>& rules, const trial& run, const std::string& path,
                          const std::function<void(const std::string&)>& note) {
    const auto job = smdebug::detail::catalog_of(run)->job;
    for (const rule_request& each : rules) {
        note_unmatched_regexes(each, run, path, note);
        const auto setting = each.parameters.find("collection_names");
        if (setting == each.parameters.end()) {
            continue;
        }
        for (const std::string& name :
             setting->second.items ? *setting->second.items : smdebug::detail::items_in(setting->second.text)) {
            if (!job->collections.contains(name)) {
                note(each.label + ": " +
                     std::string{smdebug::detail::no_such_collection(name, job->collections).message()} + " [run " +
                     path + "]");
            }
        }
    }
}

std::string failure_of(const rule_result& result, const std::string& path) {
    return result.name + " failed at step " + std::to_string(result.outcome.next_step) + ": " + result.failure +
           " [run " + path + "]";
}

std::string idle_text(const rule_result& result, const std::string& path) {
    return result.name + " has looked at nothing: " + result.details + " [run " + path + "]";
}

std::string other_workers_of(std::span<const rule_result> results, const std::string& path) {
    std::string names;
    std::string text;
    for (const rule_result& each : results) {
        if (each.outcome.other_workers > 0) {
            names += (names.empty() ? "" : ", ") + each.name;
            text = workers_text(each.outcome);
        }
    }
    return names.empty() ? names : names + ": " + text + " [run " + path + "]";
}

std::string unread_of(std::span<const rule_result> results, const std::string& path, std::size_t missing_files) {
    std::string text;
    std::string first;
    for (const rule_result& each : results) {
        const std::size_t problems = each.outcome.problems;
        if (each.outcome.unread > problems) {
            text += (text.empty() ? "" : ", ") + each.name + " lacks " +
                    std::to_string(each.outcome.unread - problems) + " of " +
                    std::to_string(each.outcome.tensors - problems) + " tensors";
            first = first.empty() ? each.outcome.first_unread : first;
        }
    }
    if (text.empty()) {
        return text;
    }
    const std::string missing = missing_files == 0 ? "" : "; " + counted(missing_files, "event file") + " missing";
    return "not everything could be read: " + text + missing + "; first: " + first + " [run " + path + "]";
}

bool was_out_of_reach(const run_result& result) {
    return std::any_of(result.messages.begin(), result.messages.end(), [](const run_message& each) {
        return each.what == run_message::kind::error &&
               (each.text.starts_with("Unavailable: ") || each.text.find(" Unavailable: ") != std::string::npos);
    });
}

bool has_findings(const run_result& result) {
    return std::any_of(result.verdicts.begin(), result.verdicts.end(),
                       [](const rule_result& each) { return !each.outcome.findings.empty(); });
}

bool is_requested(std::span<const rule_request> requests, std::string_view rule) {
    const std::string plain = plain_rule_name(rule);
    return std::any_of(requests.begin(), requests.end(), [&](const rule_request& each) {
        return plain_rule_name(each.label) == plain || plain_rule_name(each.rule) == plain;
    });
}

void idle_rules::add(const run_result& result, std::span<const rule_request> named) {
    has_nothing_ = has_nothing_ || (!named.empty() && result.error.find(nothing_saved) != std::string::npos);
    for (const rule_result& each : result.verdicts) {
        if (result.steps > 0 && is_requested(named, each.name)) {
            add(each.name, each.status != rule_status::not_applicable);
        }
    }
}

int idle_rules::status(const console& to, bool met) const {
    const int status = to.status(met);
    const auto looked =
        std::count_if(has_looked_.begin(), has_looked_.end(), [](const auto& each) { return each.second; });
    const bool any_idle = static_cast<std::size_t>(looked) < has_looked_.size();
    return (status == exit_ok && any_idle) || (status == exit_error && has_nothing_ && looked == 0) ? exit_usage
                                                                                                    : status;
}

void run_tally::add_failed() {
    ++runs_;
    ++failed_;
}

void run_tally::add(const run_result& result) {
    if (!result.error.empty() && result.verdicts.empty()) {
        return add_failed();
    }
    ++runs_;
    met_ += has_findings(result);
    in_part_ += !result.error.empty() ||
                std::any_of(result.verdicts.begin(), result.verdicts.end(), [](const rule_result& each) {
                    return each.outcome.unread > 0 || each.status == rule_status::error;
                });
}

std::string run_tally::text() const {
    if (runs_ < 2) {
        return {};
    }
    const auto number = [](std::size_t count) { return std::to_string(count); };
    return counted(runs_, "run") + ": findings in " + (met_ == 0 ? "none" : number(met_)) +
           (in_part_ == 0 ? "" : "; " + number(in_part_) + " could be evaluated in part only") +
           (failed_ == 0 ? "" : "; " + number(failed_) + (in_part_ == 0 ? " could not be evaluated" : " not at all"));
}

void bad_value_lines::add(const run_result& result) {
    ++runs_;
    const finding* const first = first_bad_value(result.verdicts);
    if (first == nullptr) {
        return;
    }
    if (lines_.size() < most) {
        lines_.emplace_back(result.run.path, first_bad_value_text(*first));
    } else {
        ++others_;
    }
}

std::string bad_value_lines::text() const {
    std::string text;
    for (const auto& [path, sentence] : lines_) {
        text += printable((runs_ > 1 ? path + ": " : std::string{}) + sentence) + "\n";
    }
    return others_ == 0 ? text : text + "and of " + counted(others_, "other run") + "\n";
}

void damage_limit::report(const rule_note& note, message_sink& to) {
    if (printed_.size() < most && printed_.insert(note.damage).second) {
        to.damage(note.text);
    } else {
        ++others_;
    }
}

void damage_limit::finish(const std::string& path, message_sink& to) const {
    if (others_ > 0) {
        to.note("and " + std::to_string(others_) + " more such notes about what could not be read [run " + path + "]");
    }
}

void note_limit::report(const rule_note& note, message_sink& to) {
    if (++count_ <= most) {
        to.note(note.text);
    }
}

void note_limit::finish(std::string_view rule, const std::string& path, message_sink& to) const {
    if (count_ > most) {
        to.note(std::string{rule} + ": " + std::to_string(count_ - most) + " more such notes [run " + path + "]");
    }
}

}  // namespace smdebug::inline v1::cli::detail
