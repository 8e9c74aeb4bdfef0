// The rules that a command was given: `--rule NAME,key=value`, or a JSON file; and those rules for a run.
#pragma once

#include <program/runs.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/registry/configure.hpp>
#include <smdebug/registry/rule_registry.hpp>
#include <smdebug/rules/any_rule.hpp>
#include <smdebug/trial/trial.hpp>

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace smdebug::inline v1::cli {

/// The rules that the program knows.
using program_rules = rule_registry<trial>;

/// "exploding_tensor, vanishing_gradient".
[[nodiscard]] std::string rule_names(const program_rules& registry);

namespace detail {

/// Splits at `separator`, unless a backslash stands before it.
[[nodiscard]] std::vector<std::string> split(std::string_view text, char separator);

}  // namespace detail

/// "NAME,key=value,key=value".  A comma separates parameters, a semicolon the items of a list; a backslash before
/// either makes it part of the value.  Errors: usage_error.
[[nodiscard]] rule_request parse_rule(std::string_view text);

/// The rules in a JSON file; see parse_rules_json.  Errors: usage_error.
[[nodiscard]] std::vector<rule_request> read_rules_json(const std::string& path);

/// Checks a request before any run is opened.  Errors: usage_error.
void check_request(const program_rules& registry, const rule_request& request);

/// Whether the rule of a request, if there is one of that name, compares runs.
[[nodiscard]] bool takes_other_trials(const program_rules& registry, const rule_request& request);

/// The name of a request's rule in reports: the one given by the user, else its own.
/// Errors: value_error: there is no such rule.
[[nodiscard]] std::string name_in_reports(const program_rules& registry, const rule_request& request);

namespace detail {

/// Makes the requested rules, anew for each run.  The runs that rules compare with are opened once.
/// Threads: calls may run at once.
class rule_maker {
public:
    /// Borrows the registry.
    rule_maker(const program_rules& registry, const detail::run_options& how);

    /// Errors: those of opening the other runs, value_error.
    [[nodiscard]] any_rule<trial> make(const rule_request& request);
    /// Its name in reports.
    [[nodiscard]] std::string name_of(const rule_request& request) const { return name_in_reports(registry_, request); }
    [[nodiscard]] std::vector<std::string> names_of(const std::vector<rule_request>& requests) const;
    [[nodiscard]] std::vector<any_rule<trial>> make(const std::vector<rule_request>& requests);

private:
    const program_rules& registry_;
    detail::run_options how_;
    std::mutex guard_;  // of the other runs
    std::map<std::string, std::shared_ptr<const trial>> others_;
};

}  // namespace detail
}  // namespace smdebug::inline v1::cli
