#include <program/rule_set.hpp>

#include <program/console.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/registry/rule_registry.hpp>

#include <cstddef>
#include <fstream>
#include <ios>
#include <iterator>
#include <utility>

namespace smdebug::inline v1::cli {

std::string rule_names(const program_rules& registry) {
    std::string names;
    for (const rule_info& info : registry.infos()) {
        names.append(names.empty() ? "" : ", ").append(info.name);
    }
    return names;
}

namespace detail {

std::vector<std::string> split(std::string_view text, char separator) {
    std::vector<std::string> parts(1);
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '\\' && i + 1 < text.size() && text[i + 1] == separator) {
            parts.back() += text[++i];
        } else if (text[i] == separator) {
            parts.emplace_back();
        } else {
            parts.back() += text[i];
        }
    }
    return parts;
}

}  // namespace detail

rule_request parse_rule(std::string_view text) {
    const std::vector<std::string> parts = detail::split(text, ',');
    rule_request request;
    request.rule = parts.front();
    for (std::size_t i = 1; i < parts.size(); ++i) {
        const std::size_t equals = parts[i].find('=');
        if (equals == std::string::npos) {
            throw detail::usage_error(
                "--rule " + std::string{text} + ": \"" + parts[i] +
                "\" is not of the form key=value (a list is written item;item, another rule --rule NAME)");
        }
        std::vector<std::string> items = detail::split(parts[i].substr(equals + 1), ';');
        parameter_value value = items.size() == 1 ? parameter_value{} : parameter_value{items};
        value.text = items.size() == 1 ? items.front() : parts[i].substr(equals + 1);
        const std::string key = parts[i].substr(0, equals);
        if (!request.parameters.try_emplace(key, std::move(value)).second) {
            throw detail::usage_error("--rule " + std::string{text} + ": the parameter " + key +
                                      " is given twice; a list is written " + key + "=item;item");
        }
    }
    try {
        settle_request(request);
    } catch (const value_error& wrong) {
        throw detail::usage_error("--rule " + std::string{text} + ": " + std::string{wrong.message()});
    }
    return request;
}

std::vector<rule_request> read_rules_json(const std::string& path) {
    std::ifstream file{path, std::ios::binary};
    std::string text;
    bool good = file.is_open();
    try {
        text.assign(std::istreambuf_iterator<char>{file}, {});
    } catch (const std::ios_base::failure&) {  // a folder, for one, opens but does not read
        good = false;
    }
    if (!good) {
        throw detail::usage_error("--rules-json: the file " + path + " cannot be read");
    }
    try {
        return parse_rules_json(text, path);
    } catch (const value_error& wrong) {
        throw detail::usage_error("--rules-json " + std::string{wrong.message()});
    }
}

void check_request(const program_rules& registry, const rule_request& request) {
    try {
        registry.check(request.rule, request.parameters, !request.other_trials.empty());
    } catch (const error& wrong) {
        const bool labelled = !request.label.empty() && request.label != request.rule;
        throw detail::usage_error((labelled ? request.label + ": " : std::string{}) + std::string{wrong.message()});
    }
}

bool takes_other_trials(const program_rules& registry, const rule_request& request) {
    const std::string plain = plain_rule_name(request.rule);
    for (const rule_info& info : registry.infos()) {
        if (plain_rule_name(info.name) == plain || plain_rule_name(info.service_name) == plain) {
            return registry.compares_runs(info.name);
        }
    }
    return false;
}

std::string name_in_reports(const program_rules& registry, const rule_request& request) {
    const std::string& own = registry.info(request.rule).name;
    const bool labelled = !request.label.empty() && request.label != request.rule &&
                          plain_rule_name(request.label) != plain_rule_name(own);
    return labelled ? request.label : own;
}

namespace detail {

rule_maker::rule_maker(const program_rules& registry, const detail::run_options& how)
    : registry_(registry), how_(how) {}

any_rule<trial> rule_maker::make(const rule_request& request) {
    program_rules::other_runs others;
    const std::lock_guard lock{guard_};
    for (const std::string& as_written : request.other_trials) {
        const std::string path = detail::plain_path(as_written);
        auto other = others_.find(path);
        if (other == others_.end()) {
            other = others_.emplace(path, std::make_shared<const trial>(detail::open_run(path, how_))).first;
        }
        others.push_back(other->second);
    }
    any_rule<trial> rule = registry_.make(request.rule, request.parameters, others);
    rule.rename(name_in_reports(registry_, request));
    rule.limit({request.start_step, request.end_step});
    return rule;
}

std::vector<std::string> rule_maker::names_of(const std::vector<rule_request>& requests) const {
    std::vector<std::string> names;
    for (const rule_request& request : requests) {
        names.push_back(name_of(request));
    }
    return names;
}

std::vector<any_rule<trial>> rule_maker::make(const std::vector<rule_request>& requests) {
    std::vector<any_rule<trial>> rules;
    for (const rule_request& request : requests) {
        rules.push_back(make(request));
    }
    return rules;
}

}  // namespace detail
}  // namespace smdebug::inline v1::cli
